//! `ichor status` and `ichor health`: the machines of a cluster, and whether it is well.

use std::fmt;
use std::time::Duration;

use engine::journal::Journal as _;
use engine::{Cluster, Component, MachineAddress, Machines, Progress, components, observe};
use plan::{Cni, Fact, Inventory, MachineName, Moment, NodeState, Standing};
use serde::Serialize;
use tokio::time::timeout;

use super::World;
use super::person::short;
use super::plan::NonInteractive;
use crate::args::{HealthArgs, Output, StatusArgs};
use crate::directory::Directory;
use crate::moment::Moment as Time;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::table::Table;
use crate::{Error, ExitStatus};

pub(super) async fn status(
    args: &StatusArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let world = World::open(surroundings).await?;
    show(&world, args, printer, false).await?;
    Ok(ExitStatus::Done)
}

pub(super) async fn health(
    args: &HealthArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let HealthArgs { status: args, wait } = args;
    let world = World::open(surroundings).await?;
    let mut unwell = ExitStatus::Failed;
    if let Some(wait) = wait {
        // Whether it came about or not, what there is then is shown below.
        match timeout(*wait, until_well(&world, printer)).await {
            Ok(outcome) => outcome?,
            Err(_) => unwell = ExitStatus::TimedOut,
        }
    }
    let status = show(&world, args, printer, true).await?;
    if args.shown.output == Output::Table {
        for problem in &status.problems {
            printer.note(problem);
        }
    }
    Ok(if status.problems.is_empty() { ExitStatus::Done } else { unwell })
}

