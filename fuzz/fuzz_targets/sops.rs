//! Any text is taken for an encrypted file, a plain one, rules and keys; what was encrypted is decrypted.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sops::fuzzing;

fuzz_target!(|text: &str| fuzzing::decode(text));
