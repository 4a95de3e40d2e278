//! Rules about a plan that ends a cluster.
//!
//! Such a plan resets machines of the cluster, one control plane at a time, and does nothing else; no other plan resets
//! any.

use super::targets::complete;
use super::{Check, Findings};
use crate::rule::Rule;
use crate::step::{Action, Step};

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
        let machine = &step.machine;
        let known = self.against.spec.machine(machine).is_some();
        let Some(facts) = self.against.inventory.machines.get(machine).filter(|_| known) else {
            let message = format!("{machine} is no machine of the spec that was looked at");
            return findings.about_step(Rule::IdentityMachine, step, message, "make a new plan");
        };
        self.installation(step, facts, findings);
        self.standing(step, facts, findings);
        self.preconditions(step, facts, findings);
    }
}
