//! One pass over one cluster: the only way in which Ichor changes anything.
//!
//! In: what is wanted ([`Cluster`], [`Want`]) and the world ([`Ports`]). Out: what this pass achieved. The command repeats
//! passes ([`converge`]), an operator makes one on every reconcile, a server from a task that takes no input.
//!
//! Guarantees: only an approved plan is executed; under slot and lease everything is observed and checked again, so that
//! what is executed is safe for what is there *then*; whatever is started is in the journal before; looking and planning
//! write nothing. Assumes: ports keep their contracts.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use domain::{Digest, MachineName};
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use plan::{
    Approved, Checked, ConfigChange, Draft, Goal, Override, Plan, PlanDifference, Planned,
    PlanningInput, Refusal, Skipped, check, compare, plan,
};

use crate::cluster::Cluster;
use crate::error::Error;
use crate::event::Event;
use crate::execute::{Report, execute};
use crate::journal::{Entry, Journal, JournalError, Slot, Unfinished};
use crate::lease::{Lease, LeaseClaim, LeaseOutcome, held};
use crate::observe::{Observation, observe_all};
use crate::ports::{Clock, Ports};

/// What is to be carried out.
#[derive(Clone, Debug)]
pub enum Want {
    /// Whatever leads to this goal now, without these rules.
    Goal(Goal, Vec<Override>),
    /// A plan that was made before, and nothing else.
    Plan(Box<Plan<Draft>>),
    /// A proposal that was made before and waits for its approval ([`Outcome::NeedsApproval`]). It keeps its hash for as long
    /// as the same would be planned now; then another proposal takes its place ([`Event::Replanned`]).
    Pending(Box<Plan<Draft>>),
}

impl Want {
    fn goal(&self) -> (Goal, Vec<Override>) {
        match self {
            Self::Goal(goal, overrides) => (*goal, overrides.clone()),
            Self::Plan(plan) | Self::Pending(plan) => {
                (plan.body().goal, plan.body().overrides.clone())
            }
        }
    }
}

/// What a pass achieved.
#[derive(Debug)]
pub enum Outcome {
    /// The cluster matches its spec.
    Settled,
    /// Nothing can be done for now.
    Blocked(Vec<Skipped>),
    /// The plan waits for its approval; the next pass gets it as [`Want::Pending`].
    NeedsApproval(Box<Plan<Checked>>),
    /// What was approved does not keep these rules any more: the world has moved on, and nothing was done.
    Outdated(Refusal),
    /// A plan was carried out, wholly or in part.
    Ran(Report),
}

/// What would be done.
#[derive(Debug)]
pub enum Proposal {
    /// Nothing: the cluster matches its spec.
    Nothing,
    /// Nothing for now.
    Blocked(Vec<Skipped>),
    /// This, once it is approved.
    Change(Box<Plan<Checked>>),
}

/// One pass.
pub async fn run(cluster: &Cluster, want: Want, ports: &Ports<'_>) -> Result<Outcome, Error> {
    pass(cluster, want, None, ports).await
}

/// One pass of a command whose earlier pass carried out the plan `follows`. A cancel of that plan is for the command.
async fn pass(
    cluster: &Cluster,
    want: Want,
    follows: Option<Digest>,
    ports: &Ports<'_>,
) -> Result<Outcome, Error> {
    // Observe, render, plan, check.
    let checked = match propose(cluster, want, ports).await? {
        Proposal::Nothing => return Ok(Outcome::Settled),
        Proposal::Blocked(skipped) => return Ok(Outcome::Blocked(skipped)),
        Proposal::Change(checked) => *checked,
    };

    // Approve.
    if is_cancelled(follows, ports).await? {
        return Ok(Outcome::Ran(Report::stopped(&checked)));
    }
    let Some(approval) = ports.approver.approve(&checked).await? else {
        return Ok(Outcome::NeedsApproval(Box::new(checked)));
    };
    let approved = checked.approve(approval)?;
    let by = approved.approval().by.clone();
    ports.events.emit(&Event::Approved { plan: approved.hash(), by });

    // Slot and lease, then observe and check again: the approval may have taken hours.
    let slot = ports.journal.acquire(Slot::Plan).await?;
    let holder = format!("{} {}", ports.holder, slot.engine);
    let lease = Lease::new(LeaseClaim { holder: holder.clone(), plan: approved.hash() }, ports);
    if let LeaseOutcome::HeldBy { holder } = lease.acquire().await? {
        return Err(held(&holder).into());
    }
    let outcome = run_under_lease(cluster, &approved, follows, &lease, &holder, ports).await;
    lease.release().await;
    outcome
}

