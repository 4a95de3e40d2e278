//! The report of a plan, and whether another pass may get further.

use std::collections::BTreeSet;

use domain::{Digest, ErrorKind, Inventory, MachineFacts, Ownership, Target};
use plan::{Approved, ChangeKind, Plan, Rule, Skipped, Step, StepNumber};

use crate::error::{self, PortError};

/// The report of a plan.
#[derive(Debug)]
pub struct Report {
    /// The plan.
    pub plan: Digest,
    /// The steps that are done.
    pub done: BTreeSet<StepNumber>,
    /// The steps that have failed.
    pub failures: Vec<Failure>,
    /// The steps that were not started.
    pub left: Vec<StepNumber>,
    /// The machines and problems that the plan left out.
    pub skipped: Vec<Skipped>,
    /// A stop was asked for.
    pub stopped: bool,
    /// Machines were away or not made yet when it was planned, or etcd did not tell its members, so that what they
    /// need was not known.
    pub needs_another_pass: bool,
}

/// A step that has failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The step.
    pub step: StepNumber,
    /// The target.
    pub on: Target,
    /// The failure, for people.
    pub error: PortError,
    /// The state that is left behind.
    pub leaves: String,
    /// The command that helps.
    pub recovery: String,
}

impl Failure {
    pub(super) fn new(step: &Step, error: PortError) -> Self {
        Self {
            step: step.number,
            on: step.on.clone(),
            error,
            leaves: step.leaves.clone(),
            recovery: step.recovery.clone(),
        }
    }
}

impl Report {
    /// Returns whether all steps of the plan are done.
    pub fn is_complete(&self) -> bool {
        self.failures.is_empty() && self.left.is_empty()
    }

    /// Returns the report of a plan of which nothing was started, because a stop was asked for.
    pub(crate) fn stopped<State>(plan: &Plan<State>) -> Self {
        Self {
            plan: plan.hash(),
            done: BTreeSet::new(),
            failures: Vec::new(),
            left: plan.steps().iter().map(|step| step.number).collect(),
            skipped: plan.body().skipped.clone(),
            stopped: true,
            needs_another_pass: false,
        }
    }

    /// Returns the same with everything done.
    pub(crate) fn completed(self) -> Self {
        let (failures, left, skipped) = (Vec::new(), Vec::new(), Vec::new());
        Self { failures, left, skipped, ..self }
    }

    /// Another pass may get further: this one did something, and what failed, or was not known when it was planned, may
    /// pass.
    pub(crate) fn goes_on(&self) -> bool {
        // A machine that has to be configured again is a reason to plan again, though nothing was done.
        let is_reset = |failure: &Failure| failure.error.code == error::IN_MAINTENANCE;
        (!self.is_complete() || self.needs_another_pass)
            && !self.stopped
            && (!self.done.is_empty() || self.failures.iter().any(is_reset))
            && self.failures.iter().all(|failure| {
                // A machine that does not come back is a reason to look, not to go on with the next one; and a lease is not had
                // sooner by another plan.
                failure.error.kind == ErrorKind::Retryable
                    && failure.error.code != error::TIMED_OUT
                    && !failure.error.code.starts_with("lease.")
            })
    }
}

/// Returns whether a plan was made without knowing all that its machines need.
pub(super) fn needs_another_pass(plan: &Plan<Approved>, inventory: &Inventory) -> bool {
    let is_away =
        |facts: &MachineFacts| facts.ownership.current(inventory.taken) == Some(&Ownership::Away);
    let provides = |step: &Step| step.action.nature().change == Some(ChangeKind::Provide);
    let etcd_unknown =
        |skipped: &Skipped| skipped.rule.as_deref() == Some(Rule::QuorumUnknown.name());
    inventory.machines.values().any(is_away)
        || plan.steps().iter().any(provides)
        || plan.body().skipped.iter().any(etcd_unknown)
}
