//! One step: gates, what must hold, the lease, the intent in the journal, the effect, its end in the journal.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::{ErrorKind, MachineName};
use futures_util::future::{Either, select};
use plan::{Awaited, ChangeKind, EtcdEffect, Goal, Nature, Rule, Step};
use talos_config::Coded;

use super::guarded::Guarded;
use super::{Execution, Phase, act, cancelled, gate, in_service, precondition};
use crate::backoff::Backoff;
use crate::cluster::MachineAddress;
use crate::error::{self, Error, PortError};
use crate::event::Event;
use crate::journal::{Entry, StepEffect};
use crate::ports::Ports;

/// One step with its machine.
pub(super) struct At<'a> {
    pub(super) execution: &'a Execution<'a>,
    pub(super) step: &'a Step,
    pub(super) name: &'a MachineName,
    pub(super) ports: &'a Ports<'a>,
    /// The last reason for which the step waited.
    last_wait: &'a Mutex<Option<String>>,
}

impl Execution<'_> {
    pub(super) async fn step(&self, step: &Step) -> Result<(), Error> {
        let begun = self.ports.clock.now();
        let outcome = self.attempt(step).await;
        match &outcome {
            Ok(()) => {
                let took = self.ports.clock.now().since(begun).duration();
                self.ports.emit(&Event::StepDone { place: self.place(step), took });
            }
            Err(error) if error.code() == error::CANCELLED => {}
            Err(error) => self.fail(step, error.code(), &error.to_string()).await?,
        }
        outcome
    }

    pub(super) async fn fail(
        &self,
        step: &Step,
        code: &'static str,
        message: &str,
    ) -> Result<(), Error> {
        self.append(self.failed(step, code, message)).await?;
        let (place, message) = (self.place(step), message.to_owned());
        self.ports.emit(&Event::StepFailed { place, code, message });
        Ok(())
    }

    fn failed(&self, step: &Step, code: &str, message: &str) -> Entry {
        Entry::StepFailed {
            plan: self.plan.hash(),
            step: step.number,
            code: code.to_owned(),
            message: message.to_owned(),
        }
    }

    async fn attempt(&self, step: &Step) -> Result<(), Error> {
        let name = step
            .on
            .machine()
            .ok_or_else(|| PortError::precondition(format!("{} is not a machine", step.on)))?;
        let nature = step.action.nature();
        let needs_lease = nature.disturbs
            || nature.change == Some(ChangeKind::Configure)
            || self.joins_etcd(step);
        let guarded = Guarded { execution: self, step };
        let ports = if needs_lease {
            Ports { lifecycle: &guarded, provider: &guarded, ..*self.ports }
        } else {
            *self.ports
        };
        let last_wait = Mutex::default();
        let at = At { execution: self, step, name, ports: &ports, last_wait: &last_wait };
        let _permit = match nature.change {
            Some(_) => self.unless(Phase::Draining, self.changes.acquire()).await?.ok(),
            None => None,
        };
        self.unless(Phase::Draining, gate::wait(&at)).await?;
        if nature.disturbs && self.plan.body().goal == Goal::Spec {
            in_service::check(&at).await?;
        }
        precondition::check(&at).await?;
        if needs_lease {
            self.unless(Phase::Draining, self.await_lease(&at)).await??;
        }
        // What was asked for while all this was looked at comes before the step.
        if *self.phase.borrow() >= Phase::Draining {
            return Err(cancelled().into());
        }
        self.append(Entry::StepStarted {
            plan: self.plan.hash(),
            step: step.number,
            action: step.action.kind().to_owned(),
            on: step.on.clone(),
            effect: effect(nature),
        })
        .await?;
        self.ports.emit(&Event::StepBegun(self.place(step)));
        let action = pin!(async {
            if nature.change.is_none() && nature.awaits.is_some() {
                self.unless(Phase::Stopping, act::act(&at)).await?
            } else {
                act::act(&at).await
            }
        });
        let late = pin!(self.ports.clock.sleep(step.time_out.duration()));
        match select(action, late).await {
            Either::Left((Err(error), _)) if error.code() == error::CANCELLED => {
                self.append(self.failed(step, error::CANCELLED, &error.to_string())).await?;
                return Err(error);
            }
            Either::Left((outcome, _)) => outcome?,
            Either::Right(((), _)) => {
                let waited = last_wait.lock().unwrap_or_else(PoisonError::into_inner).take();
                let waited = waited.map(|what| format!(", waiting for {what}"));
                let message = format!(
                    "{} took longer than {}{}",
                    step.action.verb(),
                    step.time_out,
                    waited.unwrap_or_default()
                );
                return Err(PortError::new(error::TIMED_OUT, ErrorKind::Retryable, message).into());
            }
        }
        self.append(Entry::StepDone { plan: self.plan.hash(), step: step.number }).await
    }

    /// Returns whether a step brings a new member into an etcd that exists.
    fn joins_etcd(&self, step: &Step) -> bool {
        let begins = |step: &Step| step.action.nature().etcd == EtcdEffect::Begin;
        let control_plane =
            step.on.machine().is_some_and(|name| self.cluster.spec.is_control_plane(name));
        control_plane
            && step.action.nature().etcd == EtcdEffect::Join
            && !self.plan.steps().iter().any(begins)
    }

    /// Waits, unless execution has reached this phase.
    async fn unless<T>(&self, phase: Phase, wait: impl Future<Output = T>) -> Result<T, PortError> {
        let mut reached = self.phase.subscribe();
        let reached = pin!(reached.wait_for(|now| *now >= phase));
        match select(reached, pin!(wait)).await {
            Either::Left(_) => Err(cancelled()),
            Either::Right((value, _)) => Ok(value),
        }
    }

    /// Makes sure that no other engine can be at work. An API that is away for a moment, as while its only server
    /// starts again, is waited for.
    async fn await_lease(&self, at: &At<'_>) -> Result<(), Error> {
        let started = self.ports.clock.monotonic();
        at.until(|| async {
            let waited = self.ports.clock.monotonic().saturating_sub(started);
            match self.ensure_lease(at.step).await {
                Err(error) if error.code == error::LEASE_UNAVAILABLE && waited < API_COMES_BACK => {
                    Ok(Look::WaitFor(error.message))
                }
                outcome => Ok(Look::Done(outcome?)),
            }
        })
        .await
    }

    /// A machine is disturbed only while no other engine can be at work.
    pub(super) async fn ensure_lease(&self, step: &Step) -> Result<(), PortError> {
        // The end of a cluster takes its API away; and a person may know that no other engine is at work.
        let is_waived = self.plan.body().goal == Goal::Destroyed
            || self.plan.overrides(Rule::LeaseUnavailable, step.on.machine());
        match self.lease.ensure_fresh().await {
            Err(error) if error.code == error::LEASE_UNAVAILABLE && is_waived => Ok(()),
            outcome => outcome,
        }
    }
}

