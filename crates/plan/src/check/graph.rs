//! The order of steps: which of them are certainly done before which.

use std::collections::BTreeMap;

use domain::{MachineName, Target};

use super::at;
use crate::step::Step;

/// The steps, with everything that each one waits for, near and far.
pub(super) struct Graph<'a> {
    pub(super) steps: &'a [Step],
    /// For each step one bit for each step that is done before it.
    before: Vec<Vec<u64>>,
    by_target: BTreeMap<&'a Target, Vec<&'a Step>>,
    /// True for each step on a machine that was marked.
    marked: Vec<bool>,
}

impl<'a> Graph<'a> {
    /// Follows the steps; `None` when they are not numbered from one, or one waits for a later one.
    pub(super) fn new(steps: &'a [Step]) -> Option<Self> {
        let words = steps.len().div_ceil(BITS);
        let mut before: Vec<Vec<u64>> = Vec::with_capacity(steps.len());
        let mut by_target: BTreeMap<_, Vec<_>> = BTreeMap::new();
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
            by_target.entry(&step.on).or_default().push(step);
        }
        Some(Self { steps, before, by_target, marked: vec![false; steps.len()] })
    }

    /// Marks the steps on some machines.
    pub(super) fn mark(&mut self, marks: impl Fn(&MachineName) -> bool) {
        for (target, steps) in &self.by_target {
            if target.machine().is_some_and(&marks) {
                for step in steps {
                    self.marked[at(step.number) - 1] = true;
                }
            }
        }
    }

    pub(super) fn is_marked(&self, step: &Step) -> bool {
        self.marked[at(step.number) - 1]
    }

    /// Returns whether one step is certainly done before another.
    pub(super) fn precedes(&self, first: &Step, second: &Step) -> bool {
        let (first, second) = (at(first.number) - 1, at(second.number) - 1);
        self.before[second][first / BITS] >> (first % BITS) & 1 == 1
    }

    /// Returns the steps on a target.
    pub(super) fn on(&self, target: &Target) -> &[&'a Step] {
        self.by_target.get(target).map_or(&[], Vec::as_slice)
    }

    /// Returns the targets, with their steps.
    pub(super) fn targets(&self) -> impl Iterator<Item = (&'a Target, &[&'a Step])> {
        self.by_target.iter().map(|(target, steps)| (*target, steps.as_slice()))
    }
}

const BITS: usize = 64;
