//! Any text is read as secrets or refused; what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use talos_config::fuzzing;

fuzz_target!(|text: &str| fuzzing::bundle(text));
