//! Carries out an approved plan, and nothing else. There are no choices left here: where a step cannot be done as it was
//! planned, it stops, and the next pass makes another plan.
//!
//! Guarantees: a step is started only when those that it waits for are done, its gates are open, its preconditions hold
//! and, if it is disruptive, the lease is fresh, which is made sure of once more right before the call; it is in the
//! journal before it is started. A machine that fails holds up only what waits for it. When the lease is lost, or a stop
//! is asked for, nothing more is started and what is under way comes to its end.

mod act;
mod gate;
mod guarded;
mod in_service;
mod precondition;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::{Digest, Fact, Inventory, Kind, MachineFacts, MachineName, Standing, Target};
use futures_util::future::{Either, FutureExt, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use plan::{
    Approved, Awaited, Change, EtcdEffect, Goal, Nature, Plan, RenderError, Rule, Skipped, Step,
    StepNumber,
};
use talos_config::Secret;
use tokio::sync::{Semaphore, watch};

use guarded::Guarded;
use in_service::LastLook;

use crate::backoff::Backoff;
use crate::cluster::{Cluster, MachineAddress};
use crate::error::{Error, PortError};
use crate::event::{Event, StepPlace};
use crate::journal::{Entry, StepEffect};
use crate::lease::{Lease, held};
use crate::observe::AT_ONCE;
use crate::ports::{ApiError, NodeStatus, Ports};
use crate::provider::ProvidedMachine;
use crate::shared_list::SharedList;

/// How a plan went.
#[derive(Debug)]
pub struct Report {
    /// The plan.
    pub plan: Digest,
    /// The steps that are done.
    pub done: BTreeSet<StepNumber>,
    /// The steps that have failed.
    pub failures: Vec<Failure>,
    /// The steps that were not started.
    pub left: Vec<StepNumber>,
    /// What the plan did not take care of.
    pub skipped: Vec<Skipped>,
    /// A stop was asked for.
    pub stopped: bool,
    /// Machines were away or not made yet when it was planned, or etcd did not tell its members, so that what they need was
    /// not known.
    pub plans_again: bool,
}

/// A step that has failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The step.
    pub step: StepNumber,
    /// What it acted on.
    pub on: Target,
    /// What happened.
    pub error: PortError,
    /// What is left behind.
    pub leaves: String,
    /// The command that helps.
    pub recovery: String,
}

impl Report {
    /// All steps of the plan are done.
    pub fn is_complete(&self) -> bool {
        self.failures.is_empty() && self.left.is_empty()
    }

    /// The report of a plan of which nothing was started, because a stop was asked for.
    pub(crate) fn stopped<State>(plan: &Plan<State>) -> Self {
        Self {
            plan: plan.hash(),
            done: BTreeSet::new(),
            failures: Vec::new(),
            left: plan.steps().iter().map(|step| step.number).collect(),
            skipped: plan.body().skipped.clone(),
            stopped: true,
            plans_again: false,
        }
    }

    /// The same with everything done.
    pub(crate) fn completed(self) -> Self {
        let (failures, left, skipped) = (Vec::new(), Vec::new(), Vec::new());
        Self { failures, left, skipped, ..self }
    }

    /// Another pass may get further: this one did something, and what failed, or was not known when it was planned, may
    /// pass.
    pub(crate) fn goes_on(&self) -> bool {
        (!self.is_complete() || self.plans_again)
            && !self.stopped
            && !self.done.is_empty()
            && self.failures.iter().all(|failure| {
                // A machine that does not come back is a reason to look, not to go on with the next one; and a lease is not had
                // sooner by another plan.
                failure.error.kind == Kind::Retryable
                    && failure.error.code != "engine.timed-out"
                    && !failure.error.code.starts_with("lease.")
            })
    }
}

