//! Rules about a plan that ends a cluster.
//!
//! Such a plan resets machines of the cluster, one control plane at a time, and does nothing else.

use super::targets::complete;
use super::{Check, Findings};
use crate::rule::Rule;

impl Check<'_> {
    pub(super) fn destroy(&self, findings: &mut Findings) {
        for (target, steps) in self.graph.targets() {
            for step in steps {
                complete(step, &self.input.spec.policy, findings);
            }
            if let [_, again, ..] = steps {
                let message = format!("{target} is reset already");
                findings.about_step(Rule::DestroyGoal, again, message, "make a new plan");
            }
            let Some((facts, _)) = self.observed(steps[0], findings) else { continue };
            self.installation(steps[0], facts, findings);
            self.standing(steps[0], facts, findings);
            self.preconditions(steps[0], facts, findings);
        }
        if !self.graph.steps.is_empty() {
            let message = format!(
                "{} machines would lose their configuration and data, and etcd its members",
                self.graph.steps.len()
            );
            let hint = "`ichor destroy` asks whether that is meant, and says so in the plan";
            findings.about_plan(Rule::QuorumDestroy, message, hint);
        }
        self.chain(findings);
        self.count_down(findings);
    }
}
