//! Any configuration is validated in every mode, twice with the same result.

#![no_main]

use libfuzzer_sys::fuzz_target;
use talos_config::fuzzing;

fuzz_target!(|text: &str| fuzzing::validate(text));
