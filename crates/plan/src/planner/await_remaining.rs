//! What is left when everything was done that can be: credentials, and waits for what is not in service yet.

use domain::NodeState;

use super::Planner;
use super::assessment::{Disposition, EtcdState, MachineAssessment};
use super::builder::Extras;
use crate::action::{EtcdEffect, FetchKubeconfig};
use crate::step::StepNumber;

pub(super) fn plan(planner: &mut Planner<'_>) {
    fetch_kubeconfig(planner);
    await_voters(planner);
    await_nodes(planner);
}

/// Credentials before the last waits: they are needed to find out why something does not come up.
fn fetch_kubeconfig(planner: &mut Planner<'_>) {
    let inventory = planner.input.inventory;
    let has_one = inventory.kubeconfig.current(inventory.taken) == Some(&true);
    // Credentials from before the cluster are another one's.
    let is_new = bootstrap(planner).is_some();
    let healthy = |machine: &&MachineAssessment<'_>| {
        planner.voters.as_ref().is_none_or(|voters| voters.is_healthy(machine.name))
    };
    // A machine that still boots comes last: it may take long.
    let from = planner
        .assessment
        .control_planes()
        .filter(healthy)
        .filter(|machine| !matches!(machine.disposition, Disposition::Held(_)))
        .min_by_key(|machine| {
            matches!(machine.disposition, Disposition::Booting | Disposition::Away)
        });
    if (is_new || !has_one && inventory.kubeconfig.current(inventory.taken).is_some())
        && let Some(machine) = from
    {
        planner.step(FetchKubeconfig {}, machine, Vec::new(), Extras::default());
    }
}

/// A machine whose etcd does not come up then holds up nothing.
fn await_voters(planner: &mut Planner<'_>) {
    let assessment = planner.assessment;
    let planned =
        |machine: &&MachineAssessment<'_>| !matches!(machine.disposition, Disposition::Held(_));
    for machine in assessment.control_planes().filter(planned) {
        // One that still boots has to vote in any case.
        let boots = matches!(machine.disposition, Disposition::Booting | Disposition::Away);
        let missing = match &planner.voters {
            Some(voters) => !voters.is_healthy(machine.name),
            None => boots && !planner.awaited.contains(machine.name),
        };
        if missing {
            planner.await_voter(machine);
        }
    }
}

fn await_nodes(planner: &mut Planner<'_>) {
    let assessment = planner.assessment;
    let begins = matches!(assessment.etcd, EtcdState::None);
    let bootstrap = bootstrap(planner);
    for machine in &assessment.machines {
        let in_service = match machine.facts.kubernetes.current(machine.now) {
            Some(NodeState::Ready) => machine.facts.disturbed.is_none(),
            Some(NodeState::NotReady) => {
                !planner.await_node().ready && machine.facts.disturbed.is_none()
            }
            Some(NodeState::Absent) | None => false,
        };
        let awaited = match machine.disposition {
            Disposition::Provide(_)
            | Disposition::Unknown(_)
            | Disposition::Refused(_)
            | Disposition::Held(_) => true,
            // Where etcd was there before, the change has waited for its machine already.
            Disposition::Change(_) => !machine.control_plane || !begins,
            Disposition::Join | Disposition::Booting | Disposition::Away => false,
            Disposition::Same => in_service,
        };
        if !awaited && !planner.awaited.contains(machine.name) {
            let wait = planner.await_node();
            planner.step(wait, machine, bootstrap.into_iter().collect(), Extras::default());
        }
    }
}

/// The step that begins etcd, if this plan has one.
fn bootstrap(planner: &Planner<'_>) -> Option<StepNumber> {
    let mut steps = planner.builder.steps.iter();
    let begins = steps.find(|step| step.action.nature().etcd == EtcdEffect::Begin);
    begins.map(|step| step.number)
}