impl At<'_> {
    /// Returns the address of the machine. One that this plan provides has none yet.
    pub(super) fn machine(&self) -> Result<&MachineAddress, PortError> {
        let known = self.execution.addresses.get(self.name);
        known.ok_or_else(|| PortError::precondition(format!("{} has no known address", self.name)))
    }

    /// Looks until there is an answer, telling what is waited for in between. The step's time-out ends it.
    pub(super) async fn until<T, F>(&self, mut look: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<Look<T>, Error>>,
    {
        let mut backoff = Backoff::new(self.ports.clock, self.ports.entropy);
        loop {
            let permit = self.execution.looks.acquire().await.ok();
            let looked = look().await?;
            drop(permit);
            match looked {
                Look::Done(value) => return Ok(value),
                Look::WaitFor(what) => {
                    let place = self.execution.place(self.step);
                    *self.last_wait.lock().unwrap_or_else(PoisonError::into_inner) =
                        Some(what.clone());
                    self.ports.emit(&Event::StepWaits { place, for_what: what });
                    backoff.pause().await;
                }
            }
        }
    }
}

/// The result of one look at something that takes time.
pub(super) enum Look<T> {
    Done(T),
    WaitFor(String),
}

/// Returns what the journal has to know of a step to tell machines that have not been seen in service since.
fn effect(nature: Nature) -> Option<StepEffect> {
    match nature.awaits {
        Some(Awaited::Node) => Some(StepEffect::AwaitsService),
        _ => nature.disturbs.then_some(StepEffect::Disturbs),
    }
}

/// An API server that starts again answers within a minute or so.
const API_COMES_BACK: Duration = Duration::from_mins(2);
