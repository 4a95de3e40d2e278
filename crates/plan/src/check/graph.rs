//! Which steps are certainly done before which.

use std::collections::BTreeMap;

use super::at;
use crate::names::MachineName;
use crate::step::Step;

/// The steps, with everything that each one waits for, near and far.
pub(super) struct Graph<'a> {
    pub(super) steps: &'a [Step],
    /// For each step one bit for each step that is done before it.
    before: Vec<Vec<u64>>,
    by_machine: BTreeMap<&'a MachineName, Vec<&'a Step>>,
    /// Whether each step is on a machine that was marked.
    marked: Vec<bool>,
}

impl<'a> Graph<'a> {
    /// Follows the steps; `None` when they are not numbered from one, or one waits for a later one.
    pub(super) fn new(steps: &'a [Step]) -> Option<Self> {
        let words = steps.len().div_ceil(BITS);
        let mut before: Vec<Vec<u64>> = Vec::with_capacity(steps.len());
        let mut by_machine: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (index, step) in steps.iter().enumerate() {
            if at(step.number) != index + 1 {
                return None;
            }
            let mut own = vec![0; words];
            for number in &step.after {
                let earlier = at(*number).checked_sub(1).filter(|earlier| *earlier < index)?;
                for (word, more) in own.iter_mut().zip(&before[earlier]) {
                    *word |= more;
                }
                own[earlier / BITS] |= 1 << (earlier % BITS);
            }
            before.push(own);
            by_machine.entry(&step.machine).or_default().push(step);
        }
        Some(Self { steps, before, by_machine, marked: vec![false; steps.len()] })
    }

    /// Marks the steps on some machines.
    pub(super) fn mark(&mut self, marks: impl Fn(&MachineName) -> bool) {
        for (machine, steps) in &self.by_machine {
            if marks(machine) {
                for step in steps {
                    self.marked[at(step.number) - 1] = true;
                }
            }
        }
    }

    pub(super) fn is_marked(&self, step: &Step) -> bool {
        self.marked[at(step.number) - 1]
    }

    /// Whether one step is certainly done before another.
    pub(super) fn precedes(&self, first: &Step, second: &Step) -> bool {
        let (first, second) = (at(first.number) - 1, at(second.number) - 1);
        self.before[second][first / BITS] >> (first % BITS) & 1 == 1
    }

    /// The steps on a machine.
    pub(super) fn on(&self, machine: &MachineName) -> &[&'a Step] {
        self.by_machine.get(machine).map_or(&[], Vec::as_slice)
    }

    /// The machines, with their steps.
    pub(super) fn machines(&self) -> impl Iterator<Item = (&'a MachineName, &[&'a Step])> {
        self.by_machine.iter().map(|(machine, steps)| (*machine, steps.as_slice()))
    }
}

const BITS: usize = 64;
