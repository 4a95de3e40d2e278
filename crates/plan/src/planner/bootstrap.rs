//! The beginning of etcd, where there is none and nothing speaks for one that was there before.

use domain::{NodeState, Ownership};

use super::assessment::{Assessment, Disposition, EtcdState};
use super::builder::Extras;
use super::{Planner, PlanningInput, Voters};
use crate::action::BootstrapEtcd;
use crate::finding::Finding;

pub(super) fn plan(planner: &mut Planner<'_>) {
    let assessment = planner.assessment;
    if !matches!(assessment.etcd, EtcdState::None) {
        return;
    }
    // A machine that still boots holds up nothing but itself; one on which etcd was begun before has to be the first again.
    let before = planner.input.inventory.bootstrapping.as_ref();
    let mut control_planes: Vec<_> = assessment.control_planes().collect();
    control_planes.sort_by_key(|machine| {
        (Some(machine.name) != before, matches!(machine.disposition, Disposition::Booting))
    });
    let Some(first) = control_planes.first().copied() else { return };
    // What keeps etcd from starting may be in the configuration, so that comes first.
    for machine in &control_planes {
        if let Disposition::Change(change) = machine.disposition {
            planner.apply(machine, change);
        }
    }
    planner.findings.extend(unsafe_to_begin(assessment, planner.input));
    if let Some(before) = before.filter(|before| *before != first.name) {
        planner.findings.push(Finding::bootstrap_elsewhere(before));
    }
    if let Some(voters) = &mut planner.voters {
        voters.join(first.name);
    }
    let proof = planner.voters.as_ref().map(Voters::count);
    planner.chained(BootstrapEtcd {}, first, Extras { preconditions: Vec::new(), proof });
    for machine in control_planes {
        planner.await_voter(machine);
    }
}

/// Returns everything that speaks for an etcd that is there, or was there before.
fn unsafe_to_begin(assessment: &Assessment<'_>, input: &PlanningInput<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for machine in &assessment.machines {
        let name = machine.name;
        match machine.facts.ownership.current(machine.now) {
            ownership @ (None
            | Some(Ownership::Away | Ownership::NotProvided | Ownership::Provided))
                if machine.control_plane =>
            {
                let why = match ownership {
                    None => machine.facts.ownership.why_not(machine.now),
                    Some(_) => "it does not answer yet".to_owned(),
                };
                findings.push(Finding::may_hold_etcd(name, &why));
            }
            Some(Ownership::Foreign) if machine.control_plane => {
                findings.push(Finding::foreign(name));
            }
            // What it says about itself proves nothing, and so does its lack of an etcd.
            Some(Ownership::Maintenance)
                if machine.control_plane && machine.facts.recorded.is_some() =>
            {
                findings.push(Finding::in_maintenance_again(name));
            }
            Some(Ownership::Ours) if machine.facts.recorded.is_none() => {
                findings.push(Finding::configured_elsewhere(name));
            }
            _ => {}
        }
    }
    findings.extend(begun_before(input));
    findings
}

/// Evidence that this cluster's etcd has begun, wherever its control planes are now.
fn begun_before(input: &PlanningInput<'_>) -> Option<Finding> {
    let inventory = input.inventory;
    let now = inventory.taken;
    let mut evidence = Vec::new();
    if inventory.api.current(now) == Some(&true) {
        evidence.push("the Kubernetes API answers".to_owned());
    }
    for (name, facts) in &inventory.machines {
        if let Some(NodeState::Ready | NodeState::NotReady) = facts.kubernetes.current(now) {
            evidence.push(format!("{name} is registered in Kubernetes"));
        }
    }
    for (member, name) in &inventory.begun {
        evidence.push(format!("{name} ran member {member}"));
    }
    (!evidence.is_empty()).then(|| Finding::etcd_has_begun(&evidence.join(", ")))
}
