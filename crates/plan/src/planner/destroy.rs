//! The end of a cluster: every machine of it gives up its configuration and its data.
//!
//! Always holds: only machines that know our credentials are touched, each only as the installation that was seen.
//! Control planes follow one another, so that what is left of etcd can be counted.

use super::builder::{Builder, Extras};
use super::quorum::Voters;
use super::survey::another_installation;
use super::{Planned, Request, finished};
use crate::inventory::{MachineFacts, Standing};
use crate::names::MachineName;
use crate::plan::LeftOut;
use crate::rule::{Finding, Refusal, Rule};
use crate::spec::Place;
use crate::step::{Action, Precondition, StepNumber};

pub(super) fn destroy(request: &Request<'_>) -> Result<Planned, Refusal> {
    let inventory = request.inventory;
    let mut voters = inventory.etcd.current(inventory.taken).map(Voters::seen);
    // A window is for machines that serve afterwards.
    let mut builder = Builder::new(&[]);
    let mut chain: Option<StepNumber> = None;
    let (mut left_out, mut findings) = (Vec::new(), Vec::new());
    for (machine, place) in request.spec.machines() {
        let name = &machine.name;
        let node = match ending(name, inventory.machines.get(name), request) {
            Ending::Over => continue,
            Ending::LeftOut(why) => {
                left_out.push(LeftOut { machine: name.to_string(), why });
                continue;
            }
            Ending::Reset(node, finding) => {
                findings.extend(finding);
                node
            }
        };
        let mut extras = Extras { preconditions: vec![node], proof: None };
        let control_plane = matches!(place, Place::ControlPlane);
        if let Some(voters) = voters.as_mut().filter(|voters| voters.has(name)) {
            voters.pause(name);
            extras.proof = Some(voters.count());
        }
        let after = chain.filter(|_| control_plane).into_iter().collect();
        let number = builder.add(Action::ResetMachine, name, after, extras);
        if control_plane {
            chain = Some(number);
        }
    }
    if !builder.steps.is_empty() {
        findings.push(Finding {
            rule: Rule::QuorumDestroy,
            step: None,
            machine: None,
            message: format!(
                "{} machines would lose their configuration and data, and etcd its members",
                builder.steps.len()
            ),
            hint: "`ichor destroy` asks whether that is meant, and says so in the plan".to_owned(),
        });
    }
    finished(request, builder.steps, left_out, findings)
}

/// What is to be done about a machine.
enum Ending {
    /// It waits for configuration already.
    Over,
    /// Nothing, for this reason.
    LeftOut(String),
    /// It is reset, as the installation that it is; a finding says that another one was expected.
    Reset(Precondition, Option<Finding>),
}

fn ending(name: &MachineName, facts: Option<&MachineFacts>, request: &Request<'_>) -> Ending {
    let now = request.inventory.taken;
    let Some(facts) = facts else { return Ending::LeftOut("nobody looked at it".to_owned()) };
    match facts.standing.current(now) {
        Some(Standing::Maintenance) => return Ending::Over,
        Some(Standing::Another) => {
            return Ending::LeftOut("it belongs to another cluster".to_owned());
        }
        None => return Ending::LeftOut(facts.standing.why_not(now)),
        Some(Standing::Ours) => {}
    }
    let Some(node) = facts.node.current(now) else {
        return Ending::LeftOut("its identity is not known".to_owned());
    };
    Ending::Reset(Precondition::NodeIs(node.clone()), another_installation(name, facts, node))
}