/// Looks again and again until nothing is wrong, and tells what is when that changes.
async fn until_well(world: &World, printer: &mut Printer) -> Result<(), Error> {
    let mut told = Vec::new();
    loop {
        let problems = look(world, true).await?.problems;
        if problems.is_empty() {
            return Ok(());
        }
        for problem in problems.iter().filter(|problem| !told.contains(*problem)) {
            printer.step(&format!("not yet: {problem}"));
        }
        told = problems;
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Shows the cluster, over and over where somebody keeps looking; with what runs on its machines where that is asked for.
async fn show(
    world: &World,
    args: &StatusArgs,
    printer: &mut Printer,
    with_components: bool,
) -> Result<Status, Error> {
    loop {
        let status = look(world, with_components).await?;
        match args.shown.output {
            Output::Table if args.watch => printer.screen(&status.live())?,
            output if args.watch => drop(printer.item(&status, output)?),
            output => drop(printer.value(&status, output)?),
        }
        if !args.watch {
            return Ok(status);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

async fn look(world: &World, with_components: bool) -> Result<Status, Error> {
    let (directory, ports) = (&world.directory, world.ports(&NonInteractive, &NonInteractive));
    let inventory = observe(&directory.cluster, &ports).await?;
    let mut status = Status::new(directory, &inventory).await?;
    if with_components {
        status.add_components(&directory.cluster, &inventory, ports.machines).await;
    }
    Ok(status)
}

/// A cluster at one moment.
#[derive(Debug, Serialize)]
struct Status {
    cluster: String,
    /// When it was looked at, in seconds since 1970.
    at: i64,
    /// A plan that was begun and is not through.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanStatus>,
    machines: Vec<MachineStatus>,
    /// What runs on them, where that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    components: Vec<ComponentStatus>,
    /// What is not as it should be.
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanStatus {
    plan: String,
    /// Whether somebody is at work on it, or it was interrupted.
    running: bool,
    done: usize,
    steps: usize,
    seconds_left: u64,
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
    /// What is done to it now.
    #[serde(skip_serializing_if = "String::is_empty")]
    doing: String,
}

#[derive(Debug, Serialize)]
struct ComponentStatus {
    machine: String,
    component: String,
    state: String,
    healthy: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
}

impl Status {
    async fn new(directory: &Directory, inventory: &Inventory) -> Result<Self, Error> {
        let now = inventory.taken;
        let ledger = directory.journal.ledger().await.map_err(engine::Error::from)?;
        let begun = match ledger.unfinished {
            Some(unfinished) => directory.journal.stored_plan(unfinished.plan).await,
            None => None,
        };
        let running = directory.journal.is_taken();
        let policy = &directory.cluster.spec.policy;
        let progress = match &begun {
            Some(plan) => {
                let records = directory.journal.read().await.map_err(engine::Error::from)?;
                Some(Progress::new(plan.hash(), plan.steps(), policy, &records))
            }
            None => None,
        };
        let plan = begun.as_ref().zip(progress.as_ref()).map(|(plan, progress)| PlanStatus {
            plan: plan.hash().short(),
            running,
            done: progress.done(),
            steps: progress.steps(),
            seconds_left: progress.left(now).as_secs(),
        });
        let doing = |name: &MachineName| -> String {
            let mut doing = progress.iter().filter(|_| running).flat_map(|all| all.doing(now));
            doing.find(|doing| doing.on.machine() == Some(name)).map_or_else(String::new, |doing| {
                format!("{} ({})", doing.verb, short(doing.since))
            })
        };
        let spec = &directory.cluster.spec;
        let etcd = inventory.etcd.current(now);
        let mut machines = Vec::new();
        let mut problems = Vec::new();
        for (machine, _) in spec.machines() {
            let name = &machine.name;
            let control_plane = spec.is_control_plane(name);
            let Some(facts) = inventory.machines.get(name) else { continue };
            let state = match facts.standing.current(now) {
                Some(standing) => standing.to_string(),
                None => format!("unreachable: {}", facts.standing.why_not(now)),
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
            // Without a network plug-in nodes wait for one, and that is as it should be.
            let serves =
                kubernetes == "ready" || kubernetes == "not ready" && spec.network.cni == Cni::None;
            if !serves {
                problems.push(format!("{name}: node: {kubernetes}"));
            }
            machines.push(MachineStatus {
                machine: name.to_string(),
                role: if control_plane { "control plane" } else { "worker" },
                address: text(&facts.address, now),
                state,
                talos: text(&facts.talos, now),
                etcd: etcd_state,
                kubernetes,
                doing: doing(name),
            });
        }
        let cluster = spec.cluster.to_string();
        Ok(Self { cluster, at: now.0, plan, machines, components: Vec::new(), problems })
    }

    /// Asks every machine of the cluster what runs on it.
    async fn add_components(
        &mut self,
        cluster: &Cluster,
        inventory: &Inventory,
        machines: &dyn Machines,
    ) {
        let is_ours = |address: &MachineAddress| {
            let facts = inventory.machines.get(&address.name);
            facts.and_then(|facts| facts.standing.current(inventory.taken)) == Some(&Standing::Ours)
        };
        let addresses: Vec<MachineAddress> =
            cluster.addresses(inventory).into_iter().filter(is_ours).collect();
        let answers = components(&addresses, machines).await;
        for (address, answer) in addresses.iter().zip(answers) {
            let machine = &address.name;
            let components = answer.unwrap_or_else(|error| {
                self.problems.push(format!("{machine}: {}", error.message));
                Vec::new()
            });
            for Component { name, state, is_healthy, reason } in components {
                if !is_healthy {
                    let reason =
                        if reason.is_empty() { String::new() } else { format!(": {reason}") };
                    self.problems.push(format!("{machine}: {name}: {state}{reason}"));
                }
                self.components.push(ComponentStatus {
                    machine: machine.to_string(),
                    component: name,
                    state,
                    healthy: is_healthy,
                    reason,
                });
            }
        }
    }

    /// Everything for somebody who keeps looking.
    fn live(&self) -> String {
        let mut text = format!("{}  {}\n\n{self}", self.cluster, Time::from_seconds(self.at));
        if !self.problems.is_empty() {
            let problems: Vec<String> =
                self.problems.iter().map(|problem| format!("  {problem}")).collect();
            text = format!("{}\n\nnot as it should be\n{}", text.trim_end(), problems.join("\n"));
        }
        text
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(PlanStatus { plan, running, done, steps, seconds_left }) = &self.plan {
            let left = short(Duration::from_secs(*seconds_left));
            if *running {
                writeln!(f, "plan {plan}: {done} of {steps} steps done, about {left} left\n")?;
            } else {
                writeln!(
                    f,
                    "plan {plan} was interrupted after {done} of {steps} steps: `ichor resume`\n"
                )?;
            }
        }
        let busy = self.machines.iter().any(|machine| !machine.doing.is_empty());
        let mut head = vec!["MACHINE", "ROLE", "ADDRESS", "STATE", "TALOS", "ETCD", "NODE"];
        if busy {
            head.push("DOING");
        }
        let mut table = Table::new(head.into_iter().map(str::to_owned).collect());
        for machine in &self.machines {
            let MachineStatus { machine, role, address, state, talos, etcd, kubernetes, doing } =
                machine;
            let mut row = vec![
                machine.clone(),
                (*role).to_owned(),
                address.clone(),
                state.clone(),
                talos.clone(),
                etcd.clone(),
                kubernetes.clone(),
            ];
            if busy {
                row.push(doing.clone());
            }
            table.push(row);
        }
        table.fmt(f)?;
        if self.components.is_empty() {
            return Ok(());
        }
        let head = ["MACHINE", "COMPONENT", "STATE", "HEALTH", "REASON"];
        let mut table = Table::new(head.into_iter().map(str::to_owned).collect());
        for ComponentStatus { machine, component, state, healthy, reason } in &self.components {
            let health = if *healthy { "OK" } else { "Fail" };
            let row = [machine, component, state, health, reason];
            table.push(row.into_iter().map(str::to_owned).collect());
        }
        write!(f, "\n\n{table}")
    }
}

fn text<T: ToString>(fact: &Fact<T>, now: Moment) -> String {
    fact.current(now).map_or_else(|| "not known".to_owned(), ToString::to_string)
}

/// Often enough to see a machine boot.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
