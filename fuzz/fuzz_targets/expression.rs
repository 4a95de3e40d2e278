//! Any text is checked as an expression, wherever one can stand.

#![no_main]

use libfuzzer_sys::fuzz_target;
use talos_config::fuzzing;

fuzz_target!(|text: &str| fuzzing::expression(text));
