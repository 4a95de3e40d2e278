//! The differences between two plans, step by step.

use std::collections::BTreeMap;
use std::fmt;

use domain::Target;

use crate::plan::{Body, Plan};
use crate::step::{Step, StepNumber};

/// One difference.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PlanDifference {
    /// A step that only the first plan has.
    Removed(String),
    /// A step that only the second plan has.
    Added(String),
    /// A step that both have, and what of it differs.
    Changed(String, &'static str),
    /// Something of the plan as a whole.
    Whole(&'static str),
}

/// Everything that differs, in the order of the second plan; what is gone comes last. When a plan was made
/// does not matter.
pub fn compare<A, B>(first: &Plan<A>, second: &Plan<B>) -> Vec<PlanDifference> {
    let mut differences = Vec::new();
    let (old, new) = (first.body(), second.body());
    let Body { cluster, identity, goal, made: _, parent, overrides, steps: _, skipped } = old;
    for (what, same) in [
        ("cluster", *cluster == new.cluster && *identity == new.identity),
        ("goal", *goal == new.goal),
        ("parent", *parent == new.parent),
        ("overrides", *overrides == new.overrides),
        ("what is skipped", *skipped == new.skipped),
    ] {
        if !same {
            differences.push(PlanDifference::Whole(what));
        }
    }
    let (mut olds, news) = (by_key(&old.steps), by_key(&new.steps));
    let (old_keys, new_keys) = (keys_by_number(&old.steps), keys_by_number(&new.steps));
    for (key, step) in &news.0 {
        match olds.1.remove(key) {
            None => differences.push(PlanDifference::Added(name(step))),
            Some(before) => {
                for what in changed(before, step, &old_keys, &new_keys) {
                    differences.push(PlanDifference::Changed(name(step), what));
                }
            }
        }
    }
    let gone = olds.0.iter().filter(|(key, _)| olds.1.contains_key(key));
    differences.extend(gone.map(|(_, step)| PlanDifference::Removed(name(step))));
    differences
}

impl fmt::Display for PlanDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed(step) => write!(f, "- {step}"),
            Self::Added(step) => write!(f, "+ {step}"),
            Self::Changed(step, what) => write!(f, "~ {step}: {what}"),
            Self::Whole(what) => write!(f, "~ {what}"),
        }
    }
}

/// Identifies a step across plans: kind, target, n-th occurrence.
type Key<'a> = (&'static str, &'a Target, usize);

/// Steps in their order, and by what they are recognised by.
type Keyed<'a> = (Vec<(Key<'a>, &'a Step)>, BTreeMap<Key<'a>, &'a Step>);

fn by_key(steps: &[Step]) -> Keyed<'_> {
    let mut counts: BTreeMap<(&str, &Target), usize> = BTreeMap::new();
    let mut ordered = Vec::new();
    for step in steps {
        let (kind, on) = (step.action.kind(), &step.on);
        let count = counts.entry((kind, on)).or_default();
        ordered.push(((kind, on, *count), step));
        *count += 1;
    }
    let by_key = ordered.iter().copied().collect();
    (ordered, by_key)
}

fn keys_by_number(steps: &[Step]) -> BTreeMap<StepNumber, Key<'_>> {
    by_key(steps).0.into_iter().map(|(key, step)| (step.number, key)).collect()
}

/// Returns the differences between two steps that do the same. Their numbers do not matter, what they wait for does.
fn changed(
    old: &Step,
    new: &Step,
    old_keys: &BTreeMap<StepNumber, Key<'_>>,
    new_keys: &BTreeMap<StepNumber, Key<'_>>,
) -> Vec<&'static str> {
    let Step {
        number: _,
        action,
        on: _,
        after,
        preconditions,
        proof,
        gates,
        time_out,
        leaves,
        recovery,
    } = old;
    let sorted = |after: &[StepNumber], keys: &BTreeMap<StepNumber, Key<'_>>| {
        let mut keys: Vec<_> = after
            .iter()
            .map(|number| keys.get(number).map(|(kind, on, at)| (*kind, on.to_string(), *at)))
            .collect();
        keys.sort();
        keys
    };
    let rows = [
        ("what is done", *action == new.action),
        ("order", sorted(after, old_keys) == sorted(&new.after, new_keys)),
        ("preconditions", *preconditions == new.preconditions),
        ("quorum", *proof == new.proof),
        ("gates", *gates == new.gates),
        ("time-out", *time_out == new.time_out),
        ("recovery", *leaves == new.leaves && *recovery == new.recovery),
    ];
    rows.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect()
}

fn name(step: &Step) -> String {
    let config = step.action.config().map(|given| format!(" {}", given.config.short()));
    format!("{} {}{}", step.action.verb(), step.on, config.unwrap_or_default())
}
