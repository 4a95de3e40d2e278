//! A whole cluster of 3+1, from machines in maintenance until every node is ready: once by `ichor apply`, once by the
//! harness with talosctl. It takes minutes, so it runs once and only when it is asked for.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result};
use testkit::talos::{Request, Role, Site, Size, ask_at};

use super::{Comparison, Figures, sample};
use crate::talos::{self, Harness};
use crate::workspace::succeed;

pub(super) const NAME: &str = "create";
pub(super) const ABOUT: &str = "a real cluster of 3+1, from maintenance until all nodes are ready";

pub(super) fn run(ichor: &Path) -> Result<Comparison> {
    talos::prepare()?;
    let ours = by_ichor(ichor)?;
    let harness = Harness::start()?;
    let begun = Instant::now();
    ask_at(&harness.directory, &Request::Cluster { size: Size::FOUR, alone: false })?;
    let theirs = sample::Sample {
        nanoseconds: u64::try_from(begun.elapsed().as_nanos())?,
        // Many short processes: no figure would say anything.
        peak_kib: 0,
    };
    Ok(Comparison {
        case: NAME,
        peer: "harness",
        rounds: 1,
        ours: Figures::of(&[ours]),
        theirs: Figures::of(&[theirs]),
    })
}

/// Machines are started within the time, as the harness does.
fn by_ichor(ichor: &Path) -> Result<sample::Sample> {
    let harness = Harness::start()?;
    let directory = tempfile::tempdir()?;
    let begun = Instant::now();
    let mut machines = Vec::new();
    for _ in 0..4 {
        let request = Request::Machine { size: Size::NONE, keep: true };
        let (mut sites, _) = ask_at(&harness.directory, &request)?;
        machines.push(sites.remove(0));
    }
    let inside = prepare(ichor, directory.path(), &machines)?;
    let arguments = [ichor.as_os_str().to_owned(), "apply".into(), "--yes".into()];
    let made = sample::take(directory.path(), &[&inside[..], &arguments].concat())?;
    Ok(sample::Sample { nanoseconds: u64::try_from(begun.elapsed().as_nanos())?, ..made })
}

/// Writes the directory of the cluster, and gives what runs a program in the network of its machines.
fn prepare(ichor: &Path, directory: &Path, machines: &[Site]) -> Result<Vec<OsString>> {
    let site = machines.first().context("machines")?;
    let nodes: Vec<_> = machines.iter().filter_map(|site| site.nodes.first()).collect();
    let first = nodes.first().context("a machine")?.address;
    let mut init = Command::new(ichor);
    init.current_dir(directory).args(["init", "bench", "--endpoint"]);
    init.arg(format!("https://{first}:6443"));
    for (index, node) in nodes.iter().enumerate() {
        let flag = if index < 3 { "--control-plane" } else { "--worker" };
        init.args([flag, &format!("{}={}", node.name, node.address)]);
    }
    succeed(&mut init)?;
    for (name, role) in [("site.yaml", Role::Worker), ("own.yaml", Role::ControlPlane)] {
        fs_err::write(directory.join(name), site.patch_without_name(role))?;
    }
    let file = directory.join("ichor.yaml");
    let spec = fs_err::read_to_string(&file)?;
    let spec = spec.replace("controlPlane:\n", "controlPlane:\n  patches: [own.yaml]\n");
    fs_err::write(&file, spec + "patches: [site.yaml]\n")?;
    let network = format!("--net={}", site.network.display());
    Ok(vec!["nsenter".into(), network.into()])
}
