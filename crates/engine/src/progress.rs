//! The progress of a plan, and an estimate of the time that it still takes.
//!
//! In: the steps of a plan and the journal, then events as they happen. How long a step takes is what the same kind
//! of step took before on this cluster; without such a record, what is usual.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::{Digest, Target, Timestamp};
use plan::{Policy, Step, StepNumber};

use crate::event::{Event, StepPlace};
use crate::journal::{Entry, Record};

/// A plan that is being carried out.
#[derive(Clone, Debug)]
pub struct PlanProgress {
    steps: BTreeMap<StepNumber, StepProgress>,
}

/// The activity of one machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Activity<'a> {
    /// The target.
    pub on: &'a Target,
    /// The kind of the action: `reboot-machine`.
    pub action: &'static str,
    /// Its verb, for people: `reboot`.
    pub verb: &'static str,
    /// The reason of the wait; empty in the first seconds.
    pub for_what: &'a str,
    /// For how long.
    pub since: Duration,
}

/// A step of the plan.
#[derive(Clone, Debug)]
struct StepProgress {
    on: Target,
    action: &'static str,
    verb: &'static str,
    after: Vec<StepNumber>,
    takes: Duration,
    state: State,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum State {
    Waiting,
    Begun { at: Timestamp, for_what: String },
    Done,
    Failed,
}

impl PlanProgress {
    /// Returns the progress of a plan of these steps, as far as the journal says that it came.
    pub fn new(plan: Digest, steps: &[Step], policy: &Policy, journal: &[Record]) -> Self {
        let durations = durations_by_action(journal);
        let part = |step: &Step| {
            let (action, verb) = (step.action.kind(), step.action.verb());
            let usual = || step.action.limits(policy).usual.duration();
            let takes = durations.get(action).copied().unwrap_or_else(usual);
            let (on, after) = (step.on.clone(), step.after.clone());
            (step.number, StepProgress { on, action, verb, after, takes, state: State::Waiting })
        };
        let mut progress = Self { steps: steps.iter().map(part).collect() };
        for record in journal {
            match &record.entry {
                // An engine that starts again looks at every step again.
                Entry::PlanStarted { plan: taken, .. } if *taken == plan => {
                    progress.steps.values_mut().for_each(|part| part.state = State::Waiting);
                }
                Entry::StepStarted { plan: of, step, .. } if *of == plan => {
                    let state = State::Begun { at: record.at, for_what: String::new() };
                    progress.set(*step, state);
                }
                Entry::StepDone { plan: of, step } if *of == plan => {
                    progress.set(*step, State::Done);
                }
                Entry::StepFailed { plan: of, step, .. } if *of == plan => {
                    progress.set(*step, State::Failed);
                }
                _ => {}
            }
        }
        progress
    }

    /// Takes in what has happened.
    pub fn record(&mut self, event: &Event) {
        match event {
            Event::StepBegun(StepPlace { at, step, .. }) => {
                self.set(*step, State::Begun { at: *at, for_what: String::new() });
            }
            Event::StepWaits { place, for_what: what } => {
                if let Some(StepProgress { state: State::Begun { for_what, .. }, .. }) =
                    self.steps.get_mut(&place.step)
                {
                    for_what.clone_from(what);
                }
            }
            Event::StepDone { place, .. } => self.set(place.step, State::Done),
            Event::StepFailed { place, .. } => self.set(place.step, State::Failed),
            _ => {}
        }
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Returns the number of steps that are done.
    pub fn done(&self) -> usize {
        self.steps.values().filter(|part| part.state == State::Done).count()
    }

    /// Returns the activities of machines now.
    pub fn activities(&self, now: Timestamp) -> impl Iterator<Item = Activity<'_>> {
        self.steps.values().filter_map(move |part| match &part.state {
            State::Begun { at, for_what } => Some(Activity {
                on: &part.on,
                action: part.action,
                verb: part.verb,
                for_what,
                since: now.since(*at).duration(),
            }),
            State::Waiting | State::Done | State::Failed => None,
        })
    }

    /// Returns the time that the rest of the plan takes, if all goes as it did before: the longest way through the
    /// steps.
    pub fn left(&self, now: Timestamp) -> Duration {
        // When each step ends, from now on; nothing for those that are not going to be begun. Steps wait for earlier ones
        // only, so one round in their order is enough.
        let mut ends: BTreeMap<StepNumber, Duration> = BTreeMap::new();
        for (number, part) in &self.steps {
            let own = match &part.state {
                State::Done => Duration::ZERO,
                State::Failed => continue,
                State::Waiting => part.takes,
                // Overdue: all that is known is that it is not done, so assume a moment more.
                State::Begun { at, .. } => {
                    part.takes.saturating_sub(now.since(*at).duration()).max(SOON)
                }
            };
            let before: Option<Vec<Duration>> =
                part.after.iter().map(|before| ends.get(before).copied()).collect();
            if let Some(before) = before {
                ends.insert(*number, before.into_iter().max().unwrap_or_default() + own);
            }
        }
        ends.into_values().max().unwrap_or_default()
    }