/// Observes and checks again, executes and records.
async fn run_under_lease(
    cluster: &Cluster,
    approved: &Plan<Approved>,
    follows: Option<Digest>,
    lease: &Lease<'_>,
    holder: &str,
    ports: &Ports<'_>,
) -> Result<Outcome, Error> {
    // Hundreds of machines that do not answer may take longer than the lease lasts.
    let seen = match select(pin!(observe_all(cluster, ports)), pin!(lease.keep())).await {
        Either::Left((seen, _)) => seen?,
        Either::Right((holder, _)) => return Err(held(&holder).into()),
    };
    let draft = approved.clone().into_draft();
    if let Err(refusal) = check(draft, &input(cluster, &seen, &[], Goal::Spec)) {
        return Ok(Outcome::Outdated(refusal));
    }
    if ports.stop.requested().now_or_never().is_some() || is_cancelled(follows, ports).await? {
        return Ok(Outcome::Ran(Report::stopped(approved)));
    }
    // Renderings are not needed from here on.
    let Observation { inventory, desired } = seen;
    drop(desired);
    ports.journal.store_plan(approved).await?;
    execute(approved, cluster, &inventory, follows, lease, holder, ports).await.map(Outcome::Ran)
}

/// Whether the plan that a command carried out before was cancelled since.
async fn is_cancelled(follows: Option<Digest>, ports: &Ports<'_>) -> Result<bool, Error> {
    Ok(follows.is_some() && ports.journal.ledger().await?.cancelled == follows)
}

/// Passes until the cluster matches its spec, or no pass gets further.
///
/// A pass that was stopped by what changed meanwhile is followed by another one, with a plan of its own.
pub async fn converge(cluster: &Cluster, want: Want, ports: &Ports<'_>) -> Result<Outcome, Error> {
    let (goal, overrides) = want.goal();
    let is_plan = matches!(want, Want::Plan(_));
    let mut outcome = run(cluster, want, ports).await?;
    let mut follows = None;
    for _ in 1..PASSES {
        if let Outcome::Ran(report) = &outcome {
            follows = Some(report.plan);
        }
        match &outcome {
            // A person approved this very plan, and no other one.
            Outcome::Ran(report) if !is_plan && report.goes_on() => {}
            Outcome::Outdated(_) if !is_plan => {}
            _ => break,
        }
        let want = Want::Goal(goal, overrides.clone());
        match (pass(cluster, want, follows, ports).await, outcome) {
            // What the last plan could not finish has finished by itself.
            (Ok(Outcome::Settled), Outcome::Ran(report)) => {
                end_interrupted(goal, ports).await?;
                return Ok(Outcome::Ran(report.completed()));
            }
            // Everything that was planned is done, and what is left cannot be done for now.
            (Ok(Outcome::Blocked(skipped)), Outcome::Ran(report)) if report.is_complete() => {
                return Ok(Outcome::Ran(Report { skipped, ..report }));
            }
            (next, _) => outcome = next?,
        }
    }
    match outcome {
        Outcome::Settled => {
            end_interrupted(goal, ports).await?;
            Ok(Outcome::Settled)
        }
        Outcome::Outdated(refusal) => Err(refusal.into()),
        outcome => Ok(outcome),
    }
}

/// Writes down that a plan that was interrupted has reached its goal, or is not wanted any more, unless an engine carries
/// it out now. Otherwise `resume` would go on with it, however long ago that was.
async fn end_interrupted(goal: Goal, ports: &Ports<'_>) -> Result<(), Error> {
    if ports.journal.ledger().await?.unfinished.is_none() {
        return Ok(());
    }
    let _slot = match ports.journal.acquire(Slot::Plan).await {
        Err(JournalError::Busy(_)) => return Ok(()),
        slot => slot?,
    };
    if let Some(Unfinished { plan, goal: its_goal }) = ports.journal.ledger().await?.unfinished {
        let ended = if its_goal == goal {
            Entry::PlanEnded { plan, complete: true }
        } else {
            Entry::PlanCancelled { plan }
        };
        ports.journal.append(ended).await?;
    }
    Ok(())
}

/// How a cancel ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cancelled {
    /// There was no plan to abandon.
    Nothing,
    /// The plan came to a good end before it could be stopped.
    Completed(Digest),
    /// The plan is abandoned.
    Abandoned(Digest),
}

