//! Machines that are out of service although they should not be, and what they hold up.
//!
//! A machine that is out of service counts among those that may be at once, for any reason: control planes one
//! at a time, workers as many of one failure domain as the policy says. It may be changed itself, which may be its
//! cure; the others wait for it, or stay as they are where it cannot be waited for.

use domain::{
    FailureDomain, Inventory, MachineFacts, MachineName, NodeState, Ownership, Timestamp,
};

use super::assessment::{Disposition, EtcdState, MachineAssessment, etcd_state};
use super::expects_ready;
use super::quorum::Voters;
use crate::finding::Finding;
use crate::spec::{ClusterSpec, Policy};

/// Returns the finding about a machine that would be disturbed beside more than may be out of service, by what was
/// observed. Those that `is_meant` names do not count. A machine that is out of service itself may be disturbed,
/// which may be its cure.
pub fn out_of_service_finding(
    name: &MachineName,
    spec: &ClusterSpec,
    inventory: &Inventory,
    is_meant: impl Fn(&MachineName) -> bool,
) -> Option<Finding> {
    let (machine, _) = spec.machine(name)?;
    let (control_plane, etcd) = (spec.is_control_plane(name), etcd_state(spec, inventory));
    let why_out = |name: &MachineName, facts: &MachineFacts| {
        out(name, facts, inventory.taken, &etcd, spec).filter(|_| !is_meant(name))
    };
    // That an earlier step has disturbed it is not a reason to disturb it beside others.
    let own = MachineFacts { disturbed: None, ..inventory.machines.get(name)?.clone() };
    if why_out(name, &own).is_some() {
        return None;
    }
    let lost: Vec<Lost<'_>> = spec
        .machines()
        .filter_map(|(other, _)| {
            let (name, domain) = (&other.name, other.domain.as_ref().map(FailureDomain::as_str));
            let why = why_out(name, inventory.machines.get(name)?)
                .filter(|_| other.name != machine.name)?;
            Some(Lost { name, control_plane: spec.is_control_plane(name), domain, why })
        })
        .collect();
    let domain = machine.domain.as_ref().map(FailureDomain::as_str);
    let lost = one_too_many(&lost, control_plane, domain, &spec.policy)?;
    Some(held(name, lost.name, &lost.why))
}

/// Returns the machine that is out of service and leaves no room for another one beside it.
fn one_too_many<'a, 'b>(
    lost: &'b [Lost<'a>],
    control_plane: bool,
    domain: Option<&str>,
    policy: &Policy,
) -> Option<&'b Lost<'a>> {
    let mut beside = lost.iter().filter(|lost| {
        lost.control_plane == control_plane && (control_plane || lost.domain == domain)
    });
    let most = if control_plane { 1 } else { at_once(policy) };
    beside.nth(most - 1)
}

fn held(name: &MachineName, lost: &MachineName, why: &str) -> Finding {
    Finding::beside_out_of_service(name, &name.into(), lost, why)
}

/// Returns the reason why a machine does not serve although it should; none before there is a cluster.
pub(super) fn out(
    name: &MachineName,
    facts: &MachineFacts,
    now: Timestamp,
    etcd: &EtcdState<'_>,
    spec: &ClusterSpec,
) -> Option<String> {
    let voters = match etcd {
        EtcdState::None => return None,
        EtcdState::Members(etcd) => Voters::from_inventory(etcd),
        EtcdState::Unknown(_) => Voters::default(),
    };
    let node = facts.kubernetes.current(now);
    // A machine that was never seen in the cluster is not missed in it.
    let is_expected = facts.recorded.is_some()
        || voters.has(name)
        || node.is_some_and(|node| *node != NodeState::Absent);
    match facts.ownership.current(now) {
        Some(Ownership::Booting) => return None,
        Some(Ownership::Away) => return Some("it is not back yet".to_owned()),
        None => return is_expected.then(|| facts.ownership.why_not(now)),
        Some(Ownership::Foreign) => return is_expected.then(|| "it is foreign".to_owned()),
        Some(ownership @ (Ownership::NotProvided | Ownership::Provided)) => {
            return is_expected.then(|| format!("it is {ownership}"));
        }
        Some(Ownership::Maintenance) => {
            return is_expected.then(|| "it is in maintenance".to_owned());
        }
        Some(Ownership::Ours) => {}
    }
    if voters.has(name) && !voters.is_healthy(name) {
        return Some("its member of etcd is not healthy".to_owned());
    }
    match node {
        Some(NodeState::Absent) => return Some("its node is not registered".to_owned()),
        Some(NodeState::NotReady) if expects_ready(spec) => {
            return Some("its node is not ready".to_owned());
        }
        Some(NodeState::NotReady | NodeState::Ready) | None => {}
    }
    if let Some(unwell) = facts.unwell.current(now).filter(|unwell| !unwell.is_empty()) {
        return Some(unwell.join(", "));
    }
    facts.disturbed.map(|_| "it was disturbed, and not seen in service since".to_owned())
}

/// Holds changes back where machines are out of service that cannot be waited for. Workers follow the control planes,
/// so that they stay as they are with them.
pub(super) fn hold(machines: &mut [MachineAssessment<'_>], policy: &Policy) {
    let lost: Vec<Lost<'_>> = machines.iter().filter_map(Lost::of).collect();
    let mut control_planes_wait = None;
    for machine in machines.iter_mut() {
        if machine.out.is_some() || !matches!(machine.disposition, Disposition::Change(_)) {
            continue;
        }
        let holds = one_too_many(&lost, machine.control_plane, machine.domain, policy)
            .or(control_planes_wait);
        if machine.control_plane {
            control_planes_wait = holds;
        }
        if let Some(Lost { name, why, .. }) = holds {
            machine.disposition = Disposition::Held(held(machine.name, name, why));
        }
    }
}

/// As many workers of one failure domain as may be out of service at the same time.
pub(super) fn at_once(policy: &Policy) -> usize {
    usize::try_from(policy.workers_at_once.max(1)).unwrap_or(1)
}

/// A machine that is out of service, and that no step can wait for.
struct Lost<'a> {
    name: &'a MachineName,
    control_plane: bool,
    domain: Option<&'a str>,
    why: String,
}

impl<'a> Lost<'a> {
    fn of(machine: &MachineAssessment<'a>) -> Option<Self> {
        let why = machine.out.clone().filter(|_| machine.disposition.is_skipped())?;
        let (control_plane, domain) = (machine.control_plane, machine.domain);
        Some(Self { name: machine.name, control_plane, domain, why })
    }
}
