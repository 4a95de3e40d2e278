//! Any text is read as an encrypted file, as rules and as keys, or refused; what is encrypted can be decrypted.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sops::fuzzing;

fuzz_target!(|text: &str| fuzzing::decode(text));
