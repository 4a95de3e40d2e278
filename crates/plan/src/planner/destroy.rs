//! The end of a cluster: every machine of it gives up its configuration and its data.
//!
//! Always holds: only machines that know our credentials are touched, each only as the installation that was seen.
//! Control planes follow one another, so that what is left of etcd can be counted.

use domain::{MachineFacts, MachineName, Standing};

use super::assessment::another_installation;
use super::builder::{Builder, Extras};
use super::quorum::Voters;
use super::{Planned, PlanningInput, into_plan};
use crate::action::ResetMachine;
use crate::plan::{Skipped, overridden};
use crate::rule::{Finding, Refusal, Rule};
use crate::spec::Place;
use crate::step::{Precondition, StepNumber};

pub(super) fn plan(input: &PlanningInput<'_>) -> Result<Planned, Refusal> {
    let inventory = input.inventory;
    let mut voters = inventory.etcd.current(inventory.taken).map(Voters::from_inventory);
    let mut builder = Builder::without_windows(&input.spec.policy);
    let mut chain: Option<StepNumber> = None;
    let (mut skipped, mut refused) = (Vec::new(), Vec::new());
    for (machine, place) in input.spec.machines() {
        let name = &machine.name;
        let node = match ending(name, inventory.machines.get(name), input) {
            Ending::Over => continue,
            Ending::Unknown(why) => {
                skipped.push(Skipped { on: name.into(), rule: None, why });
                continue;
            }
            Ending::Refused(finding) => {
                let rule = Some(finding.rule.name().to_owned());
                skipped.push(Skipped { on: name.into(), rule, why: finding.message.clone() });
                refused.push(finding);
                continue;
            }
            Ending::Reset(node) => node,
        };
        let mut extras = Extras { preconditions: vec![node], proof: None };
        let control_plane = matches!(place, Place::ControlPlane);
        if let Some(voters) = voters.as_mut().filter(|voters| voters.has(name)) {
            voters.pause(name);
            extras.proof = Some(voters.count());
        }
        let after = chain.filter(|_| control_plane).into_iter().collect();
        let number = builder.add(ResetMachine {}.into(), name, after, extras);
        if control_plane {
            chain = Some(number);
        }
    }
    let findings = match builder.steps.len() {
        0 => refused,
        count => vec![Finding {
            rule: Rule::QuorumDestroy,
            step: None,
            on: None,
            message: format!(
                "{count} machines would lose their configuration and data, and etcd its members"
            ),
            hint: "`ichor destroy` asks whether that is meant, and says so in the plan".to_owned(),
        }],
    };
    into_plan(input, builder.steps, skipped, findings)
}

/// What is to be done about a machine.
enum Ending {
    /// It is in maintenance already.
    Over,
    /// Nothing, for this reason.
    Unknown(String),
    /// Nothing, because of a rule.
    Refused(Finding),
    /// It is reset, as the installation that it is.
    Reset(Precondition),
}

fn ending(name: &MachineName, facts: Option<&MachineFacts>, input: &PlanningInput<'_>) -> Ending {
    let now = input.inventory.taken;
    let Some(facts) = facts else { return Ending::Unknown("not observed".to_owned()) };
    match facts.standing.current(now) {
        Some(Standing::Maintenance) => return Ending::Over,
        Some(Standing::Another) => {
            return Ending::Unknown("it belongs to another cluster".to_owned());
        }
        Some(Standing::Coming) => {
            return Ending::Unknown("it has its configuration, and boots".to_owned());
        }
        Some(Standing::Away) => {
            return Ending::Unknown("it was disturbed, and is not back yet".to_owned());
        }
        None => return Ending::Unknown(facts.standing.why_not(now)),
        Some(Standing::Ours) => {}
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