/// Abandons a plan that was interrupted. An engine that carries it out is asked to start no further step, which is told by
/// `requested`, and waited for: a plan is abandoned only under the slot.
pub async fn cancel(
    journal: &dyn Journal,
    clock: &dyn Clock,
    mut requested: impl FnMut(Digest),
) -> Result<Cancelled, Error> {
    let mut asked = None;
    loop {
        let slot = journal.acquire(Slot::Plan).await;
        let unfinished = journal.ledger().await?.unfinished.map(|unfinished| unfinished.plan);
        match (slot, unfinished) {
            (Ok(_slot), Some(plan)) => {
                journal.append(Entry::PlanCancelled { plan }).await?;
                return Ok(Cancelled::Abandoned(plan));
            }
            (Ok(_), None) => return Ok(asked.map_or(Cancelled::Nothing, Cancelled::Completed)),
            // Its next pass has another plan.
            (Err(JournalError::Busy(_)), Some(plan)) if asked != Some(plan) => {
                journal.append(Entry::CancelRequested { plan }).await?;
                requested(plan);
                asked = Some(plan);
            }
            (Err(JournalError::Busy(_)), _) => clock.sleep(LOOK_AGAIN).await,
            (Err(error), _) => return Err(error.into()),
        }
    }
}

/// Observes, renders, plans and checks, and changes nothing.
pub async fn propose(cluster: &Cluster, want: Want, ports: &Ports<'_>) -> Result<Proposal, Error> {
    let seen = observe_all(cluster, ports).await?;
    let draft = match want {
        Want::Plan(draft) => *draft,
        Want::Goal(..) | Want::Pending(_) => {
            let (goal, overrides) = want.goal();
            let unfinished = ports.journal.ledger().await?.unfinished;
            let mut input = input(cluster, &seen, &overrides, goal);
            input.parent = unfinished.map(|unfinished| unfinished.plan);
            match (plan(&input)?, want) {
                (Planned::Nothing, _) => return Ok(Proposal::Nothing),
                (Planned::Blocked(skipped), _) => return Ok(Proposal::Blocked(skipped)),
                (Planned::Change(draft), Want::Pending(pending)) => reuse(*pending, draft, ports),
                (Planned::Change(draft), _) => draft,
            }
        }
    };
    let checked = check(draft, &input(cluster, &seen, &[], Goal::Spec))?;
    let event = Event::Planned { plan: checked.hash(), steps: checked.steps().len() };
    ports.events.emit(&event);
    Ok(Proposal::Change(Box::new(checked)))
}

/// The proposal that waits for its approval, or the plan that was made now where that is another one.
fn reuse(pending: Plan<Draft>, made: Plan<Draft>, ports: &Ports<'_>) -> Plan<Draft> {
    let differences = compare(&pending, &made);
    if differences.is_empty() {
        return pending;
    }
    ports.events.emit(&Event::Replanned {
        replaces: pending.hash(),
        plan: made.hash(),
        differences: differences.iter().map(PlanDifference::to_string).collect(),
    });
    made
}

/// A machine's configuration beside what it should be; where it has none to compare, the reason.
pub type Compared = Result<ConfigChange, String>;

/// Compares every machine with the spec.
pub async fn compare_live(
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<BTreeMap<MachineName, Compared>, Error> {
    let Observation { inventory, desired } = observe_all(cluster, ports).await?;
    let compared = desired.into_iter().map(|(name, rendering)| {
        let why_not = || match inventory.machines.get(&name) {
            Some(facts) => facts.config.why_not(inventory.taken),
            None => "not observed".to_owned(),
        };
        let change = rendering.change.ok_or_else(why_not);
        (name, change)
    });
    Ok(compared.collect())
}

fn input<'a>(
    cluster: &'a Cluster,
    seen: &'a Observation,
    overrides: &'a [Override],
    goal: Goal,
) -> PlanningInput<'a> {
    PlanningInput {
        spec: &cluster.spec,
        goal,
        desired: &seen.desired,
        inventory: &seen.inventory,
        identity: cluster.identity(),
        parent: None,
        overrides,
    }
}

/// A cluster that needs more passes than this in one go has a problem that another pass does not solve.
const PASSES: usize = 10;
/// Often enough to tell soon that an engine has stopped.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;

    /// A server spawns passes on a runtime of several threads: this compiles, or they cannot be.
    #[test]
    fn passes_can_be_spawned() {
        fn spawnable<T: Send>(_future: T) {}
        let _: fn(&Cluster, Want, &Ports<'_>) = |cluster, want, ports| {
            spawnable(run(cluster, want.clone(), ports));
            spawnable(converge(cluster, want.clone(), ports));
            spawnable(propose(cluster, want, ports));
        };
    }
}
