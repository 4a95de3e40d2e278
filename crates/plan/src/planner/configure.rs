//! Machines that get another configuration: control planes one at a time, then workers in batches.

use domain::ApplyMode;

use super::assessment::{Disposition, EtcdState, MachineAssessment};
use super::builder::Extras;
use super::quorum::quorum_violation;
use super::service::at_once;
use super::{Planner, Voters};
use crate::action::{ApplyConfig, HandOverLeadership, RebootMachine};
use crate::reboot::RebootClass;
use crate::render::ConfigChange;
use crate::step::{Precondition, StepNumber};

pub(super) fn plan(planner: &mut Planner<'_>) {
    let Changed { cures, healthy, others } = changed_control_planes(planner);
    // A control plane that is out of service holds up the others. Its own change may be its cure; but as long as a member
    // that stopped can be waited for, nothing else is done to etcd.
    let mut waits = Vec::new();
    if !healthy.is_empty() || !others.is_empty() {
        let out = |machine: &&MachineAssessment<'_>| {
            machine.out.is_some()
                && matches!(
                    machine.disposition,
                    Disposition::Same | Disposition::Away | Disposition::Join
                )
        };
        waits = planner.assessment.control_planes().filter(out).collect();
    }
    let votes = |planner: &Planner<'_>, machine: &MachineAssessment<'_>| {
        planner.voters.as_ref().is_some_and(|voters| voters.is_healthy(machine.name))
    };
    let (late, early): (Machines<'_>, Machines<'_>) =
        waits.into_iter().partition(|machine| votes(planner, machine));
    for machine in early {
        planner.await_control_plane(machine);
    }
    for machine in cures {
        change_control_plane(planner, machine);
    }
    for machine in late {
        planner.await_control_plane(machine);
    }
    for machine in healthy {
        change_control_plane(planner, machine);
    }
    change_workers(planner);
    // One that learns and is never promoted would hold up everything behind it, so that it comes last.
    for machine in others {
        change_control_plane(planner, machine);
    }
}

impl<'a> Planner<'a> {
    /// Hands a control plane its configuration and boots it again if that needs it.
    pub(super) fn apply(&mut self, machine: &'a MachineAssessment<'a>, change: &ConfigChange) {
        let mode = mode_of(change);
        let extras = self.quorum_guard(machine, false);
        self.chained(apply_config(machine, change, mode), machine, extras);
        if mode == ApplyMode::Staged {
            let extras = self.quorum_guard(machine, true);
            self.chained(RebootMachine {}, machine, extras);
        }
    }

    /// Returns the proof and the precondition of a step that touches a voter, or the rule that it breaks.
    fn quorum_guard(&mut self, machine: &MachineAssessment<'_>, pauses: bool) -> Extras {
        let Some(voters) = &mut self.voters else {
            self.findings.push(self.assessment.unknown_members(machine.name));
            return Extras::default();
        };
        if !voters.has(machine.name) {
            return Extras::default();
        }
        let before = voters.count();
        if pauses {
            voters.pause(machine.name);
        }
        let proof = voters.count();
        self.findings.extend(quorum_violation(proof, machine.name));
        let preconditions = vec![Precondition::MinHealthyVoters(before.healthy)];
        Extras { preconditions, proof: Some(proof) }
    }
}

type Machines<'a> = Vec<&'a MachineAssessment<'a>>;

/// The control planes that change.
#[derive(Default)]
struct Changed<'a> {
    /// Those that are out of service.
    cures: Machines<'a>,
    /// Those with a healthy voter, the leader last.
    healthy: Machines<'a>,
    /// Those without.
    others: Machines<'a>,
}

fn changed_control_planes<'a>(planner: &Planner<'a>) -> Changed<'a> {
    let assessment = planner.assessment;
    // Before there is an etcd they have changed already.
    if matches!(assessment.etcd, EtcdState::None) {
        return Changed::default();
    }
    let changed = assessment
        .control_planes()
        .filter(|machine| matches!(machine.disposition, Disposition::Change(_)));
    let (cures, sound): (Machines<'a>, Machines<'a>) =
        changed.partition(|machine| machine.out.is_some());
    let (mut healthy, others): (Machines<'a>, Machines<'a>) =
        sound.into_iter().partition(|machine| {
            planner.voters.as_ref().is_none_or(|voters| voters.is_healthy(machine.name))
        });
    let leader = assessment.leader().map(|(name, _)| name);
    healthy.sort_by_key(|machine| Some(machine.name) == leader);
    Changed { cures, healthy, others }
}

