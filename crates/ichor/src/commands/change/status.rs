//! `ichor status` and `ichor health`: the machines of a cluster, and whether it is well.

use std::fmt;
use std::time::Duration;

use engine::observe;
use plan::{Fact, Inventory, Moment, NodeState, Standing};
use serde::Serialize;

use super::World;
use super::plan::Nobody;
use crate::args::{Output, StatusArgs};
use crate::directory::Directory;
use crate::printer::Printer;
use crate::settings::{Place, Surroundings};
use crate::table::Table;
use crate::{Error, ExitStatus};

pub(super) async fn status(
    args: &StatusArgs,
    place: &Place,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    look(args, place, surroundings, printer, |_, _| {}).await?;
    Ok(ExitStatus::Done)
}

pub(super) async fn health(
    args: &StatusArgs,
    place: &Place,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let tell = |status: &Status, printer: &mut Printer| {
        if args.shown.output == Output::Table {
            for problem in &status.problems {
                printer.note(problem);
            }
        }
    };
    let status = look(args, place, surroundings, printer, tell).await?;
    Ok(if status.problems.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

async fn look(
    args: &StatusArgs,
    place: &Place,
    surroundings: &Surroundings,
    printer: &mut Printer,
    tell: impl Fn(&Status, &mut Printer),
) -> Result<Status, Error> {
    let world = World::open(place, surroundings).await?;
    let directory = &world.directory;
    let ports = world.ports(&Nobody, &Nobody);
    loop {
        let inventory = observe(&directory.cluster, &ports).await?;
        let status = Status::new(directory, &inventory);
        printer.value(&status, args.shown.output)?;
        tell(&status, printer);
        if !args.watch {
            return Ok(status);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
        printer.clear();
    }
}

/// A cluster at one moment.
#[derive(Debug, Serialize)]
struct Status {
    cluster: String,
    machines: Vec<MachineStatus>,
    /// What is not as it should be.
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
struct MachineStatus {
    machine: String,
    role: &'static str,
    address: String,
    state: String,
    talos: String,
    etcd: String,
    kubernetes: String,
}

impl Status {
    fn new(directory: &Directory, inventory: &Inventory) -> Self {
        let now = inventory.taken;
        let spec = &directory.cluster.spec;
        let etcd = inventory.etcd.current(now);
        let mut machines = Vec::new();
        let mut problems = Vec::new();
        for (machine, _) in spec.machines() {
            let name = &machine.name;
            let control_plane = spec.is_control_plane(name);
            let Some(facts) = inventory.machines.get(name) else { continue };
            let state = match facts.standing.current(now) {
                Some(Standing::Ours) => "configured".to_owned(),
                Some(Standing::Maintenance) => "in maintenance".to_owned(),
                Some(Standing::Another) => "another cluster's".to_owned(),
                None => format!("not seen: {}", facts.standing.why_not(now)),
            };
            if facts.standing.current(now) != Some(&Standing::Ours) {
                problems.push(format!("{name}: {state}"));
            }
            let member = etcd.and_then(|etcd| etcd.on(name));
            let etcd_state = match (control_plane, etcd, member) {
                (false, ..) => String::new(),
                (true, None, _) => "not known".to_owned(),
                (true, Some(_), None) => "no member".to_owned(),
                (true, Some(etcd), Some((id, member))) => {
                    let leads = if etcd.leader == Some(id) { ", leads" } else { "" };
                    let votes = if member.voter { "voter" } else { "learner" };
                    let silent = if member.lag.is_none() { ", silent" } else { "" };
                    format!("{votes}{leads}{silent}")
                }
            };
            if control_plane && !etcd_state.starts_with("voter") || etcd_state.contains("silent") {
                problems.push(format!("{name}: etcd: {etcd_state}"));
            }
            let kubernetes = match facts.kubernetes.current(now) {
                Some(NodeState::Ready) => "ready".to_owned(),
                Some(NodeState::NotReady) => "not ready".to_owned(),
                Some(NodeState::Absent) => "absent".to_owned(),
                None => "not known".to_owned(),
            };
            if kubernetes != "ready" {
                problems.push(format!("{name}: node: {kubernetes}"));
            }
            machines.push(MachineStatus {
                machine: name.to_string(),
                role: if control_plane { "control plane" } else { "worker" },
                address: machine.address.to_string(),
                state,
                talos: text(&facts.talos, now),
                etcd: etcd_state,
                kubernetes,
            });
        }
        Self { cluster: spec.cluster.to_string(), machines, problems }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["MACHINE", "ROLE", "ADDRESS", "STATE", "TALOS", "ETCD", "NODE"];
        let mut table = Table::new(head.map(str::to_owned).to_vec());
        for machine in &self.machines {
            let MachineStatus { machine, role, address, state, talos, etcd, kubernetes } = machine;
            table.push(vec![
                machine.clone(),
                (*role).to_owned(),
                address.clone(),
                state.clone(),
                talos.clone(),
                etcd.clone(),
                kubernetes.clone(),
            ]);
        }
        table.fmt(f)
    }
}

fn text<T: ToString>(fact: &Fact<T>, now: Moment) -> String {
    fact.current(now).map_or_else(|| "not known".to_owned(), ToString::to_string)
}

/// Often enough to see a machine boot.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
