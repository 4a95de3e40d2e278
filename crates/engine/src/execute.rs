//! Carries out an approved plan, and nothing else. There are no choices left here: where a step cannot be done as it was
//! planned, it stops, and the next pass makes another plan.
//!
//! Always holds: a step is begun only when those that it waits for are done and its preconditions hold; it is in the journal
//! before it is begun. A machine that fails holds up only what waits for it.

mod act;
mod precondition;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use plan::{Approved, Digest, Gate, Kind, MachineName, Plan, Step, StepNumber};

use crate::cluster::Cluster;
use crate::error::{Error, Trouble};
use crate::event::{Event, StepPlace};
use crate::journal::Entry;
use crate::lease::{self, Claim};
use crate::ports::Ports;
use crate::provider::Effect;

/// How a plan went.
#[derive(Debug)]
pub struct Report {
    /// Which plan.
    pub plan: Digest,
    /// The steps that are done.
    pub done: BTreeSet<StepNumber>,
    /// The steps that have failed.
    pub failures: Vec<Failure>,
    /// The steps that were not begun, because one that they wait for has failed.
    pub left: Vec<StepNumber>,
}

/// A step that has failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which step.
    pub step: StepNumber,
    /// On which machine.
    pub machine: MachineName,
    /// What happened.
    pub trouble: Trouble,
    /// What is left behind.
    pub leaves: String,
    /// The command that helps.
    pub recovery: String,
}

impl Report {
    /// Whether all of it is done.
    pub fn is_complete(&self) -> bool {
        self.failures.is_empty() && self.left.is_empty()
    }
}

pub(crate) async fn execute(
    plan: &Plan<Approved>,
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<Report, Error> {
    ports.journal.take(plan.hash(), ports.holder).await?;
    let claim = Claim { holder: ports.holder.to_owned(), plan: plan.hash(), lasts: lease::LASTS };
    let leased = lease::take(&claim, cluster, ports).await?;
    let execution = Execution { plan, cluster, ports };
    let outcome = {
        let steps = pin!(execution.steps());
        let lost = pin!(async {
            if leased { lease::keep(&claim, ports).await } else { std::future::pending().await }
        });
        match select(steps, lost).await {
            Either::Left((outcome, _)) => outcome,
            // Somebody else is at work on the cluster now: whatever is under way is left to them.
            Either::Right((trouble, _)) => Err(trouble.into()),
        }
    };
    if leased {
        // Whoever waits for it gets it a minute later otherwise.
        let _ = ports.kubernetes.release_lease(&claim).await;
    }
    let report = outcome?;
    let complete = report.is_complete();
    ports.journal.append(Entry::Ended { plan: plan.hash(), complete }).await?;
    let left = report.failures.len() + report.left.len();
    ports.events.tell(&Event::Ended { plan: plan.hash(), done: report.done.len(), left });
    Ok(report)
}

/// One plan that is being carried out.
struct Execution<'a> {
    plan: &'a Plan<Approved>,
    cluster: &'a Cluster,
    ports: &'a Ports<'a>,
}

impl Execution<'_> {
    /// All steps, as many at the same time as wait for nothing.
    async fn steps(&self) -> Result<Report, Error> {
        let mut waiting: BTreeMap<StepNumber, &Step> =
            self.plan.steps().iter().map(|step| (step.number, step)).collect();
        let mut done = BTreeSet::new();
        let mut failures = Vec::new();
        let mut running = FuturesUnordered::new();
        loop {
            let ready: Vec<StepNumber> = waiting
                .values()
                .filter(|step| step.after.iter().all(|before| done.contains(before)))
                .map(|step| step.number)
                .collect();
            for number in ready {
                if let Some(step) = waiting.remove(&number) {
                    running.push(async move { (step, self.step(step).await) });
                }
            }
            let Some((step, outcome)) = running.next().await else { break };
            match outcome {
                Ok(()) => {
                    done.insert(step.number);
                }
                Err(Error::Trouble(trouble)) => failures.push(Failure {
                    step: step.number,
                    machine: step.machine.clone(),
                    trouble,
                    leaves: step.leaves.clone(),
                    recovery: step.recovery.clone(),
                }),
                // What is not written down is not done.
                Err(error) => return Err(error),
            }
        }
        let left = waiting.into_keys().collect();
        Ok(Report { plan: self.plan.hash(), done, failures, left })
    }

    async fn step(&self, step: &Step) -> Result<(), Error> {
        let begun = self.ports.clock.now();
        let outcome = self.attempt(step).await;
        match &outcome {
            Ok(()) => {
                let took = self.ports.clock.now().since(begun).duration();
                self.ports.events.tell(&Event::StepDone { place: self.place(step), took });
            }
            Err(error) => {
                let (code, message) = (error.code(), error.to_string());
                self.append(Entry::Failed {
                    plan: self.plan.hash(),
                    step: step.number,
                    code: code.to_owned(),
                    message: message.clone(),
                })
                .await?;
                let place = self.place(step);
                self.ports.events.tell(&Event::StepFailed { place, code, message });
            }
        }
        outcome
    }

    async fn attempt(&self, step: &Step) -> Result<(), Error> {
        self.gates(step)?;
        let target = self.cluster.target(&step.machine).ok_or_else(|| {
            Trouble::precondition(format!("{} is not in the spec any more", step.machine))
        })?;
        precondition::check(self, step, &target).await?;
        self.ports.events.tell(&Event::StepBegun(self.place(step)));
        self.append(Entry::Intended {
            plan: self.plan.hash(),
            step: step.number,
            what: format!("{} {}", step.action.verb(), step.machine),
        })
        .await?;
        let action = pin!(act::act(self, step, &target));
        let late = pin!(self.ports.clock.sleep(step.time_out.duration()));
        match select(action, late).await {
            Either::Left((outcome, _)) => outcome?,
            Either::Right(((), _)) => {
                return Err(Trouble {
                    code: "engine.timed-out",
                    kind: Kind::Retryable,
                    message: format!("{} took longer than {}", step.action.verb(), step.time_out),
                }
                .into());
            }
        }
        self.append(Entry::Did { plan: self.plan.hash(), step: step.number }).await
    }

    fn gates(&self, step: &Step) -> Result<(), Trouble> {
        let now = self.ports.clock.now();
        for gate in &step.gates {
            let Gate::Windows(windows) = gate;
            if !windows.iter().any(|window| window.is_open(now)) {
                return Err(Trouble {
                    code: "engine.window",
                    kind: Kind::Retryable,
                    message: format!("{} is done within {gate} only", step.action.verb()),
                });
            }
        }
        Ok(())
    }

    async fn append(&self, entry: Entry) -> Result<(), Error> {
        Ok(self.ports.journal.append(entry).await?)
    }

    /// Waits a little before the next look, and says for what.
    async fn wait(&self, step: &Step, for_what: &str) {
        let place = self.place(step);
        let for_what = for_what.to_owned();
        self.ports.events.tell(&Event::StepWaits { place, for_what });
        self.ports.clock.sleep(LOOK_AGAIN).await;
    }

    /// What a provider knows the effects of a step by.
    fn effect(&self, step: &Step) -> Effect {
        Effect { plan: self.plan.hash(), step: step.number }
    }

    fn place(&self, step: &Step) -> StepPlace {
        StepPlace {
            at: self.ports.clock.now(),
            step: step.number,
            of: self.plan.steps().len(),
            machine: step.machine.clone(),
            verb: step.action.verb(),
        }
    }
}

/// Between two looks at something that takes seconds to minutes.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
