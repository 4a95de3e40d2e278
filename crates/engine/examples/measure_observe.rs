//! Observing 10,000 machines in 1,000 clusters in one process (`cargo xtask bench`): how long it takes and how much memory.
//!
//! Every cluster has three control planes and seven workers, and a change for all of them. Its spec, layers and secrets are in
//! memory all the time, and so is its inventory from when it was observed. Machines are a world in memory that all clusters
//! share, so that what they would hold themselves does not count; each answer is a configuration of its own, which takes
//! as long to be dropped as several calls over a network. Prints JSON: the time of a round over all clusters, and the most
//! memory that the process had.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measuring and printing is all it does, with the world of the tests"
)]

use std::time::Instant;

use ::engine::{Cluster, Proposal, Want, observe, propose};
use futures_util::stream::{StreamExt, iter};
use plan::{Goal, Inventory};

use testkit::world::cluster::{WITH_REBOOT, cluster_with};
use testkit::world::engine::{Engine, World, simulate};

fn main() {
    simulate(async {
        let (world, directory) = World::created(&cluster_with(3, 7, SITE)).await;
        let wanted = format!("{SITE}{}", WITH_REBOOT.trim_start_matches("patches:\n"));
        let clusters: Vec<Cluster> = (0..CLUSTERS).map(|_| cluster_with(3, 7, &wanted)).collect();
        let described = memory("VmRSS");
        let (world, directory) = (&world, &directory);

        let mut inventories: Vec<Inventory> = Vec::new();
        let mut times = [0; ROUNDS];
        for time in &mut times {
            let begun = Instant::now();
            let observing = clusters.iter().map(|cluster| async move {
                let engine = Engine::new(world, &directory.clone());
                observe(cluster, &engine.ports()).await.expect("an inventory")
            });
            inventories = iter(observing).buffer_unordered(AT_ONCE).collect().await;
            *time = begun.elapsed().as_micros();
        }
        times.sort_unstable();
        let observed = memory("VmHWM");
        let machines: usize = inventories.iter().map(|seen| seen.machines.len()).sum();

        let begun = Instant::now();
        let planning = clusters.iter().map(|cluster| async move {
            let engine = Engine::new(world, &directory.clone());
            let want = Want::Goal(Goal::Spec, Vec::new());
            match propose(cluster, want, &engine.ports()).await.expect("a proposal") {
                Proposal::Change(plan) => plan.steps().len(),
                _ => panic!("every machine has a change"),
            }
        });
        let steps: usize = iter(planning)
            .buffer_unordered(AT_ONCE)
            .fold(0, |all, steps| async move { all + steps })
            .await;
        println!(
            r#"{{"median_us": {}, "lower_quartile_us": {}, "upper_quartile_us": {}, "machines": {machines}, "described_mib": {described}, "observed_peak_mib": {observed}, "propose_us": {}, "steps": {steps}, "proposed_peak_mib": {}}}"#,
            times[1],
            times[0],
            times[2],
            begun.elapsed().as_micros(),
            memory("VmHWM"),
        );
    });
}

/// What the kernel says about this process, in MiB.
fn memory(key: &str) -> usize {
    let status = fs_err::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.split_whitespace().next()).expect("a figure");
    kib.parse::<usize>().expect("a number") / 1024
}

/// As people lay them together: what all machines of a site have.
const SITE: &str = "\
patches:
  - |
    machine:
      sysctls: {net.core.somaxconn: \"65535\", vm.nr_hugepages: \"64\"}
      kubelet: {extraArgs: {rotate-server-certificates: \"true\"}}
      network: {nameservers: [10.0.0.53, 10.0.0.54]}
      time: {servers: [ntp.example.org]}
  - |
    cluster:
      network: {cni: {name: none}}
      proxy: {disabled: true}
      apiServer: {certSANs: [api.example.org, 10.0.0.10]}
";

const CLUSTERS: usize = 1_000;
/// Clusters that are looked at at the same time, each with all of its machines.
const AT_ONCE: usize = 32;
const ROUNDS: usize = 3;
