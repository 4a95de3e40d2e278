//! Waits until a machine serves in Kubernetes. What was true before this plan disturbed it does not count.
//!
//! A ready node is not evidence: Kubernetes takes it for ready for the better part of a minute after its
//! kubelet has fallen silent, and says nothing about the control plane's own pods. What a machine tells about itself
//! is: its boot, the configuration that it has, and what runs on it, each newer than what it is made from
//! ([`components`](crate::ports::Machines::components)). The nodes of Kubernetes are looked at besides, since only
//! they show that a kubelet reaches an API.
//!
//! Control-plane pods are read from the kubelet by Talos every fifteen seconds; evidence has to hold for longer than
//! that, so that a component which starts and then fails is not taken for well.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::{BootId, Digest, ErrorKind, NodeName, NodeState};
use plan::{AwaitNode, Awaited, ChangeKind, Precondition};

use super::{At, Look};
use crate::error::{self, Error, PortError};
use crate::observe::unwell;
use crate::ports::Observed;

pub(super) async fn act(action: &AwaitNode, at: &At<'_>) -> Result<(), Error> {
    let (boot, config, looks_inside) = (boot_before(at), config_given(at), looks_inside(at));
    let since = Mutex::new(Since::default());
    at.until(|| async {
        let state = look(action, at, boot, config, looks_inside).await;
        let settles = if looks_inside { settles(at) } else { Duration::ZERO };
        since.lock().unwrap_or_else(PoisonError::into_inner).judge(state, settles, at)
    })
    .await
}

/// The result of one look.
enum State {
    Serves,
    /// It does not serve yet, for want of this.
    Misses(String),
    /// Something that it should run is not well.
    Unwell(String),
}

/// Since when a machine is well, or is not.
#[derive(Default)]
struct Since {
    well: Option<Duration>,
    unwell: Option<Duration>,
}

impl Since {
    fn judge(&mut self, state: State, settles: Duration, at: &At<'_>) -> Result<Look<()>, Error> {
        let now = at.ports.clock.monotonic();
        let long = |since: &mut Option<Duration>| now.saturating_sub(*since.get_or_insert(now));
        let what = match state {
            State::Serves => {
                self.unwell = None;
                if long(&mut self.well) >= settles {
                    return Ok(Look::Done(()));
                }
                "the machine to stay healthy".to_owned()
            }
            State::Misses(what) => {
                *self = Self::default();
                what
            }
            State::Unwell(what) => {
                self.well = None;
                let heals_within = at.execution.cluster.spec.policy.heals_within.duration();
                if long(&mut self.unwell) >= heals_within {
                    let message = format!("{}: {what}", at.name);
                    let error = PortError::new(error::UNHEALTHY, ErrorKind::NeedsPerson, message);
                    return Err(error.into());
                }
                what
            }
        };
        Ok(Look::WaitFor(what))
    }
}

async fn look(
    action: &AwaitNode,
    at: &At<'_>,
    boot: Option<&BootId>,
    config: Option<Digest>,
    looks_inside: bool,
) -> State {
    let machine = match at.machine() {
        Ok(machine) => machine,
        Err(error) => return State::Misses(error.message),
    };
    let Observed::Ours(own) = at.ports.machines.observe(machine).await else {
        return State::Misses("the machine to answer".to_owned());
    };
    let key = &at.execution.cluster.key;
    let has = own.config.as_ref().map(|config| key.config(config));
    if config.is_some() && has != config {
        return State::Misses("the machine to show its new configuration".to_owned());
    }
    // What is wrong inside a machine is told before its node: it may be why the API is away.
    if looks_inside {
        match unwell(machine, at.ports.machines).await {
            Ok(unwell) if unwell.is_empty() => {}
            Ok(unwell) => return State::Unwell(unwell.join(", ")),
            Err(error) => return State::Misses(error.message),
        }
    }
    // The machine itself knows what its node is called, once it boots.
    let name = own.node_name.unwrap_or_else(|| NodeName::from(at.name));
    let nodes = match at.execution.nodes().await {
        Ok(nodes) => nodes,
        Err(error) => return State::Misses(error.message().to_owned()),
    };
    let node = nodes.iter().find(|node| node.name == name);
    if let (Some(node), Some(before)) = (node, boot)
        && node.boot == before.0
    {
        return State::Misses(format!("node {name} to report after its reboot"));
    }
    match node.map(|node| node.state) {
        None | Some(NodeState::Absent) => State::Misses(format!("node {name} to be registered")),
        Some(NodeState::NotReady) if action.ready => {
            State::Misses(format!("node {name} to be ready"))
        }
        Some(NodeState::NotReady | NodeState::Ready) => State::Serves,
    }
}

/// Returns the boot that the machine was in before this plan rebooted it, if it did.
fn boot_before<'a>(at: &At<'a>) -> Option<&'a BootId> {
    let mut steps = at.execution.plan.steps().iter();
    let reboot = steps.find(|step| step.on == at.step.on && step.action.nature().reboots)?;
    reboot.preconditions.iter().find_map(|precondition| match precondition {
        Precondition::BootIs(boot) => Some(boot),
        _ => None,
    })
}

/// Returns the configuration that this plan has given the machine, if it did.
fn config_given(at: &At<'_>) -> Option<Digest> {
    let own = at.execution.plan.steps().iter().filter(|step| step.on == at.step.on);
    own.filter_map(|step| step.action.config()).next_back().map(|given| given.config)
}

/// Returns whether what runs on the machine has to be well: not on one that joins, where parts of Kubernetes wait for
/// each other.
fn looks_inside(at: &At<'_>) -> bool {
    let joins = |step: &plan::Step| {
        let nature = step.action.nature();
        nature.change == Some(ChangeKind::Bootstrap)
            || step.on == at.step.on && nature.awaits == Some(Awaited::Machine)
    };
    !at.execution.plan.steps().iter().any(joins)
}

/// For how long evidence has to hold.
fn settles(at: &At<'_>) -> Duration {
    if at.execution.cluster.spec.is_control_plane(at.name) {
        CONTROL_PLANE_SETTLES
    } else {
        WORKER_SETTLES
    }
}

/// Longer than the fifteen seconds between two readings of pods.
const CONTROL_PLANE_SETTLES: Duration = Duration::from_secs(20);
/// Controllers of Talos hand a change on to the kubelet within a second or two.
const WORKER_SETTLES: Duration = Duration::from_secs(5);
