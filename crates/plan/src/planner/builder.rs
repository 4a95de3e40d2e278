//! Steps on their way into a plan.

use crate::names::MachineName;
use crate::step::{Action, Gate, Precondition, Proof, Step, StepNumber};
use crate::time::Window;

pub(super) struct Builder<'a> {
    pub(super) steps: Vec<Step>,
    windows: &'a [Window],
}

/// What a step has beyond its action.
#[derive(Default)]
pub(super) struct Extras {
    pub(super) preconditions: Vec<Precondition>,
    pub(super) proof: Option<Proof>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(windows: &'a [Window]) -> Self {
        Self { steps: Vec::new(), windows }
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
        let waits = action.is_disruptive() && !self.windows.is_empty();
        let gates = waits.then(|| Gate::Windows(self.windows.to_vec()));
        let Extras { preconditions, proof } = extras;
        self.steps.push(Step {
            number,
            machine: machine.clone(),
            after,
            preconditions,
            proof,
            gates: gates.into_iter().collect(),
            time_out: action.time_out(),
            leaves: action.leaves(machine),
            recovery: action.recovery(machine),
            action,
        });
        number
    }

    /// The first step that does something.
    pub(super) fn number_of(&self, action: &Action) -> Option<StepNumber> {
        self.steps.iter().find(|step| step.action == *action).map(|step| step.number)
    }
}
