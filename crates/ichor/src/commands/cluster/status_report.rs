//! The machines of a cluster at one moment, and whether it is well.

use std::fmt;
use std::time::Duration;

use engine::journal::Journal as _;
use engine::{
    Activity, Cluster, Component, MachineAddress, Machines, PlanProgress, components, observe,
};
use plan::{Cni, Inventory, MachineName, NodeState, Ownership};
use serde::Serialize;

use anstyle::Style;

use super::interactive::{NonInteractive, short};
use super::output::Cause;
use super::refusal::with_address;
use crate::directory::OpenedDirectory;
use crate::json_schema::{JsonSchema as _, SchemaOf, schema, words};
use crate::live_cluster::LiveCluster;
use crate::table::{BAD, Cell, DOUBTFUL, GOOD, Table, visible_lines};
use crate::timestamp::Timestamp as Time;
use crate::{Error, ExitStatus};

/// Observes the machines that are named, or all of them.
pub(super) async fn observe_status(
    live: &LiveCluster,
    machines: &[MachineName],
    with_components: bool,
) -> Result<Status, Error> {
    let (directory, ports) = (&live.directory, live.ports(&NonInteractive, &NonInteractive));
    let mut inventory = observe(&directory.cluster, &ports).await?;
    if !machines.is_empty() {
        inventory.machines.retain(|name, _| machines.contains(name));
    }
    let mut status = Status::new(directory, &inventory).await?;
    if with_components {
        status.add_components(&directory.cluster, &inventory, ports.machines).await;
    }
    Ok(status)
}

/// A cluster at one moment.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    cluster: String,
    /// Time of the observation.
    at: Time,
    /// The unfinished plan, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<PlanStatus>,
    machines: Vec<MachineStatus>,
    /// Components of the machines, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    components: Vec<ComponentStatus>,
    /// Reasons why the cluster is unhealthy.
    pub(super) problems: Vec<Problem>,
}

/// Something that is unhealthy.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(super) struct Problem {
    machine: String,
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    component: Option<String>,
    code: &'static str,
    message: String,
}

schema!(Problem, plain { machine, address, code, message } optional { component });
schema!(Status, plain { cluster, at, machines, problems } optional { plan, components });

/// Schema of what is printed.
pub(super) const SCHEMA: SchemaOf = Status::json_schema;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PlanStatus {
    plan: String,
    /// Whether an engine is carrying it out; otherwise it was interrupted.
    running: bool,
    done: usize,
    steps: usize,
    seconds_left: u64,
}

schema!(PlanStatus, camel { plan, running, done, steps, seconds_left });

/// One machine. What is not known is null.
#[derive(Debug, Serialize)]
struct MachineStatus {
    name: String,
    role: Role,
    address: Option<String>,
    state: State,
    /// Reason of the state.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Cause>,
    talos: Option<String>,
    /// Null for a worker as well.
    etcd: Option<EtcdStatus>,
    node: Option<NodeStatus>,
    /// The running step.
    #[serde(skip_serializing_if = "Option::is_none")]
    doing: Option<Doing>,
}

/// A step that acts on a machine.
#[derive(Debug, Serialize)]
struct Doing {
    action: &'static str,
    #[serde(skip)]
    verb: &'static str,
    seconds: u64,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { action: _, verb, seconds } = self;
        write!(f, "{verb} ({})", short(Duration::from_secs(*seconds)))
    }
}

schema!(Doing, plain { action, seconds } skip { verb });
schema!(MachineStatus, plain { name, role, address, state, talos, etcd, node } optional { reason, doing });

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Role {
    ControlPlane,
    Worker,
}

words!(Role { ControlPlane, Worker });

/// The states of a machine. The names are a public interface.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    Configured,
    Maintenance,
    Foreign,
    Booting,
    Away,
    NotProvided,
    Provided,
    Unreachable,
}

words!(State {
    Configured,
    Maintenance,
    Foreign,
    Booting,
    Away,
    NotProvided,
    Provided,
    Unreachable
});

#[derive(Clone, Copy, Debug, Serialize)]
struct EtcdStatus {
    member: Membership,
    leader: bool,
    /// Whether the member answers.
    answers: bool,
}

