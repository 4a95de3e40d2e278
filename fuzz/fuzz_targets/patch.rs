//! Any text is taken as a patch for a configuration that has something of everything.

#![no_main]

use libfuzzer_sys::fuzz_target;
use talos_config::fuzzing;

fuzz_target!(|text: &str| fuzzing::patch(text));
