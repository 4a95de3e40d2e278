//! The end of a cluster: every machine of it gives up its configuration and its data, or goes back to its provider.
//!
//! Always holds: only machines that know our credentials are touched, each only as the installation that was seen, and
//! those that a provider made for this cluster, each by the provider's own identity of it.
//! Control planes follow one another, so that what is left of etcd can be counted.

use domain::{Instance, MachineFacts, MachineName, Ownership};

use super::assessment::{another_installation, unknown_orphans};
use super::builder::{Builder, Extras};
use super::quorum::Voters;
use super::{Planned, PlanningInput, into_plan};
use crate::action::{Action, DestroyMachine, ResetMachine};
use crate::finding::{Finding, Refusal};
use crate::plan::{Skipped, overridden};
use crate::rule::Rule;
use crate::step::{Precondition, StepNumber};

pub(super) fn plan(input: &PlanningInput<'_>) -> Result<Planned, Refusal> {
    let inventory = input.inventory;
    let mut voters = inventory.etcd.current(inventory.taken).map(Voters::from_inventory);
    let mut builder = Builder::without_windows(&input.spec.policy);
    let mut chain: Option<StepNumber> = None;
    let (mut skipped, mut refused) = (Vec::new(), Vec::new());
    let mut ends = Vec::new();
    for (machine, _) in input.spec.machines() {
        let name = &machine.name;
        match ending(name, inventory.machines.get(name), input) {
            Ending::Over => {}
            Ending::Unknown(why) => skipped.push(Skipped { on: name.into(), rule: None, why }),
            Ending::Refused(finding) => {
                let (rule, why) = (finding.rule.name().to_owned(), finding.message.clone());
                skipped.push(Skipped { on: name.into(), rule: Some(rule), why });
                refused.push(finding);
            }
            Ending::Reset(node) => ends.push((name, Action::from(ResetMachine {}), node)),
            Ending::Destroy(instance) => ends.push(destroy(name, instance)),
        }
    }
    // What no machine of the spec is goes as well: nothing is left behind at the provider.
    match inventory.orphans.current(inventory.taken) {
        None => skipped.extend(unknown_orphans(input.spec, inventory)),
        Some(orphans) => {
            ends.extend(orphans.iter().map(|orphan| destroy(&orphan.name, &orphan.instance)));
        }
    }
    for (name, action, assumed) in ends {
        let mut extras = Extras { preconditions: vec![assumed], proof: None };
        let control_plane = input.spec.is_control_plane(name);
        if let Some(voters) = voters.as_mut().filter(|voters| voters.has(name)) {
            voters.pause(name);
            extras.proof = Some(voters.count());
        }
        let after = chain.filter(|_| control_plane).into_iter().collect();
        let number = builder.add(action, name, after, extras);
        if control_plane {
            chain = Some(number);
        }
    }
    let findings = match builder.steps.len() {
        0 => refused,
        count => vec![Finding::destroys(count)],
    };
    into_plan(input, builder.steps, skipped, findings)
}

/// The way to end a machine.
enum Ending<'a> {
    /// It is in maintenance already.
    Over,
    /// Nothing, for this reason.
    Unknown(String),
    /// Nothing, because of a rule.
    Refused(Finding),
    /// It is reset, as the installation that it is.
    Reset(Precondition),
    /// Its provider takes it away.
    Destroy(&'a Instance),
}

fn destroy<'a>(
    name: &'a MachineName,
    instance: &Instance,
) -> (&'a MachineName, Action, Precondition) {
    let assumed = Precondition::InstanceIs(instance.id.clone());
    (name, DestroyMachine { instance: instance.clone() }.into(), assumed)
}

fn ending<'a>(
    name: &MachineName,
    facts: Option<&'a MachineFacts>,
    input: &PlanningInput<'_>,
) -> Ending<'a> {
    let now = input.inventory.taken;
    let Some(facts) = facts else { return Ending::Unknown("not observed".to_owned()) };
    if input.spec.machine(name).is_some_and(|(machine, _)| machine.class().is_some()) {
        return match facts.instance.current(now) {
            Some(Some(instance)) => Ending::Destroy(instance),
            Some(None) => Ending::Over,
            None => Ending::Unknown(facts.instance.why_not(now)),
        };
    }
    match facts.ownership.current(now) {
        Some(Ownership::Maintenance) => return Ending::Over,
        Some(Ownership::Foreign) => {
            return Ending::Unknown("it belongs to another cluster".to_owned());
        }
        Some(Ownership::Booting) => {
            return Ending::Unknown("it has its configuration, and boots".to_owned());
        }
        Some(Ownership::Away) => {
            return Ending::Unknown("it was disturbed, and is not back yet".to_owned());
        }
        None => return Ending::Unknown(facts.ownership.why_not(now)),
        Some(ownership @ (Ownership::NotProvided | Ownership::Provided)) => {
            return Ending::Unknown(ownership.to_string());
        }
        Some(Ownership::Ours) => {}
    }
    let Some(node) = facts.node.current(now) else {
        return Ending::Unknown("its identity is not known".to_owned());
    };
    match another_installation(name, facts, node) {
        Some(finding) if !overridden(input.overrides, Rule::IdentityNode, Some(name)) => {
            Ending::Refused(finding)
        }
        _ => Ending::Reset(Precondition::NodeIs(node.clone())),
    }
}