pub(crate) async fn execute(
    plan: &Plan<Approved>,
    cluster: &Cluster,
    inventory: &Inventory,
    follows: Option<Digest>,
    lease: &Lease<'_>,
    holder: &str,
    ports: &Ports<'_>,
) -> Result<Report, Error> {
    ports
        .journal
        .append(Entry::PlanStarted {
            plan: plan.hash(),
            goal: plan.body().goal,
            holder: holder.to_owned(),
            fencing: lease.fencing(),
        })
        .await?;
    // One renderer for all steps: it keeps what machines share.
    let renderer = Mutex::new(cluster.renderer());
    let render = |machine: &MachineName| {
        let mut renderer = renderer.lock().unwrap_or_else(PoisonError::into_inner);
        let config = renderer.config(machine)?;
        Ok((cluster.key.config(&config), renderer.text(machine, &config)))
    };
    let addresses = cluster.addresses(inventory).into_iter();
    let execution = Execution {
        plan,
        follows,
        cluster,
        render: &render,
        ports,
        lease,
        nodes: SharedList::new(ports.clock),
        provided: SharedList::new(ports.clock),
        addresses: addresses.map(|at| (at.name.clone(), at)).collect(),
        changes: Semaphore::new(AT_ONCE),
        looks: Semaphore::new(AT_ONCE),
        last_look: LastLook::new((ports.clock.monotonic(), inventory.clone())),
        halting: watch::Sender::new(false),
    };
    execution.record_first_use(inventory).await?;
    let mut report = execution.steps().await?;
    report.plans_again = plans_again(plan, inventory);
    let complete = report.is_complete();
    ports.journal.append(Entry::PlanEnded { plan: plan.hash(), complete }).await?;
    let left = report.failures.len() + report.left.len();
    ports.events.emit(&Event::Ended { plan: plan.hash(), done: report.done.len(), left });
    Ok(report)
}

/// Whether a plan was made without knowing everything that its machines need.
fn plans_again(plan: &Plan<Approved>, inventory: &Inventory) -> bool {
    let is_away =
        |facts: &MachineFacts| facts.standing.current(inventory.taken) == Some(&Standing::Away);
    let provides = |step: &Step| step.action.nature().change == Some(Change::Provide);
    let etcd_unknown =
        |skipped: &Skipped| skipped.rule.as_deref() == Some(Rule::QuorumUnknown.name());
    inventory.machines.values().any(is_away)
        || plan.steps().iter().any(provides)
        || plan.body().skipped.iter().any(etcd_unknown)
}

/// One plan that is being carried out.
struct Execution<'a> {
    plan: &'a Plan<Approved>,
    /// The plan of an earlier pass of the same command.
    follows: Option<Digest>,
    cluster: &'a Cluster,
    render: &'a Render<'a>,
    ports: &'a Ports<'a>,
    lease: &'a Lease<'a>,
    nodes: SharedList<'a, NodeStatus, ApiError>,
    provided: SharedList<'a, ProvidedMachine, PortError>,
    /// Where machines were when the plan was started.
    addresses: BTreeMap<MachineName, MachineAddress>,
    /// Bounds the steps that change machines at the same time: each may pull an installer through one uplink.
    changes: Semaphore,
    /// Bounds the looks of steps that wait: hundreds of nodes may be waited for at the same time.
    looks: Semaphore,
    last_look: LastLook,
    /// No further step is started.
    halting: watch::Sender<bool>,
}

/// Makes the configuration that a machine should have: its digest, and its text.
type Render<'a> =
    dyn Fn(&MachineName) -> Result<(Digest, Secret<String>), RenderError> + Send + Sync + 'a;

/// One step with its machine.
struct At<'a> {
    execution: &'a Execution<'a>,
    step: &'a Step,
    name: &'a MachineName,
    ports: &'a Ports<'a>,
    /// What the step last waited for.
    last_wait: &'a Mutex<Option<String>>,
}

/// Why no further step is started.
enum Halt {
    Lost(String),
    Stop,
    /// Something cannot be written down.
    Broken(Error),
}

