//! Rules about a plan that ends a cluster.
//!
//! Such a plan resets machines of the cluster, one control plane at a time, and does nothing else; no other plan resets
//! any.

use super::targets::complete;
use super::{Check, Findings};
use crate::inventory::Standing;
use crate::rule::Rule;
use crate::step::{Action, Precondition, Step};

impl Check<'_> {
    pub(super) fn destroy(&self, findings: &mut Findings) {
        for (machine, steps) in self.graph.machines() {
            for step in steps {
                complete(step, findings);
                if step.action != Action::ResetMachine {
                    let message = format!("{} is no way to end a cluster", step.action.verb());
                    findings.about_step(Rule::DestroyGoal, step, message, "make a new plan");
                }
            }
            if let [_, again, ..] = steps {
                let message = format!("{machine} is reset already");
                findings.about_step(Rule::DestroyGoal, again, message, "make a new plan");
            }
            self.is_ours(steps[0], findings);
        }
        if let Some(step) = self.graph.steps.first() {
            let message = format!(
                "{} machines would lose their configuration and data, and etcd its members",
                self.graph.steps.len()
            );
            let hint = "`ichor destroy` asks whether that is meant, and says so in the plan";
            findings.about_step(Rule::QuorumDestroy, step, message, hint);
        }
        self.chain(findings);
        self.count_down(findings);
    }

    /// Only machines that know us are reset, as the installations that were seen.
    fn is_ours(&self, step: &Step, findings: &mut Findings) {
        let (machine, now) = (&step.machine, self.against.inventory.taken);
        let known = self.against.spec.machine(machine).is_some();
        let Some(facts) = self.against.inventory.machines.get(machine).filter(|_| known) else {
            let message = format!("{machine} is no machine of the spec that was looked at");
            return findings.about_step(Rule::IdentityMachine, step, message, "make a new plan");
        };
        match facts.standing.current(now) {
            Some(Standing::Ours) => {}
            Some(Standing::Another) => {
                let message = format!("{machine} carries the configuration of another cluster");
                return findings.about_step(
                    Rule::IdentityForeign,
                    step,
                    message,
                    "is its address right?",
                );
            }
            Some(Standing::Maintenance) | None => {
                let message = format!("{machine} does not answer as a machine of the cluster");
                return findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
            }
        }
        let node = facts.node.current(now);
        let insists = node
            .is_some_and(|node| step.preconditions.contains(&Precondition::NodeIs(node.clone())));
        if !insists {
            let message = format!("it has to insist on the installation that {machine} is");
            findings.about_step(Rule::FactsCurrent, step, message, "make a new plan");
        }
        if let (Some(recorded), Some(node)) = (&facts.recorded, node)
            && recorded != node
        {
            let message = format!("{machine} is installation {node}, and {recorded} was recorded");
            let hint =
                "is its address right? If it was installed anew, use --override identity.node";
            findings.about_machine(Rule::IdentityNode, machine, message, hint);
        }
    }
}