fn change_control_plane<'a>(planner: &mut Planner<'a>, machine: &'a MachineAssessment<'a>) {
    let Disposition::Change(change) = machine.disposition else { return };
    let leads = planner.assessment.leader().is_some_and(|(name, _)| name == machine.name);
    let another = planner.voters.as_ref().is_some_and(Voters::has_another);
    if change.class == RebootClass::WithReboot && leads && another {
        let extras = planner.quorum_guard(machine, false);
        planner.chained(HandOverLeadership {}, machine, extras);
    }
    planner.apply(machine, change);
    planner.await_control_plane(machine);
}

/// Batches of one failure domain each, after the control planes.
fn change_workers(planner: &mut Planner<'_>) {
    let mut domains: Vec<Domain<'_>> = Vec::new();
    for machine in planner.assessment.machines.iter().filter(|machine| !machine.control_plane) {
        let at = domains.iter().position(|domain| domain.name == machine.domain);
        let at = at.unwrap_or_else(|| {
            domains.push(Domain { name: machine.domain, ..Domain::default() });
            domains.len() - 1
        });
        domains[at].add(machine);
    }
    let at_once = at_once(&planner.input.spec.policy);
    let mut before: Vec<StepNumber> = planner.chain.into_iter().collect();
    for Domain { name: _, cures, sound, waits, lost } in domains {
        for batch in cures.chunks(at_once) {
            before = change_batch(planner, batch, &before);
        }
        if sound.is_empty() {
            continue;
        }
        // What is out of service and not waited for takes the place of one that could be changed.
        let places = at_once.saturating_sub(lost).max(1);
        let mut free = places.saturating_sub(waits.len());
        if free == 0 {
            free = places;
            for machine in waits {
                let wait = planner.await_node();
                before.push(planner.step(wait, machine, Vec::new(), Extras::default()));
                planner.awaited.insert(machine.name);
            }
        }
        for batch in sound.chunks(free) {
            before = change_batch(planner, batch, &before);
        }
    }
}

/// The workers of one failure domain.
#[derive(Default)]
struct Domain<'a> {
    name: Option<&'a str>,
    /// Those that change, and are out of service.
    cures: Machines<'a>,
    /// Those that change, and are in service.
    sound: Machines<'a>,
    /// Those that are out of service, do not change and can be waited for.
    waits: Machines<'a>,
    /// The number of machines that are out of service and cannot be waited for.
    lost: usize,
}

impl<'a> Domain<'a> {
    fn add(&mut self, machine: &'a MachineAssessment<'a>) {
        match (&machine.disposition, &machine.out) {
            (Disposition::Change(_), Some(_)) => self.cures.push(machine),
            (Disposition::Change(_), None) => self.sound.push(machine),
            (Disposition::Same | Disposition::Away | Disposition::Join, Some(_)) => {
                self.waits.push(machine);
            }
            (_, Some(_)) => self.lost += 1,
            (_, None) => {}
        }
    }
}

/// Changes workers side by side, and gives the steps that wait for them.
fn change_batch<'a>(
    planner: &mut Planner<'a>,
    batch: &[&'a MachineAssessment<'a>],
    before: &[StepNumber],
) -> Vec<StepNumber> {
    let mut done = Vec::new();
    for machine in batch {
        let Disposition::Change(change) = machine.disposition else { continue };
        let mode = mode_of(change);
        let action = apply_config(machine, change, mode);
        planner.step(action, machine, before.to_vec(), Extras::default());
        if mode == ApplyMode::Staged {
            planner.step(RebootMachine {}, machine, Vec::new(), Extras::default());
        }
        let wait = planner.await_node();
        done.push(planner.step(wait, machine, Vec::new(), Extras::default()));
    }
    done
}

fn apply_config(
    machine: &MachineAssessment<'_>,
    change: &ConfigChange,
    mode: ApplyMode,
) -> ApplyConfig {
    ApplyConfig { config: machine.digest, mode, changes: change.fields.clone() }
}

fn mode_of(change: &ConfigChange) -> ApplyMode {
    match change.class {
        RebootClass::WithReboot => ApplyMode::Staged,
        RebootClass::WithoutReboot | RebootClass::Nothing => ApplyMode::NoReboot,
    }
}
