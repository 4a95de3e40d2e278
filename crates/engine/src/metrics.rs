//! What happens, counted: the text that Prometheus reads.
//!
//! In: events. Out: counters by what was done and how it ended. Names of machines are no labels, so that the number of series
//! does not grow with the cluster.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::event::Event;
use crate::ports::Events;

/// Counters of everything that was told.
#[derive(Debug)]
pub struct Metrics {
    cluster: String,
    counted: Mutex<Counted>,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    /// How many steps, and how long they took, by what they do and how they ended.
    steps: BTreeMap<(&'static str, String), (u64, Duration)>,
    /// Plans that came to their end, by whether all of it was done.
    plans: BTreeMap<bool, u64>,
    machines: usize,
    unseen: usize,
}

impl Metrics {
    /// Nothing happened yet.
    pub fn new(cluster: &str) -> Self {
        Self { cluster: cluster.to_owned(), counted: Mutex::default() }
    }
}

impl Events for Metrics {
    fn tell(&self, event: &Event) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Observed { machines, unseen } => {
                (counted.machines, counted.unseen) = (*machines, unseen.len());
            }
            Event::StepDone { place, took } => {
                let (count, time) =
                    counted.steps.entry((place.verb, "done".to_owned())).or_default();
                *count += 1;
                *time += *took;
            }
            Event::StepFailed { place, code, .. } => {
                counted.steps.entry((place.verb, (*code).to_owned())).or_default().0 += 1;
            }
            Event::Ended { left, .. } => *counted.plans.entry(*left == 0).or_default() += 1,
            Event::Planned { .. }
            | Event::Approved { .. }
            | Event::LeaseTaken { .. }
            | Event::LeaseUnavailable { .. }
            | Event::StepBegun(_)
            | Event::StepWaits { .. } => {}
        }
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let cluster = &self.cluster;
        let Counted { steps, plans, machines, unseen } = counted;
        writeln!(f, "# HELP ichor_machines Machines of the spec.")?;
        writeln!(f, "# TYPE ichor_machines gauge")?;
        writeln!(f, "ichor_machines{{cluster=\"{cluster}\"}} {machines}")?;
        writeln!(
            f,
            "# HELP ichor_machines_unseen Machines that did not answer when last looked at."
        )?;
        writeln!(f, "# TYPE ichor_machines_unseen gauge")?;
        writeln!(f, "ichor_machines_unseen{{cluster=\"{cluster}\"}} {unseen}")?;
        writeln!(f, "# HELP ichor_plans_total Plans that came to their end.")?;
        writeln!(f, "# TYPE ichor_plans_total counter")?;
        for (complete, count) in plans {
            writeln!(
                f,
                "ichor_plans_total{{cluster=\"{cluster}\",complete=\"{complete}\"}} {count}"
            )?;
        }
        writeln!(f, "# HELP ichor_steps_total Steps, by what they do and how they ended.")?;
        writeln!(f, "# TYPE ichor_steps_total counter")?;
        for ((verb, outcome), (count, _)) in &steps {
            writeln!(
                f,
                "ichor_steps_total{{cluster=\"{cluster}\",verb=\"{verb}\",outcome=\"{outcome}\"}} \
                 {count}"
            )?;
        }
        writeln!(f, "# HELP ichor_step_seconds_total Time that steps took which were done.")?;
        writeln!(f, "# TYPE ichor_step_seconds_total counter")?;
        for ((verb, _), (_, time)) in steps.iter().filter(|((_, outcome), _)| outcome == "done") {
            writeln!(
                f,
                "ichor_step_seconds_total{{cluster=\"{cluster}\",verb=\"{verb}\"}} {}",
                time.as_secs()
            )?;
        }
        Ok(())
    }
}
