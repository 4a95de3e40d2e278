//! Rules about a plan that ends a cluster.
//!
//! Such a plan resets machines of the cluster or gives them back to their provider, one control plane at a time, and does
//! nothing else.

use domain::Orphan;

use super::targets::complete;
use super::{Check, Findings};
use crate::finding::Finding;
use crate::rule::Rule;
use crate::step::{Precondition, Step};

impl Check<'_> {
    pub(super) fn destroy(&self, findings: &mut Findings) {
        for (target, steps) in self.graph.targets() {
            for step in steps {
                complete(step, &self.input.spec.policy, findings);
            }
            let (orphans, own): (Vec<&Step>, Vec<&Step>) =
                steps.iter().partition(|step| self.is_orphan(step));
            let is_again = |at: usize| {
                let action = &orphans[at].action;
                orphans[..at].iter().any(|earlier| earlier.action == *action)
            };
            let again = (0..orphans.len()).filter(|at| is_again(*at)).map(|at| orphans[at]);
            for again in own.iter().copied().skip(1).chain(again) {
                let message = format!("{target} has two such steps");
                findings.about_step(Rule::DestroyGoal, again, message, "make a new plan");
            }
            let Some(step) = own.first() else { continue };
            let Some((facts, _)) = self.observed(step, findings) else { continue };
            // What goes back to its provider goes as the instance that it is, whatever is installed on it.
            if step.action.destroys().is_none() {
                self.installation(step, facts, findings);
            }
            self.ownership(step, facts, findings);
            self.preconditions(step, facts, findings);
        }
        if !self.graph.steps.is_empty() {
            findings.push(Finding::destroys(self.graph.steps.len()));
        }
        self.chain(findings);
        self.count_down(findings);
    }

    /// Returns whether a step destroys an orphan.
    fn is_orphan(&self, step: &Step) -> bool {
        let Some(instance) = step.action.destroys() else { return false };
        let is_it = |orphan: &Orphan| {
            orphan.instance == *instance && step.on.machine() == Some(&orphan.name)
        };
        let inventory = self.input.inventory;
        let orphans = inventory.orphans.current(inventory.taken);
        orphans.is_some_and(|orphans| orphans.iter().any(is_it))
            && step.preconditions.contains(&Precondition::InstanceIs(instance.id.clone()))
    }
}