impl Execution<'_> {
    /// Trust on first use: installations and members that the journal does not know yet are recorded, and so are those
    /// that the plan overrides the recorded one for.
    async fn record_first_use(&self, inventory: &Inventory) -> Result<(), Error> {
        let ledger = self.ports.journal.ledger().await?;
        for (name, facts) in &inventory.machines {
            let (Some(Standing::Ours), Some(node)) =
                (facts.standing.current(inventory.taken), facts.node.current(inventory.taken))
            else {
                continue;
            };
            let recorded = ledger.recorded.get(name);
            let accepted = recorded.is_none_or(|recorded| {
                recorded == node || self.plan.overrides(Rule::IdentityNode, Some(name))
            });
            let member = match &facts.member {
                Fact::Known { value, .. } => *value,
                Fact::NotKnown { .. } => None,
            };
            // A reset that was not carried out must not excuse a machine that is in maintenance one day.
            let was_to_be_reset =
                self.plan.body().goal == Goal::Spec && ledger.resetting.contains(name);
            let known = recorded == Some(node)
                && !was_to_be_reset
                && member.is_none_or(|member| ledger.members.get(&member) == Some(name));
            if accepted && !known {
                let (machine, node) = (name.clone(), node.clone());
                self.append(Entry::MachineRecorded { machine, node, member }).await?;
            }
        }
        Ok(())
    }

    /// All steps, as many at the same time as wait for nothing. The lease is kept for as long as one is under way.
    async fn steps(&self) -> Result<Report, Error> {
        let mut waiting: BTreeMap<StepNumber, &Step> =
            self.plan.steps().iter().map(|step| (step.number, step)).collect();
        let mut done = BTreeSet::new();
        let mut failures = Vec::new();
        let mut running = FuturesUnordered::new();
        let mut under_way: BTreeMap<StepNumber, &Step> = BTreeMap::new();
        // Fused: each ends once, and what is under way goes on after it.
        let mut lost = pin!(self.lease.keep().fuse());
        let mut stop = pin!(self.stop_requested().fuse());
        let mut last_words = pin!(None);
        let mut halted: Option<Halt> = None;
        loop {
            if halted.is_none() {
                let ready: Vec<StepNumber> = waiting
                    .values()
                    .filter(|step| step.after.iter().all(|before| done.contains(before)))
                    .map(|step| step.number)
                    .collect();
                for number in ready {
                    if let Some(step) = waiting.remove(&number) {
                        under_way.insert(number, step);
                        running.push(async move { (step, self.step(step).await) });
                    }
                }
            }
            let halt = tokio::select! {
                biased;
                next = running.next() => {
                    let Some((step, outcome)) = next else { break };
                    under_way.remove(&step.number);
                    match outcome {
                        Ok(()) => {
                            done.insert(step.number);
                            continue;
                        }
                        // It was not started.
                        Err(Error::Port(error)) if error.code == CANCELLED => {
                            waiting.insert(step.number, step);
                            continue;
                        }
                        Err(Error::Port(error)) => {
                            failures.push(failure(step, error));
                            continue;
                        }
                        // What is not written down is not done: the others come to their end, and nothing more starts.
                        Err(error) => Halt::Broken(error),
                    }
                }
                holder = &mut lost => Halt::Lost(holder),
                () = &mut stop, if halted.is_none() => Halt::Stop,
                () = async { last_words.as_mut().as_pin_mut().expect("set when halted").await },
                    if halted.is_some() => break,
            };
            self.tell_halt(&halt);
            self.halting.send_replace(true);
            if halted.is_none() {
                last_words.set(Some(self.ports.clock.sleep(LAST_WORDS)));
            }
            // The first error is the one to tell.
            if !matches!(halted, Some(Halt::Broken(_))) {
                halted = Some(halt);
            }
        }
        drop(running);
        if let Some(Halt::Broken(error)) = halted {
            return Err(error);
        }
        // What did not come to its end in time: whether it was done shows at the next look.
        for (_, step) in under_way {
            let error = match &halted {
                Some(Halt::Lost(holder)) => held(holder),
                _ => cancelled(),
            };
            self.fail(step, error.code, &error.message).await?;
            failures.push(failure(step, error));
        }
        let stopped = matches!(halted, Some(Halt::Stop));
        let left = waiting.into_keys().collect();
        let skipped = self.plan.body().skipped.clone();
        let (plan, plans_again) = (self.plan.hash(), false);
        Ok(Report { plan, done, failures, left, skipped, stopped, plans_again })
    }

    /// Returns when no further step shall be started.
    async fn stop_requested(&self) {
        let asked = pin!(self.ports.stop.requested());
        let cancelled = pin!(self.cancel_requested());
        select(asked, cancelled).await;
    }

    /// Returns when another process has asked through the journal.
    async fn cancel_requested(&self) {
        loop {
            // A request that came before the plan was started names the one before it.
            if let Ok(ledger) = self.ports.journal.ledger().await
                && let Some(plan) = ledger.cancelled
                && (plan == self.plan.hash() || Some(plan) == self.follows)
            {
                return;
            }
            self.ports.clock.sleep(LOOK_FOR_CANCEL).await;
        }
    }

    fn tell_halt(&self, why: &Halt) {
        self.ports.events.emit(&match why {
            Halt::Lost(holder) => Event::LeaseLost { holder: holder.clone() },
            Halt::Stop | Halt::Broken(_) => Event::Stopping,
        });
    }

    async fn step(&self, step: &Step) -> Result<(), Error> {
        let begun = self.ports.clock.now();
        let outcome = self.attempt(step).await;
        match &outcome {
            Ok(()) => {
                let took = self.ports.clock.now().since(begun).duration();
                self.ports.events.emit(&Event::StepDone { place: self.place(step), took });
            }
            Err(error) if error.code() == CANCELLED => {}
            Err(error) => self.fail(step, error.code(), &error.to_string()).await?,
        }
        outcome
    }

    async fn fail(&self, step: &Step, code: &'static str, message: &str) -> Result<(), Error> {
        self.append(Entry::StepFailed {
            plan: self.plan.hash(),
            step: step.number,
            code: code.to_owned(),
            message: message.to_owned(),
        })
        .await?;
        let (place, message) = (self.place(step), message.to_owned());
        self.ports.events.emit(&Event::StepFailed { place, code, message });
        Ok(())
    }

    async fn attempt(&self, step: &Step) -> Result<(), Error> {
        let name = step
            .on
            .machine()
            .ok_or_else(|| PortError::precondition(format!("{} is not a machine", step.on)))?;
        let nature = step.action.nature();
        let needs_lease =
            nature.disturbs || nature.change == Some(Change::Configure) || self.joins_etcd(step);
        let guarded = Guarded { execution: self, step };
        let ports = if needs_lease {
            Ports { lifecycle: &guarded, provider: &guarded, ..*self.ports }
        } else {
            *self.ports
        };
        let last_wait = Mutex::default();
        let at = At { execution: self, step, name, ports: &ports, last_wait: &last_wait };
        let _permit = match nature.change {
            Some(_) => self.unless_halted(self.changes.acquire()).await?.ok(),
            None => None,
        };
        self.unless_halted(gate::wait(&at)).await?;
        if nature.disturbs && self.plan.body().goal == Goal::Spec {
            in_service::check(&at).await?;
        }
        precondition::check(&at).await?;
        if needs_lease {
            self.unless_halted(self.await_lease(&at)).await??;
        }
        // What was asked for while all this was looked at comes before the step.
        if *self.halting.borrow() {
            return Err(cancelled().into());
        }
        self.append(Entry::StepStarted {
            plan: self.plan.hash(),
            step: step.number,
            verb: step.action.verb().to_owned(),
            on: step.on.clone(),
            effect: effect(nature),
        })
        .await?;
        self.ports.events.emit(&Event::StepBegun(self.place(step)));
        let action = pin!(act::act(&at));
        let late = pin!(self.ports.clock.sleep(step.time_out.duration()));
        match select(action, late).await {
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
                return Err(PortError::new("engine.timed-out", Kind::Retryable, message).into());
            }
        }
        self.append(Entry::StepDone { plan: self.plan.hash(), step: step.number }).await
    }

    /// Whether a step brings a new member into an etcd that exists.
    fn joins_etcd(&self, step: &Step) -> bool {
        let begins = |step: &Step| step.action.nature().etcd == EtcdEffect::Begin;
        let control_plane =
            step.on.machine().is_some_and(|name| self.cluster.spec.is_control_plane(name));
        control_plane
            && step.action.nature().etcd == EtcdEffect::Join
            && !self.plan.steps().iter().any(begins)
    }

    /// Waits before a step is started, unless none is to be started any more.
    async fn unless_halted<T>(&self, wait: impl Future<Output = T>) -> Result<T, PortError> {
        let mut halting = self.halting.subscribe();
        let halted = pin!(halting.wait_for(|halting| *halting));
        match select(halted, pin!(wait)).await {
            Either::Left(_) => Err(cancelled()),
            Either::Right((value, _)) => Ok(value),
        }
    }

    /// Makes sure that no other engine can be at work. An API that is away for a moment, as while its only server starts
    /// again, is waited for.
    async fn await_lease(&self, at: &At<'_>) -> Result<(), Error> {
        let started = self.ports.clock.monotonic();
        at.until(|| async {
            let waited = self.ports.clock.monotonic().saturating_sub(started);
            match self.ensure_lease(at.step).await {
                Err(error) if error.code == "lease.unavailable" && waited < API_COMES_BACK => {
                    Ok(Look::WaitFor(error.message))
                }
                outcome => Ok(Look::Done(outcome?)),
            }
        })
        .await
    }

    /// A machine is disturbed only while no other engine can be at work.
    async fn ensure_lease(&self, step: &Step) -> Result<(), PortError> {
        // The end of a cluster takes its API away; and a person may know that no other engine is at work.
        let is_waived = self.plan.body().goal == Goal::Destroyed
            || self.plan.overrides(Rule::LeaseUnavailable, step.on.machine());
        match self.lease.ensure_fresh().await {
            Err(error) if error.code == "lease.unavailable" && is_waived => Ok(()),
            outcome => outcome,
        }
    }

    /// The nodes of Kubernetes.
    async fn nodes(&self) -> Result<Arc<Vec<NodeStatus>>, ApiError> {
        self.nodes.get(self.ports.kubernetes.nodes()).await
    }

    /// The provider's machines.
    async fn provided(&self) -> Result<Arc<Vec<ProvidedMachine>>, PortError> {
        self.provided.get(self.ports.provider.list(self.cluster.identity())).await
    }

    async fn append(&self, entry: Entry) -> Result<(), Error> {
        Ok(self.ports.journal.append(entry).await?)
    }

    fn place(&self, step: &Step) -> StepPlace {
        StepPlace {
            at: self.ports.clock.now(),
            step: step.number,
            of: self.plan.steps().len(),
            on: step.on.clone(),
            verb: step.action.verb(),
        }
    }
}