schema!(EtcdStatus, plain { member, leader, answers });

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Membership {
    Voter,
    Learner,
    None,
}

words!(Membership { Voter, Learner, None });

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum NodeStatus {
    Ready,
    NotReady,
    Absent,
}

words!(NodeStatus { Ready, NotReady, Absent });

impl State {
    pub(super) const fn of(standing: Option<&Ownership>) -> Self {
        match standing {
            Some(Ownership::Ours) => Self::Configured,
            Some(Ownership::Maintenance) => Self::Maintenance,
            Some(Ownership::Foreign) => Self::Foreign,
            Some(Ownership::Booting) => Self::Booting,
            Some(Ownership::Away) => Self::Away,
            Some(Ownership::NotProvided) => Self::NotProvided,
            Some(Ownership::Provided) => Self::Provided,
            None => Self::Unreachable,
        }
    }

    /// Identifies it as the reason of something else.
    pub(super) const fn code(self) -> &'static str {
        match self {
            Self::Configured => "machine.configured",
            Self::Maintenance => "machine.maintenance",
            Self::Foreign => "machine.foreign",
            Self::Booting => "machine.booting",
            Self::Away => "machine.away",
            Self::NotProvided => "machine.not-provided",
            Self::Provided => "machine.provided",
            Self::Unreachable => UNREACHABLE,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ControlPlane => "control plane",
            Self::Worker => "worker",
        })
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configured => "configured",
            Self::Maintenance => "in maintenance",
            Self::Foreign => "foreign",
            Self::Booting => "booting",
            Self::Away => "not back yet",
            Self::NotProvided => "not provided",
            Self::Provided => "starting",
            Self::Unreachable => "unreachable",
        })
    }
}

impl EtcdStatus {
    /// Returns the membership of a control plane, as far as it is known.
    fn of(name: &MachineName, etcd: Option<&plan::Etcd>, state: State) -> Option<Self> {
        let etcd = etcd?;
        match etcd.on(name) {
            Some((id, member)) => Some(Self {
                member: if member.voter { Membership::Voter } else { Membership::Learner },
                leader: etcd.leader == Some(id),
                answers: member.lag.is_some(),
            }),
            // A machine that was not observed may have a member that no other one knows.
            None if state == State::Unreachable => None,
            None => Some(Self { member: Membership::None, leader: false, answers: false }),
        }
    }

    fn is_well(self) -> bool {
        self.member == Membership::Voter && self.answers
    }
}

impl fmt::Display for EtcdStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { member, leader, answers } = self;
        f.write_str(match member {
            Membership::Voter => "voter",
            Membership::Learner => "learner",
            Membership::None => return f.write_str("no member"),
        })?;
        f.write_str(if *leader { ", leader" } else { "" })?;
        f.write_str(if *answers { "" } else { ", silent" })
    }
}

impl fmt::Display for NodeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "ready",
            Self::NotReady => "not ready",
            Self::Absent => "absent",
        })
    }
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

schema!(ComponentStatus, plain { machine, component, state, healthy } optional { reason });

