//! Plan and check of 500 machines: how long it takes (`cargo xtask bench`).
//!
//! Five control planes and 495 workers run, and every one of them needs a reboot for a change of its
//! configuration. Rendering is measured too: each machine's configuration, generated, patched, validated
//! and compared with what it has. Prints the median and the quartiles of plan and check as JSON.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measuring and printing is all it does"
)]

#[path = "../tests/world/mod.rs"]
mod world;

use std::time::Instant;

use plan::{PatchSource, Planned, check};
use talos_config::Origin;
use world::World;

fn main() {
    let more = "policy: {workersAtOnce: 10}\n";
    let mut world = World::new(&World::text(5, 495, more)).expect("a spec");
    world.running(&world.names()).expect("configurations");
    for name in world.names() {
        if world.spec.is_control_plane(&name) {
            world.voter(&name);
        }
    }
    let patch = "machine:\n  env:\n    https_proxy: http://proxy.example:3128\n";
    let patch = patch.parse().expect("a patch");
    world.spec.patches.push(PatchSource { patch, origin: Origin::default() });

    let begun = Instant::now();
    let desired = world.renderings().expect("renderings");
    let render = begun.elapsed().as_micros();

    let mut times: Vec<(u128, usize)> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            let Ok(Planned::Change(plan)) = world.plan(&desired) else { panic!("a plan") };
            let steps = plan.steps().len();
            std::hint::black_box(check(plan, &world.against(&desired)).expect("a checked plan"));
            (begun.elapsed().as_micros(), steps)
        })
        .collect();
    times.sort_unstable();
    let quarter = |quarter: usize| times[(times.len() - 1) * quarter / 4].0;
    println!(
        r#"{{"median_us": {}, "lower_quartile_us": {}, "upper_quartile_us": {}, "fastest_us": {}, "steps": {}, "render_us": {render}}}"#,
        quarter(2),
        quarter(1),
        quarter(3),
        quarter(0),
        times[0].1,
    );
}

const ROUNDS: usize = 101;