impl At<'_> {
    /// Where the machine is called. A machine that a provider makes is called by the plans that follow.
    fn machine(&self) -> Result<&MachineAddress, PortError> {
        let known = self.execution.addresses.get(self.name);
        known.ok_or_else(|| PortError::precondition(format!("{} has no known address", self.name)))
    }

    /// Looks until there is an answer, telling what is waited for in between. The step's time-out ends it.
    async fn until<T, F>(&self, mut look: impl FnMut() -> F) -> Result<T, Error>
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
                    self.ports.events.emit(&Event::StepWaits { place, for_what: what });
                    backoff.pause().await;
                }
            }
        }
    }
}

/// What a look at something that takes time has shown.
enum Look<T> {
    Done(T),
    WaitFor(String),
}

/// What the journal has to know of a step to tell machines that have not been seen in service since.
fn effect(nature: Nature) -> Option<StepEffect> {
    match nature.awaits {
        Some(Awaited::Node) => Some(StepEffect::AwaitsService),
        _ => nature.disturbs.then_some(StepEffect::Disturbs),
    }
}

fn failure(step: &Step, error: PortError) -> Failure {
    Failure {
        step: step.number,
        on: step.on.clone(),
        error,
        leaves: step.leaves.clone(),
        recovery: step.recovery.clone(),
    }
}

fn cancelled() -> PortError {
    PortError::new(CANCELLED, Kind::Retryable, "a stop was asked for before it was done")
}

const CANCELLED: &str = "engine.cancelled";
/// What is under way when a lease is lost or a stop is asked for gets this long: as a machine needs to boot.
const LAST_WORDS: Duration = Duration::from_mins(5);
/// An API server that starts again answers within a minute or so.
const API_COMES_BACK: Duration = Duration::from_mins(2);
/// How often the journal is looked at for a request of another process to stop.
const LOOK_FOR_CANCEL: Duration = Duration::from_secs(1);
