//! What tests need from the world: the real programs that Ichor is compared with, a real Kubernetes API, real Talos nodes,
//! and machines that say what a test wants.
//!
//! For tests and developer commands only; nothing that ships depends on it.

#![expect(
    clippy::disallowed_methods,
    reason = "a developer's tool: it reads its own environment and has no engine with ports"
)]

pub mod json_schema;
pub mod kubernetes;
#[cfg(feature = "machine-api")]
pub mod machine_api;
pub mod peers;
pub mod scripts;
pub mod talos;
#[cfg(feature = "world")]
pub mod world;

use std::ops::Range;
use std::path::Path;

/// The seeds that a test of generated cases runs through: `count` of them from zero, or what
/// `ICHOR_SEED` and `ICHOR_CASES` ask for, to replay one case or to look for differences longer.
pub fn seeds(count: u64) -> Range<u64> {
    let first = number("ICHOR_SEED").unwrap_or(0);
    first..first + number("ICHOR_CASES").unwrap_or(count)
}

/// How many cases a property is tried on: `count`, or what `ICHOR_CASES` asks for.
pub fn cases(count: u32) -> u32 {
    number("ICHOR_CASES").and_then(|cases| cases.try_into().ok()).unwrap_or(count)
}

/// Whether `ICHOR_RECORD` asks tests with a table of recordings to write it anew instead of comparing.
pub fn recording() -> bool {
    std::env::var_os("ICHOR_RECORD").is_some()
}

/// Runs every text that fuzzing of a target has ever found, and those it began with.
///
/// # Panics
/// When there is none, which would show nothing.
pub fn replay(target: &str, run: impl Fn(&str)) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in fs_err::read_dir(folder).expect("the corpus") {
        let bytes = fs_err::read(entry.expect("an entry").path()).expect("a text");
        run(&String::from_utf8_lossy(&bytes));
        count += 1;
    }
    assert!(count > 0, "an empty corpus shows nothing");
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
