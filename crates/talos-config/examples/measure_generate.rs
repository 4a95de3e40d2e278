//! The configuration of one machine after another: how long each takes (`cargo xtask bench`).
//!
//! Reads secrets as a file; generates a worker's configuration for contract 1.14, patched with its own
//! name, ten thousand times; prints the median and the quartiles as JSON.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measuring and printing is all it does"
)]

use std::time::Instant;

use talos_config::yaml::Dialect;
use talos_config::{Bundle, Contract, Generate, Options, Patch, Patched, Role, SourceId};

fn main() {
    let path = std::env::args().nth(1).expect("a file of secrets");
    let secrets = fs_err::read_to_string(path).expect("a file of secrets");
    let secrets = Bundle::parse(&secrets, SourceId(1)).expect("secrets");
    let generate = Generate {
        cluster: "c",
        endpoint: "https://10.0.0.10:6443",
        kubernetes: "1.37.0",
        contract: Contract::new(1, 14),
        secrets: &secrets,
        options: Options::default(),
    };
    let mut times: Vec<u128> = (0..MACHINES)
        .map(|machine| {
            let begun = Instant::now();
            let name = format!(
                "apiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: w-{machine}\n"
            );
            let patch = Patch::parse(&name, SourceId(2)).expect("a patch");
            let config = generate.config(Role::Worker).expect("a configuration");
            let config =
                Patched::from(config).apply(&patch, Dialect::V1_14).expect("a configuration");
            std::hint::black_box(config.encode(Dialect::V1_14));
            begun.elapsed().as_nanos()
        })
        .collect();
    let total = times.iter().sum::<u128>() / 1_000_000;
    times.sort_unstable();
    let quarter = |quarter: usize| times[(times.len() - 1) * quarter / 4] / 1000;
    println!(
        r#"{{"median_us": {}, "lower_quartile_us": {}, "upper_quartile_us": {}, "total_ms": {total}}}"#,
        quarter(2),
        quarter(1),
        quarter(3)
    );
}

const MACHINES: usize = 10_000;
