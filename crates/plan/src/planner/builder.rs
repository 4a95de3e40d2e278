//! Steps on their way into a plan.

use domain::{MachineName, Target};

use crate::action::Action;
use crate::spec::Policy;
use crate::step::{Gate, Precondition, QuorumProof, Step, StepNumber};

pub(super) struct Builder<'a> {
    pub(super) steps: Vec<Step>,
    policy: &'a Policy,
    /// Windows are for machines that serve afterwards.
    windows: bool,
}

/// The parts of a step beyond its action.
#[derive(Default)]
pub(super) struct Extras {
    pub(super) preconditions: Vec<Precondition>,
    pub(super) proof: Option<QuorumProof>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(policy: &'a Policy) -> Self {
        Self { steps: Vec::new(), policy, windows: !policy.windows.is_empty() }
    }

    pub(super) fn without_windows(policy: &'a Policy) -> Self {
        Self { windows: false, ..Self::new(policy) }
    }

    pub(super) fn add(
        &mut self,
        action: Action,
        machine: &MachineName,
        mut after: Vec<StepNumber>,
        extras: Extras,
    ) -> StepNumber {
        let number = StepNumber(u32::try_from(self.steps.len() + 1).unwrap_or(u32::MAX));
        after.sort_unstable();
        after.dedup();
        let gated = self.windows && action.nature().disturbs;
        let on = Target::from(machine);
        let outcome = action.outcome(&on);
        let Extras { preconditions, proof } = extras;
        self.steps.push(Step {
            number,
            after,
            preconditions,
            proof,
            gates: gated.then(|| Gate::Windows(self.policy.windows.clone())).into_iter().collect(),
            time_out: action.limits(self.policy).time_out,
            leaves: outcome.leaves,
            recovery: outcome.recovery,
            action,
            on,
        });
        number
    }
}
