//! Parse, three patches, emit: how long it takes in the library (`cargo xtask bench`).
//!
//! Reads a configuration and patches as files; prints the median and the quartiles as JSON.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measuring and printing is all it does"
)]

use std::time::Instant;

use talos_config::yaml::Dialect;
use talos_config::{Patch, SourceId, apply};

fn main() {
    let texts: Vec<String> = std::env::args()
        .skip(1)
        .map(|path| fs_err::read_to_string(path).expect("a file"))
        .collect();
    let (config, patches) = texts.split_first().expect("a configuration");
    let mut times: Vec<u128> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            let patches: Vec<Patch> = patches
                .iter()
                .map(|text| Patch::parse(text, SourceId(2)).expect("a patch"))
                .collect();
            let result = apply(config, SourceId(1), &patches, Dialect::V1_14).expect("a result");
            std::hint::black_box(result.encode(Dialect::V1_14));
            begun.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    let quarter = |quarter: usize| times[(times.len() - 1) * quarter / 4] / 1000;
    println!(
        r#"{{"median_us": {}, "lower_quartile_us": {}, "upper_quartile_us": {}}}"#,
        quarter(2),
        quarter(1),
        quarter(3)
    );
}

/// Enough for a steady median within a second or two.
const ROUNDS: usize = 5_000;
