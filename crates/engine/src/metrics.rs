//! Counters of what happens: the text that Prometheus reads.
//!
//! In: events. Out: counters by what was done and how it ended. Names of machines are not labels, so that the number
//! of series does not grow with the cluster.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::event::Event;
use crate::ports::EventSink;

/// Counters of everything that was told.
#[derive(Debug)]
pub struct Metrics {
    cluster: String,
    counted: Mutex<Counted>,
}

#[derive(Clone, Debug, Default)]
struct Counted {
    /// The number and duration of steps, by the kind of their action and their result.
    steps: BTreeMap<(&'static str, &'static str), (u64, Duration)>,
    /// Plans that came to their end, by whether all of it was done.
    plans: BTreeMap<bool, u64>,
    machines: usize,
    unreachable: usize,
}

impl Metrics {
    /// Returns counters at zero.
    pub fn new(cluster: &str) -> Self {
        Self { cluster: cluster.to_owned(), counted: Mutex::default() }
    }
}

impl EventSink for Metrics {
    fn emit(&self, event: &Event) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Observed { machines, unreachable } => {
                (counted.machines, counted.unreachable) = (*machines, unreachable.len());
            }
            Event::StepDone { place, took } => {
                let (count, time) = counted.steps.entry((place.action, DONE)).or_default();
                *count += 1;
                *time += *took;
            }
            Event::StepFailed { place, code, .. } => {
                counted.steps.entry((place.action, code)).or_default().0 += 1;
            }
            Event::Ended { left, .. } => *counted.plans.entry(*left == 0).or_default() += 1,
            Event::Planned { .. }
            | Event::Replanned { .. }
            | Event::Approved { .. }
            | Event::LeaseAwaited { .. }
            | Event::LeaseAcquired { .. }
            | Event::LeaseUnavailable { .. }
            | Event::LeaseLost { .. }
            | Event::Stopping
            | Event::GateShut { .. }
            | Event::StepBegun(_)
            | Event::StepWaits { .. } => {}
        }
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let cluster = &self.cluster;
        let Counted { steps, plans, machines, unreachable } = counted;
        let mut family = |name: &str, kind: &str, help: &str, series: Vec<(String, u64)>| {
            writeln!(f, "# HELP {name} {help}\n# TYPE {name} {kind}")?;
            for (labels, value) in series {
                writeln!(f, "{name}{{cluster=\"{cluster}\"{labels}}} {value}")?;
            }
            Ok(())
        };
        let one = |value: usize| vec![(String::new(), value as u64)];
        family("ichor_machines", "gauge", "Machines of the spec.", one(machines))?;
        let help = "Machines that did not answer when they were last observed.";
        family("ichor_machines_unreachable", "gauge", help, one(unreachable))?;
        let ended =
            plans.iter().map(|(complete, count)| (format!(",complete=\"{complete}\""), *count));
        let help = "Plans that have ended.";
        family("ichor_plans_total", "counter", help, ended.collect())?;
        let counts = steps.iter().map(|((action, outcome), (count, _))| {
            (format!(",action=\"{action}\",outcome=\"{outcome}\""), *count)
        });
        let help = "Steps by action and result.";
        family("ichor_steps_total", "counter", help, counts.collect())?;
        let done = steps.iter().filter(|((_, outcome), _)| *outcome == DONE);
        let times =
            done.map(|((action, _), (_, time))| (format!(",action=\"{action}\""), time.as_secs()));
        let help = "Duration of the steps that are done.";
        family("ichor_step_seconds_total", "counter", help, times.collect())
    }
}

/// The result of a step that did not fail.
const DONE: &str = "done";

#[cfg(test)]
mod tests {
    use plan::{StepNumber, Timestamp};

    use super::*;
    use crate::event::StepPlace;

    #[test]
    fn what_prometheus_reads() {
        let metrics = Metrics::new("home");
        let place = |action| StepPlace {
            at: Timestamp(0),
            step: StepNumber(1),
            of: 2,
            on: domain::Target::Machine("cp-1".parse().unwrap()),
            action,
            verb: "reboot",
        };
        metrics.emit(&Event::Observed {
            machines: 3,
            unreachable: vec![("cp-1".parse().unwrap(), String::new())],
        });
        for took in [2, 3].map(Duration::from_secs) {
            metrics.emit(&Event::StepDone { place: place("reboot-machine"), took });
        }
        let (code, message) = ("engine.timed-out", String::new());
        metrics.emit(&Event::StepFailed { place: place("reboot-machine"), code, message });
        let plan = "5".repeat(64).parse().unwrap();
        metrics.emit(&Event::Ended { plan, done: 2, left: 1 });
        let text = metrics.to_string();
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            values,
            [
                "ichor_machines{cluster=\"home\"} 3",
                "ichor_machines_unreachable{cluster=\"home\"} 1",
                "ichor_plans_total{cluster=\"home\",complete=\"false\"} 1",
                "ichor_steps_total{cluster=\"home\",action=\"reboot-machine\",outcome=\"done\"} 2",
                "ichor_steps_total{cluster=\"home\",action=\"reboot-machine\",outcome=\"engine.timed-out\"} 1",
                "ichor_step_seconds_total{cluster=\"home\",action=\"reboot-machine\"} 5",
            ]
        );
        assert_eq!(text.matches("# TYPE ").count(), 5);
    }
}