    fn set(&mut self, step: StepNumber, state: State) {
        if let Some(part) = self.steps.get_mut(&step) {
            part.state = state;
        }
    }
}

/// Returns the last duration of each kind of step.
fn durations_by_action(journal: &[Record]) -> BTreeMap<&str, Duration> {
    let mut begun: BTreeMap<(Digest, StepNumber), (&str, Timestamp)> = BTreeMap::new();
    let mut durations = BTreeMap::new();
    for record in journal {
        match &record.entry {
            Entry::StepStarted { plan, step, action, .. } => {
                begun.insert((*plan, *step), (action, record.at));
            }
            Entry::StepDone { plan, step } => {
                if let Some((action, at)) = begun.remove(&(*plan, *step)) {
                    durations.insert(action, record.at.since(at).duration());
                }
            }
            _ => {}
        }
    }
    durations
}

const SOON: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use domain::Span;
    use plan::{Action, FetchKubeconfig, Goal, RebootMachine};

    use super::*;

    const PLAN: &str = "5";

    #[test]
    fn what_is_left_is_the_longest_way() {
        let mut progress = new(digest(), &steps(), &[]);
        let reboot = usual(RebootMachine {});
        let kubeconfig = usual(FetchKubeconfig {});
        assert_eq!(progress.left(Timestamp(0)), 2 * reboot + kubeconfig);
        progress.record(&Event::StepBegun(place(1, 0)));
        progress.record(&Event::StepBegun(place(3, 0)));
        let second = Duration::from_secs(1);
        assert_eq!(progress.left(Timestamp(1)) + second, 2 * reboot + kubeconfig);
        let machines: Vec<String> =
            progress.activities(Timestamp(1)).map(|activity| activity.on.to_string()).collect();
        assert_eq!(machines, ["a", "c"]);
        progress.record(&Event::StepDone { place: place(1, 1), took: second });
        assert_eq!((progress.done(), progress.steps()), (1, 4));
        assert_eq!(progress.left(Timestamp(1)), reboot + kubeconfig);
        // What a failed step holds up is not waited for.
        let (code, message) = ("machine.timed-out", String::new());
        progress.record(&Event::StepFailed { place: place(2, 1), code, message });
        assert_eq!(progress.left(Timestamp(1)) + second, reboot);
    }

    #[test]
    fn steps_take_as_long_as_they_did() {
        let record = |number, at, entry| Record { number, at: Timestamp(at), entry };
        let step = StepNumber(1);
        let mut journal = vec![
            record(
                1,
                100,
                Entry::StepStarted {
                    plan: digest(),
                    step,
                    action: "reboot-machine".to_owned(),
                    on: on("a"),
                    effect: None,
                },
            ),
            record(2, 107, Entry::StepDone { plan: digest(), step }),
        ];
        let other: Digest = "6".repeat(64).parse().unwrap();
        let progress = new(other, &steps()[..2], &journal);
        assert_eq!(progress.left(Timestamp(200)), Duration::from_secs(14));
        // What the journal says about the plan itself counts.
        let progress = new(digest(), &steps()[..2], &journal);
        assert_eq!((progress.done(), progress.left(Timestamp(200))), (1, Duration::from_secs(7)));
        journal.push(record(
            3,
            300,
            Entry::PlanStarted {
                plan: digest(),
                goal: Goal::Spec,
                holder: String::new(),
                fencing: None,
            },
        ));
        assert_eq!(new(digest(), &steps()[..2], &journal).done(), 0);
    }

    /// Two reboots one after the other, one beside them, and a last step after all.
    fn steps() -> Vec<Step> {
        let step = |number, machine: &str, action: Action, after: &[u32]| Step {
            number: StepNumber(number),
            action,
            on: on(machine),
            after: after.iter().map(|number| StepNumber(*number)).collect(),
            preconditions: Vec::new(),
            proof: None,
            gates: Vec::new(),
            time_out: Span::minutes(1),
            leaves: String::new(),
            recovery: String::new(),
        };
        vec![
            step(1, "a", RebootMachine {}.into(), &[]),
            step(2, "b", RebootMachine {}.into(), &[1]),
            step(3, "c", RebootMachine {}.into(), &[]),
            step(4, "a", FetchKubeconfig {}.into(), &[2, 3]),
        ]
    }

    fn place(step: u32, at: i64) -> StepPlace {
        let (action, verb) = ("reboot-machine", "reboot");
        StepPlace { at: Timestamp(at), step: StepNumber(step), of: 4, on: on("a"), action, verb }
    }

    fn new(plan: Digest, steps: &[Step], journal: &[Record]) -> PlanProgress {
        PlanProgress::new(plan, steps, &Policy::default(), journal)
    }

    fn usual(action: impl Into<Action>) -> Duration {
        action.into().limits(&Policy::default()).usual.duration()
    }

    fn on(machine: &str) -> Target {
        Target::Machine(machine.parse().unwrap())
    }

    fn digest() -> Digest {
        PLAN.repeat(64).parse().unwrap()
    }
}
