//! One pass over one cluster: the only way in which Ichor changes anything.
//!
//! In: what is wanted ([`Cluster`], [`Want`]) and the world ([`Ports`]). Out: what this pass achieved. The command
//! repeats passes ([`converge`](crate::converge)), an operator makes one on every reconcile, a server from a task
//! that takes no input.
//!
//! Guarantees: only an approved plan is executed; under slot and lease everything is observed and checked again, so
//! that what is executed is safe for what is there *then*; whatever is started is in the journal before; looking and
//! planning write nothing. Assumes: ports keep their contracts.

use std::pin::pin;

use domain::Digest;
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use plan::{
    Approved, Checked, Draft, Goal, Override, Plan, PlanDifference, Planned, PlanningInput,
    Refusal, Skipped, check, compare, plan,
};

use crate::cluster::Cluster;
use crate::error::Error;
use crate::event::Event;
use crate::execute::{Report, execute};
use crate::journal::{Entry, Slot};
use crate::lease::{Lease, LeaseClaim, LeaseOutcome, held};
use crate::observe::{Observation, observe_all};
use crate::ports::Ports;

/// The request of a pass.
#[derive(Clone, Debug)]
pub enum Want {
    /// A plan for this goal, made now, without these rules.
    Goal(Goal, Vec<Override>),
    /// A plan that was made before, and nothing else.
    Plan(Box<Plan<Draft>>),
    /// A proposal that was made before and waits for its approval ([`Outcome::NeedsApproval`]). It keeps its hash for
    /// as long as the same would be planned now; then another proposal takes its place ([`Event::Replanned`]).
    Pending(Box<Plan<Draft>>),
}

impl Want {
    pub(crate) fn goal(&self) -> (Goal, Vec<Override>) {
        match self {
            Self::Goal(goal, overrides) => (*goal, overrides.clone()),
            Self::Plan(plan) | Self::Pending(plan) => {
                (plan.body().goal, plan.body().overrides.clone())
            }
        }
    }
}

/// The achievement of a pass.
#[derive(Debug)]
pub enum Outcome {
    /// The cluster matches its spec.
    Settled,
    /// Nothing can be done for now.
    Blocked(Vec<Skipped>),
    /// The plan waits for its approval; the next pass gets it as [`Want::Pending`].
    NeedsApproval(Box<Plan<Checked>>),
    /// The approved plan breaks these rules by now: the cluster has changed, and nothing was done.
    Outdated(Refusal),
    /// A plan was carried out, wholly or in part.
    Ran(Report),
}

/// The proposal of a dry pass.
#[derive(Debug)]
pub enum Proposal {
    /// Nothing: the cluster matches its spec.
    Nothing,
    /// Nothing for now.
    Blocked(Vec<Skipped>),
    /// This, once it is approved.
    Change(Box<Plan<Checked>>),
}

/// Makes one pass.
pub async fn run(cluster: &Cluster, want: Want, ports: &Ports<'_>) -> Result<Outcome, Error> {
    pass(cluster, want, None, ports).await
}

/// Makes one pass of a command whose earlier pass carried out the plan `follows`. A cancel of that plan is for the
/// command.
pub(crate) async fn pass(
    cluster: &Cluster,
    want: Want,
    follows: Option<Digest>,
    ports: &Ports<'_>,
) -> Result<Outcome, Error> {
    // Observe and render: every fact with its age, every configuration as a digest. Writes nothing.
    let seen = observe_all(cluster, ports).await?;

    // Plan: pure, from what was observed.
    let draft = match draft(want, cluster, &seen, ports).await? {
        Planned::Nothing => return Ok(Outcome::Settled),
        Planned::Blocked(skipped) => return Ok(Outcome::Blocked(skipped)),
        Planned::Change(draft) => draft,
    };

    // Check: pure, and trusts no plan.
    let checked = checked(draft, cluster, &seen, ports)?;
    drop(seen);

    // Approve: by the hash of the plan, which may take a person hours.
    if is_stopped(follows, ports).await? {
        return Ok(Outcome::Ran(Report::stopped(&checked)));
    }
    let Some(approval) = ports.approver.approve(&checked).await? else {
        return Ok(Outcome::NeedsApproval(Box::new(checked)));
    };
    let approved = checked.approve(approval)?;
    let by = approved.approval().by.clone();
    ports.emit(&Event::Approved { plan: approved.hash(), by });

    // Execute: alone, by slot and lease, and after another look.
    let slot = ports.journal.acquire(Slot::Plan).await?;
    let holder = format!("{} {}", ports.holder, slot.engine);
    let lease = Lease::new(LeaseClaim { holder, plan: approved.hash() }, ports);
    if let LeaseOutcome::HeldBy { holder } = lease.acquire().await? {
        return Err(held(&holder).into());
    }
    let outcome = run_under_lease(cluster, &approved, follows, &lease, ports).await;
    lease.release().await;

    // Record: done on the way, each step before and after it.
    outcome
}