impl Status {
    async fn new(directory: &OpenedDirectory, inventory: &Inventory) -> Result<Self, Error> {
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
                Some(PlanProgress::new(plan.hash(), plan.steps(), policy, &records))
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
        let doing = |name: &MachineName| -> Option<Doing> {
            let mut doing = progress.iter().filter(|_| running).flat_map(|all| all.activities(now));
            let doing = doing.find(|doing| doing.on.machine() == Some(name))?;
            let Activity { action, verb, since, .. } = doing;
            Some(Doing { action, verb, seconds: since.as_secs() })
        };
        let spec = &directory.cluster.spec;
        let etcd = inventory.etcd.current(now);
        let mut machines = Vec::new();
        let mut problems = Vec::new();
        for (machine, _) in spec.machines() {
            let name = &machine.name;
            let Some(facts) = inventory.machines.get(name) else { continue };
            let is_control_plane = spec.is_control_plane(name);
            let state = State::of(facts.ownership.current(now));
            let address = facts.address.current(now).map(ToString::to_string);
            let mut problem = |code, message| {
                let (machine, address) = (name.to_string(), address.clone());
                problems.push(Problem { machine, address, component: None, code, message });
            };
            let reason = (state == State::Unreachable)
                .then(|| Cause::new(UNREACHABLE, facts.ownership.why_not(now)));
            match &reason {
                Some(Cause { message, .. }) => {
                    problem(state.code(), format!("{state} ({message})"));
                }
                None if state != State::Configured => problem(state.code(), state.to_string()),
                None => {}
            }
            let etcd = is_control_plane.then(|| EtcdStatus::of(name, etcd, state)).flatten();
            match etcd {
                Some(etcd) if !etcd.is_well() => problem("etcd.unhealthy", format!("etcd: {etcd}")),
                None if is_control_plane && state != State::Unreachable => {
                    problem("etcd.unknown", "etcd: unknown".to_owned());
                }
                _ => {}
            }
            let node = facts.kubernetes.current(now).map(|node| match node {
                NodeState::Ready => NodeStatus::Ready,
                NodeState::NotReady => NodeStatus::NotReady,
                NodeState::Absent => NodeStatus::Absent,
            });
            // Without a network plug-in nodes wait for one, and that is as it should be.
            let serves = node == Some(NodeStatus::Ready)
                || node == Some(NodeStatus::NotReady) && spec.network.cni == Cni::None;
            if !serves && (node.is_some() || state != State::Unreachable) {
                let code = match node {
                    Some(NodeStatus::Ready | NodeStatus::NotReady) => "node.not-ready",
                    Some(NodeStatus::Absent) => "node.absent",
                    None => "node.unknown",
                };
                problem(code, format!("node: {}", or(node, "unknown")));
            }
            machines.push(MachineStatus {
                name: name.to_string(),
                role: if is_control_plane { Role::ControlPlane } else { Role::Worker },
                address,
                state,
                reason,
                talos: facts.talos.current(now).map(ToString::to_string),
                etcd,
                node,
                doing: doing(name),
            });
        }
        let cluster = spec.cluster.to_string();
        Ok(Self {
            cluster,
            at: Time::from_seconds(now.0),
            plan,
            machines,
            components: Vec::new(),
            problems,
        })
    }

    /// Queries the components of every configured machine.
    async fn add_components(
        &mut self,
        cluster: &Cluster,
        inventory: &Inventory,
        machines: &dyn Machines,
    ) {
        let is_ours = |address: &MachineAddress| {
            let facts = inventory.machines.get(&address.name);
            facts.and_then(|facts| facts.ownership.current(inventory.taken))
                == Some(&Ownership::Ours)
        };
        let addresses: Vec<MachineAddress> =
            cluster.addresses(inventory).into_iter().filter(is_ours).collect();
        let answers = components(&addresses, machines).await;
        for (address, answer) in addresses.iter().zip(answers) {
            let machine = &address.name;
            let problem = |component, code, message| Problem {
                machine: machine.to_string(),
                address: Some(address.address.to_string()),
                component,
                code,
                message,
            };
            let components = answer.unwrap_or_else(|error| {
                self.problems.push(problem(None, "components.unknown", error.message));
                Vec::new()
            });
            for Component { name, state, is_healthy, reason } in components {
                if !is_healthy {
                    let reason =
                        if reason.is_empty() { String::new() } else { format!(": {reason}") };
                    let message = format!("{name}: {state}{reason}");
                    self.problems.push(problem(Some(name.clone()), "component.unhealthy", message));
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

    /// Returns the exit status: whether all machines, some or none were reached.
    pub(super) fn reached(&self) -> ExitStatus {
        let unreachable =
            self.machines.iter().filter(|machine| machine.state == State::Unreachable).count();
        match unreachable {
            0 => ExitStatus::Done,
            all if all == self.machines.len() => ExitStatus::Unreachable,
            _ => ExitStatus::Failed,
        }
    }

    /// The reasons why machines are unreachable, each with the machines that have it.
    fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for MachineStatus { name, reason, .. } in &self.machines {
            let Some(Cause { message, .. }) = reason else { continue };
            match reasons.iter_mut().find(|(known, _)| known == message) {
                Some((_, names)) => names.push(name),
                None => reasons.push((message, vec![name])),
            }
        }
        let line = |(message, names): (&str, Vec<&str>)| format!("{}: {message}", names.join(", "));
        reasons.into_iter().map(line).collect()
    }

    /// Returns everything that `--watch` shows.
    pub(super) fn live(&self) -> LiveStatus<'_> {
        LiveStatus(self)
    }
}

/// A status with its time and its problems.
pub(super) struct LiveStatus<'a>(&'a Status);

impl fmt::Display for LiveStatus<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(status) = self;
        write!(f, "{}  {}\n\n", status.cluster, status.at)?;
        status.fmt(f)?;
        if !status.problems.is_empty() {
            write!(f, "\n\nproblems")?;
        }
        status
            .problems
            .iter()
            .try_for_each(|text| write!(f, "\n  {}", visible_lines(&text.to_string())))
    }
}

