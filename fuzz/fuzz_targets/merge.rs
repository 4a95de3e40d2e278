//! Two texts, separated by a form feed: if both are documents, the second is laid over the first.

#![no_main]

use libfuzzer_sys::fuzz_target;
use talos_config::fuzzing;

fuzz_target!(|text: &str| fuzzing::merge(text));
