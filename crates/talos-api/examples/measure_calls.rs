//! Measures a thousand calls to several machines over one client: `measure_calls TALOSCONFIG NODES`, where the second file
//! has a machine on each line. Says how long a round of calls to all machines took, how the memory grew between
//! the hundredth call and the last, and how many connections there were.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measuring and printing is all it does"
)]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use talos_api::{Client, Node, each_node};
use talos_config::{SourceId, Talosconfig};

fn main() -> Result<()> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let [talosconfig, nodes] = files.as_slice() else { anyhow::bail!("two files are needed") };
    let talosconfig = Talosconfig::parse(&fs_err::read_to_string(talosconfig)?, SourceId(1))?;
    let context = talosconfig.context(talosconfig.current()).context("a context")?;
    let names: Vec<String> = fs_err::read_to_string(nodes)?.lines().map(str::to_owned).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let figures = runtime.block_on(async {
        let client = Client::new(&context)?;
        let mut rounds = Vec::new();
        let mut ports = BTreeSet::new();
        let mut memory = Vec::new();
        for round in 0..CALLS / names.len() {
            let nodes: Vec<Node> = names
                .iter()
                .map(|name| client.node(name, Duration::from_secs(10)))
                .collect::<Result<_, _>>()?;
            let begun = Instant::now();
            let answers = each_node(nodes, names.len(), |node| async move {
                node.call(node.machine().version(())).await
            });
            for answer in answers.await {
                answer?;
            }
            rounds.push(begun.elapsed());
            ports.extend(connections()?);
            if round * names.len() >= CALLS / 10 {
                memory.push(resident_kib()?);
            }
        }
        rounds.sort_unstable();
        let quarter = |quarter: usize| rounds[(rounds.len() - 1) * quarter / 4].as_micros();
        anyhow::Ok(serde_json::json!({
            "calls": rounds.len() * names.len(),
            "median_us": quarter(2),
            "lower_quartile_us": quarter(1),
            "upper_quartile_us": quarter(3),
            "connections": ports.len(),
            "memory_first_kib": memory.first(),
            "memory_last_kib": memory.last(),
        }))
    })?;
    println!("{figures}");
    Ok(())
}

/// The local ports of connections to the Talos API that this process's network has and this process made.
fn connections() -> Result<BTreeSet<String>> {
    let mut ours = BTreeSet::new();
    for entry in fs_err::read_dir("/proc/self/fd")? {
        if let Ok(target) = fs_err::read_link(entry?.path()) {
            let target = target.to_string_lossy().into_owned();
            let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            ours.extend(inode.map(str::to_owned));
        }
    }
    ensure!(!ours.is_empty(), "no socket is open");
    let table = fs_err::read_to_string("/proc/self/net/tcp")?;
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let matching = lines.filter(|fields| fields.get(9).is_some_and(|inode| ours.contains(*inode)));
    Ok(matching.map(|fields| fields[1].to_owned()).collect())
}

fn resident_kib() -> Result<u64> {
    let status = fs_err::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("a figure")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

const CALLS: usize = 1000;
