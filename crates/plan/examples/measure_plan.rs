//! Plan and check of 500 machines in one cluster, and of 10,000 in 1,000: how long they take (`cargo xtask bench`).
//!
//! Every machine runs and needs a reboot for a change of its configuration: five control planes and 495 workers, or three
//! and seven in each of the small clusters. Rendering is measured too: each machine's configuration, generated, patched,
//! validated and compared with what it has. Prints the median and the quartiles of plan and check as JSON.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measuring and printing is all it does"
)]

#[path = "../tests/world/mod.rs"]
mod world;

use std::time::Instant;

use plan::{PatchSource, Planned, Renderings, check};
use talos_config::Location;
use world::World;

fn main() {
    let large = changed(5, 495, 10);
    let begun = Instant::now();
    let desired = large.renderings().expect("renderings");
    let render = begun.elapsed().as_micros();
    let steps = plan_and_check(&large, &desired);
    let times = sorted(ROUNDS, || plan_and_check(&large, &desired));

    // Clusters of one size differ in nothing that takes time, so that one is planned for all of them.
    let small = changed(3, 7, 1);
    let desired = small.renderings().expect("renderings");
    let fleet =
        sorted(FLEET_ROUNDS, || (0..CLUSTERS).map(|_| plan_and_check(&small, &desired)).sum());

    let quarter = |quarter: usize| times[(times.len() - 1) * quarter / 4];
    println!(
        r#"{{"median_us": {}, "lower_quartile_us": {}, "upper_quartile_us": {}, "fastest_us": {}, "steps": {steps}, "render_us": {render}, "fleet_median_us": {}}}"#,
        quarter(2),
        quarter(1),
        quarter(3),
        quarter(0),
        fleet[fleet.len() / 2],
    );
}

/// A cluster that runs, and a change with reboot for all of it.
fn changed(control_planes: usize, workers: usize, at_once: usize) -> World {
    let more = format!("policy: {{workersAtOnce: {at_once}}}\n");
    let mut world = World::new(&World::text(control_planes, workers, &more)).expect("a spec");
    world.running(&world.names()).expect("configurations");
    for name in world.names() {
        if world.spec.is_control_plane(&name) {
            world.voter(&name);
        }
    }
    let patch = "machine:\n  env:\n    https_proxy: http://proxy.example:3128\n";
    let patch = patch.parse().expect("a patch");
    world.spec.patches.push(PatchSource { patch, origin: Location::default() });
    world
}

/// How many steps the plan has.
fn plan_and_check(world: &World, desired: &Renderings) -> usize {
    let Ok(Planned::Change(plan)) = world.plan(desired) else { panic!("a plan") };
    let checked = check(plan, &world.input(desired)).expect("a checked plan");
    std::hint::black_box(checked).steps().len()
}

/// How long each of several rounds took in microseconds, the fastest first.
fn sorted(rounds: usize, round: impl Fn() -> usize) -> Vec<u128> {
    let mut times: Vec<u128> = (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            std::hint::black_box(round());
            begun.elapsed().as_micros()
        })
        .collect();
    times.sort_unstable();
    times
}

const ROUNDS: usize = 101;
const FLEET_ROUNDS: usize = 5;
const CLUSTERS: usize = 1_000;
