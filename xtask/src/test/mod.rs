//! `cargo xtask test`: every check, then every test level, then a table of what ran, what did not, and how long it took.
//!
//! Programs that levels need are built in the background from the beginning on; a level waits for its own.

mod level;
mod report;

use anyhow::{Result, bail};

use crate::checks::{CHECKS, Check};
use crate::peers::{self, Builds};
use crate::tools::{self, Tool};
use crate::workspace::Workspace;
use crate::{output, talos};
use level::{LEVELS, Level};
use report::Report;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only these checks and levels
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,

    /// Leave these checks and levels out
    #[arg(long, value_name = "NAME", num_args = 1..)]
    except: Vec<String>,

    /// Show what there is to run
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let names =
        || CHECKS.iter().map(|c| (c.name, c.about)).chain(LEVELS.iter().map(|l| (l.name, l.about)));
    if args.list {
        names().for_each(|(name, about)| output::data(&format!("{name:<10} {about}")));
        return Ok(());
    }
    let mut named = args.only.iter().chain(&args.except);
    if let Some(name) = named.find(|named| names().all(|(name, _)| name != **named)) {
        bail!("nothing is called {name:?}; `cargo xtask test --list` shows what there is");
    }
    let among = |list: &[String], name: &str| list.iter().any(|listed| listed == name);
    let wanted = |name: &str| {
        (args.only.is_empty() || among(&args.only, name)) && !among(&args.except, name)
    };
    let checks: Vec<&Check> = CHECKS.iter().filter(|check| wanted(check.name)).collect();
    let levels: Vec<&Level> = LEVELS.iter().filter(|level| wanted(level.name)).collect();

    let mut report = Report::start();
    let result = run_parts(workspace, &checks, &levels, &mut report);
    output::progress(&format!("── done\n{}", report.table()));
    result?;
    if report.has_skipped() && std::env::var_os("CI").is_some_and(|value| value == "true") {
        bail!("a skipped level is an error when CI=true");
    }
    Ok(())
}

/// Runs the parts one after the other, up to the first that fails.
fn run_parts(
    workspace: &Workspace,
    checks: &[&Check],
    levels: &[&Level],
    report: &mut Report,
) -> Result<()> {
    let missing: Vec<_> = levels.iter().map(|level| level.missing()).collect();
    let builds = build(&missing);
    // All at once, before the first part that needs one: they have dependencies in common.
    let needed: Vec<&Tool> = checks
        .iter()
        .filter_map(|check| check.tool)
        .chain((!levels.is_empty()).then_some(&tools::NEXTEST))
        .collect();

    for check in checks {
        if check.tool.is_some() {
            report.require("tools", || tools::install(&needed))?;
        }
        report.run(check.name, || (check.run)(workspace))?;
    }
    if !levels.is_empty() {
        report.require("tools", || tools::install(&needed))?;
        report.run("levels", || level::no_test_without_level(workspace))?;
    }
    for (level, missing) in levels.iter().zip(missing) {
        match missing.and_then(|_| prepare(level, &builds, report)) {
            Ok(()) => report.run(level.name, || level.run(workspace))?,
            Err(reason) => report.skip(level.name, &reason),
        }
    }
    Ok(())
}

/// Begins to build what levels miss, in the order of the levels.
fn build(missing: &[Result<Vec<peers::Peer>>]) -> Builds {
    let queue = queue(missing.iter().flatten().map(Vec::as_slice));
    if !queue.is_empty() {
        let names = queue.concat().join(", ");
        output::progress(&format!("building in the background (minutes, once): {names}"));
    }
    Builds::start(queue, peers::command)
}

/// What is built, and in which order: first what the first level misses, programs of one pin together. What an earlier
/// level misses too is not repeated.
fn queue<'a>(missing: impl IntoIterator<Item = &'a [peers::Peer]>) -> Vec<Vec<&'static str>> {
    let mut queue: Vec<Vec<&'static str>> = Vec::new();
    for of_level in missing {
        let queued = queue.concat();
        let new = of_level.iter().filter(|(_, program)| !queued.contains(&program.name));
        queue.extend(peers::batches(new.copied()).iter().map(peers::Batch::names));
    }
    queue
}

/// Gets what a level needs; an error is the reason why it cannot run here.
fn prepare(level: &Level, builds: &Builds, report: &mut Report) -> Result<()> {
    let name = |what: &str| format!("{what} for {}", level.name);
    report.prepare(&name("packages"), || tools::install_packages(level.packages))?;
    let needs = level.needs();
    let pending = builds.pending(&needs);
    if !pending.is_empty() {
        output::progress(&format!("── {} waits for {}", level.name, pending.join(", ")));
    }
    report.prepare(&name("peers"), || builds.wait(&needs))?;
    if level.nodes {
        report.prepare(&name("nodes"), talos::prepare)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use testkit::peers::{all, find};

    use super::*;

    #[test]
    fn peers_are_built_in_the_order_of_the_levels_and_once() {
        let levels = [
            peers(&["talosctl-1.14.1", "sops"]),
            peers(&["kubectl", "sops"]),
            peers(&["kubelet", "etcd", "kubectl", "kube-scheduler", "etcdutl"]),
        ];
        assert_eq!(
            queue(levels.iter().map(Vec::as_slice)),
            [
                vec!["talosctl-1.14.1"],
                vec!["sops"],
                vec!["kubectl"],
                vec!["kubelet", "kube-scheduler"],
                vec!["etcd", "etcdutl"],
            ]
        );
    }

    #[test]
    fn only_peers_that_a_wanted_level_needs_are_built() {
        let of = |names: &[&str]| -> BTreeSet<&str> {
            let levels: Vec<_> = LEVELS
                .iter()
                .filter(|level| names.contains(&level.name))
                .map(Level::needs)
                .collect();
            let levels: Vec<_> = levels.iter().map(|needs| peers(needs)).collect();
            queue(levels.iter().map(Vec::as_slice)).into_iter().flatten().collect()
        };
        assert!(of(&["pure", "system"]).is_empty());
        let needed =
            BTreeSet::from(["etcd", "kube-apiserver", "kubectl", "sops", "talosctl-1.14.1"]);
        assert_eq!(of(&["pure", "interop"]), needed);
        let needed = of(&LEVELS.iter().map(|level| level.name).collect::<Vec<_>>());
        let spared: Vec<_> =
            all().map(|(_, program)| program.name).filter(|name| !needed.contains(name)).collect();
        assert_eq!(spared, ["etcdctl", "helm", "versitygw"]);
    }

    fn peers(names: &[&str]) -> Vec<peers::Peer> {
        names.iter().map(|name| find(name).expect("a peer")).collect()
    }
}
