//! The creation of 500 machines in a world in memory (`cargo xtask bench`): how long the engine computes, how often it lists
//! all nodes, and how many calls to machines are under way at the same time. Prints JSON.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measuring and printing is all it does, with the world of the tests"
)]

#[path = "../tests/world/create_500.rs"]
mod create_500;

use std::time::Instant;

use create_500::{Figures, create};
use testkit::world::{cluster, engine};

fn main() {
    let mut times = [0; ROUNDS];
    let mut last = None;
    for time in &mut times {
        let begun = Instant::now();
        last = Some(engine::simulate(create()));
        *time = begun.elapsed().as_micros();
    }
    times.sort_unstable();
    let Figures { seconds, node_lists, most_calls } = last.expect("a round");
    println!(
        r#"{{"median_us": {}, "lower_quartile_us": {}, "upper_quartile_us": {}, "simulated_seconds": {seconds}, "node_lists": {node_lists}, "most_calls_at_once": {most_calls}}}"#,
        times[1], times[0], times[2],
    );
}

const ROUNDS: usize = 3;