/// Observes and checks again, and executes.
async fn run_under_lease(
    cluster: &Cluster,
    approved: &Plan<Approved>,
    follows: Option<Digest>,
    lease: &Lease<'_>,
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
    if is_stopped(follows, ports).await? {
        return Ok(Outcome::Ran(Report::stopped(approved)));
    }
    // Renderings are not needed from here on.
    let Observation { inventory, desired } = seen;
    drop(desired);
    ports.journal.store_plan(approved).await?;
    // One that was given beforehand is there already.
    if ports.journal.ledger().await?.approved.as_ref() != Some(approved.approval()) {
        ports.journal.append(Entry::PlanApproved(approved.approval().clone())).await?;
    }
    execute(approved, cluster, &inventory, follows, lease, ports).await.map(Outcome::Ran)
}

/// Returns whether a stop was asked for, or the plan that a command carried out before was cancelled since.
async fn is_stopped(follows: Option<Digest>, ports: &Ports<'_>) -> Result<bool, Error> {
    Ok(ports.stop.requested().now_or_never().is_some()
        || follows.is_some() && ports.journal.ledger().await?.cancelled == follows)
}

/// Observes, renders, plans and checks, and changes nothing.
pub async fn propose(cluster: &Cluster, want: Want, ports: &Ports<'_>) -> Result<Proposal, Error> {
    let seen = observe_all(cluster, ports).await?;
    Ok(match draft(want, cluster, &seen, ports).await? {
        Planned::Nothing => Proposal::Nothing,
        Planned::Blocked(skipped) => Proposal::Blocked(skipped),
        Planned::Change(draft) => {
            Proposal::Change(Box::new(checked(draft, cluster, &seen, ports)?))
        }
    })
}

/// Observes and checks a plan that was made before, and changes nothing.
pub async fn check_plan(
    cluster: &Cluster,
    draft: Plan<Draft>,
    ports: &Ports<'_>,
) -> Result<Plan<Checked>, Error> {
    let seen = observe_all(cluster, ports).await?;
    checked(draft, cluster, &seen, ports)
}

/// Returns the plan that is wanted: one that was made before, or what is planned now.
async fn draft(
    want: Want,
    cluster: &Cluster,
    seen: &Observation,
    ports: &Ports<'_>,
) -> Result<Planned, Error> {
    let (goal, overrides) = want.goal();
    if let Want::Plan(draft) = want {
        return Ok(Planned::Change(*draft));
    }
    let unfinished = ports.journal.ledger().await?.unfinished;
    let mut input = input(cluster, seen, &overrides, goal);
    input.parent = unfinished.map(|unfinished| unfinished.plan);
    Ok(match (plan(&input)?, want) {
        (Planned::Change(made), Want::Pending(pending)) => {
            Planned::Change(reuse(*pending, made, ports))
        }
        (planned, _) => planned,
    })
}

fn checked(
    draft: Plan<Draft>,
    cluster: &Cluster,
    seen: &Observation,
    ports: &Ports<'_>,
) -> Result<Plan<Checked>, Error> {
    let checked = check(draft, &input(cluster, seen, &[], Goal::Spec))?;
    let event = Event::Planned { plan: checked.hash(), steps: checked.steps().len() };
    ports.emit(&event);
    Ok(checked)
}

/// Returns the proposal that waits for its approval, or the plan that was made now where that is another one.
fn reuse(pending: Plan<Draft>, made: Plan<Draft>, ports: &Ports<'_>) -> Plan<Draft> {
    let differences = compare(&pending, &made);
    if differences.is_empty() {
        return pending;
    }
    ports.emit(&Event::Replanned {
        replaces: pending.hash(),
        plan: made.hash(),
        differences: differences.iter().map(PlanDifference::to_string).collect(),
    });
    made
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
