//! Carries out an approved plan, and nothing else. There are no choices left here: where a step cannot be done as it
//! was planned, it stops, and the next pass makes another plan.
//!
//! Guarantees: a step is started only when those that it waits for are done, its gates are open, its preconditions
//! hold and, if it is disruptive, the lease is fresh, which is made sure of once more right before the call; it is in
//! the journal before it is started. A machine that fails holds up only what waits for it. When the lease is lost, or
//! a stop is asked for, nothing more is started and what is under way comes to its end.

mod act;
mod gate;
mod guarded;
mod in_service;
mod precondition;
mod report;
mod step;

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::{Digest, ErrorKind, Fact, Inventory, MachineName, Ownership};
use futures_util::future::{FutureExt, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use plan::{Approved, Goal, Plan, RenderError, Rule, Step, StepNumber};
use talos_config::Secret;
use tokio::sync::{Semaphore, watch};
use tracing::{Instrument as _, info_span};

use in_service::LastLook;
pub use report::{Failure, Report};
use step::{At, Look};

use crate::cluster::{Cluster, MachineAddress};
use crate::error::{self, Error, PortError};
use crate::event::{Event, StepPlace};
use crate::journal::{Entry, Ledger};
use crate::lease::{Lease, held};
use crate::observe::AT_ONCE;
use crate::ports::{ApiError, NodeStatus, Ports};
use crate::provider::ProvidedMachine;
use crate::shared_list::SharedList;
use crate::stamp::Stamp;

pub(crate) async fn execute(
    plan: &Plan<Approved>,
    cluster: &Cluster,
    inventory: &Inventory,
    follows: Option<Digest>,
    lease: &Lease<'_>,
    ports: &Ports<'_>,
) -> Result<Report, Error> {
    ports
        .journal
        .append(Entry::PlanStarted {
            plan: plan.hash(),
            goal: plan.body().goal,
            holder: lease.holder().to_owned(),
            fencing: lease.fencing(),
        })
        .await?;
    // One renderer for all steps: it keeps what machines share. A machine that was upgraded since gets another
    // configuration than the plan says, which stops its steps.
    let renderer = Mutex::new(cluster.renderer());
    let render = |machine: &MachineName| {
        let mut renderer = renderer.lock().unwrap_or_else(PoisonError::into_inner);
        let facts = inventory.machines.get(machine);
        let runs = facts.and_then(|facts| facts.talos.current(inventory.taken));
        let config = renderer.config_for(machine, runs)?;
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
        last_look: LastLook::new((Stamp::now(ports.clock), inventory.clone())),
        phase: watch::Sender::new(Phase::Running),
    };
    execution.record_first_use(inventory).await?;
    let report = execution.steps(report::needs_another_pass(plan, inventory)).await?;
    let complete = report.is_complete();
    ports.journal.append(Entry::PlanEnded { plan: plan.hash(), complete }).await?;
    let left = report.failures.len() + report.left.len();
    ports.emit(&Event::Ended { plan: plan.hash(), done: report.done.len(), left });
    Ok(report)
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
    /// The addresses of the machines when the plan was started.
    addresses: BTreeMap<MachineName, MachineAddress>,
    /// Bounds the steps that change machines at the same time: each may pull an installer through one uplink.
    changes: Semaphore,
    /// Bounds the looks of steps that wait: hundreds of nodes may be waited for at the same time.
    looks: Semaphore,
    last_look: LastLook,
    phase: watch::Sender<Phase>,
}

/// Which steps are started and finished. It only grows.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    Running,
    /// No further step is started, and those under way come to their end.
    Draining,
    /// As before, but steps that only wait end at once: they leave nothing half done.
    Stopping,
}

/// Makes the configuration that a machine should have: its digest, and its text.
type Render<'a> =
    dyn Fn(&MachineName) -> Result<(Digest, Secret<String>), RenderError> + Send + Sync + 'a;

/// The reason why no further step is started.
enum Halt {
    Lost(String),
    Stop,
    /// Something cannot be written down.
    Broken(Error),
}

impl Halt {
    const fn phase(&self) -> Phase {
        match self {
            Self::Stop => Phase::Stopping,
            // What a waiting step sees still belongs into the journal, or says why it cannot be written.
            Self::Lost(_) | Self::Broken(_) => Phase::Draining,
        }
    }
}

impl Execution<'_> {
    /// Trust on first use: installations and members that the journal does not know yet are recorded, and so are those
    /// that the plan overrides the recorded one for.
    async fn record_first_use(&self, inventory: &Inventory) -> Result<(), Error> {
        let ledger = self.ports.journal.ledger().await?;
        self.record_resets(&ledger, inventory).await?;
        for (name, facts) in &inventory.machines {
            let (Some(Ownership::Ours), Some(node)) =
                (facts.ownership.current(inventory.taken), facts.node.current(inventory.taken))
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

    /// Writes down what was reset or destroyed by an engine that did not live to do so.
    async fn record_resets(&self, ledger: &Ledger, inventory: &Inventory) -> Result<(), Error> {
        for name in &ledger.resetting {
            let facts = inventory.machines.get(name);
            let ownership = facts.and_then(|facts| facts.ownership.current(inventory.taken));
            if matches!(ownership, Some(Ownership::Maintenance | Ownership::NotProvided)) {
                self.append(ledger.reset_entry(name)).await?;
            }
        }
        Ok(())
    }

    /// Executes all steps, as many at the same time as wait for nothing. The lease is kept for as long as one is
    /// under way.
    async fn steps(&self, needs_another_pass: bool) -> Result<Report, Error> {
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
                        let span = info_span!("step", number = %step.number, on = %step.on);
                        let work = async move { (step, self.step(step).await) };
                        running.push(work.instrument(span));
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
                        // It was not started, or it only waited.
                        Err(Error::Port(error)) if error.code == error::CANCELLED => {
                            waiting.insert(step.number, step);
                            continue;
                        }
                        Err(Error::Port(error)) => {
                            failures.push(Failure::new(step, error));
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
            self.phase.send_modify(|phase| *phase = (*phase).max(halt.phase()));
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
            failures.push(Failure::new(step, error));
        }
        let stopped = matches!(halted, Some(Halt::Stop));
        let left = waiting.into_keys().collect();
        let skipped = self.plan.body().skipped.clone();
        let plan = self.plan.hash();
        Ok(Report { plan, done, failures, left, skipped, stopped, needs_another_pass })
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
        self.ports.emit(&match why {
            Halt::Lost(holder) => Event::LeaseLost { holder: holder.clone() },
            Halt::Stop | Halt::Broken(_) => Event::Stopping,
        });
    }

    /// Returns the nodes of Kubernetes.
    async fn nodes(&self) -> Result<Arc<Vec<NodeStatus>>, ApiError> {
        self.nodes.get(self.ports.kubernetes.nodes()).await
    }

    /// Returns the provider's machines.
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
            action: step.action.kind(),
            verb: step.action.verb(),
        }
    }
}

fn cancelled() -> PortError {
    PortError::new(
        error::CANCELLED,
        ErrorKind::Retryable,
        "a stop was asked for before it was done",
    )
}

/// The time for steps that are under way when the lease is lost or a stop is asked for: as a machine needs to boot.
const LAST_WORDS: Duration = Duration::from_mins(5);
/// The interval at which the journal is read for a request of another process to stop.
const LOOK_FOR_CANCEL: Duration = Duration::from_secs(1);