impl Problem {
    /// Returns whether the table of machines has it, with its reason.
    pub(super) fn is_in_table(&self) -> bool {
        self.code == UNREACHABLE
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, address, component: _, code: _, message } = self;
        write!(f, "{}: {message}", with_address(machine, address.as_deref()))
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
        let busy = self.machines.iter().any(|machine| machine.doing.is_some());
        let mut head = vec!["MACHINE", "ROLE", "ADDRESS", "STATE", "TALOS", "ETCD", "NODE"];
        if busy {
            head.push("DOING");
        }
        let mut table = Table::new(head.into_iter().map(str::to_owned).collect());
        for machine in &self.machines {
            let MachineStatus { name, role, address, state, reason: _, talos, etcd, node, doing } =
                machine;
            let no_etcd = if *role == Role::Worker { "-" } else { "unknown" };
            let mut row = vec![
                Cell::from(name.clone()),
                role.to_string().into(),
                or(address.as_ref(), "-").into(),
                Cell::styled(state.to_string(), state.style()),
                or(talos.as_ref(), "-").into(),
                styled(*etcd, no_etcd, EtcdStatus::style),
                styled(*node, "unknown", NodeStatus::style),
            ];
            if busy {
                row.push(or(doing.as_ref(), "-").into());
            }
            table.push(row);
        }
        table.fmt(f)?;
        for reason in self.reasons() {
            write!(f, "\n{reason}")?;
        }
        if self.components.is_empty() {
            return Ok(());
        }
        let head = ["MACHINE", "COMPONENT", "STATE", "HEALTH", "REASON"];
        let mut table = Table::new(head.into_iter().map(str::to_owned).collect());
        for ComponentStatus { machine, component, state, healthy, reason } in &self.components {
            let health =
                if *healthy { Cell::styled("OK", GOOD) } else { Cell::styled("Fail", BAD) };
            let [machine, component, state, reason] =
                [machine, component, state, reason].map(|text| Cell::from(text.to_owned()));
            table.push(vec![machine, component, state, health, reason]);
        }
        write!(f, "\n\n")?;
        table.fmt(f)
    }
}

fn styled<T: ToString + Copy>(value: Option<T>, otherwise: &str, style: fn(T) -> Style) -> Cell {
    Cell::styled(or(value, otherwise), value.map(style).unwrap_or_default())
}

impl State {
    fn style(self) -> Style {
        match self {
            Self::Configured => GOOD,
            Self::Maintenance | Self::Booting | Self::Away | Self::Provided => DOUBTFUL,
            Self::NotProvided | Self::Foreign | Self::Unreachable => BAD,
        }
    }
}

impl EtcdStatus {
    fn style(self) -> Style {
        match (self.member, self.answers) {
            (Membership::Voter, true) => GOOD,
            (Membership::Learner, true) | (Membership::None, _) => DOUBTFUL,
            (Membership::Voter | Membership::Learner, false) => BAD,
        }
    }
}

impl NodeStatus {
    fn style(self) -> Style {
        match self {
            Self::Ready => GOOD,
            Self::NotReady => BAD,
            Self::Absent => DOUBTFUL,
        }
    }
}

const UNREACHABLE: &str = "machine.unreachable";

fn or<T: ToString>(value: Option<T>, otherwise: &str) -> String {
    value.map_or_else(|| otherwise.to_owned(), |value| value.to_string())
}
