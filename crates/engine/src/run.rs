//! One pass over one cluster: the only way in which Ichor changes anything.
//!
//! In: what is wanted ([`Cluster`]) and the world ([`Ports`]). Out: what this pass achieved. Callers repeat it: the
//! command until it is settled, an operator on every reconcile, a server from a task that takes no input.

use std::collections::BTreeMap;

use plan::{
    Against, Approved, Checked, ConfigChange, Draft, Goal, LeftOut, MachineName, Override, Plan,
    Planned, Request, check, plan,
};

use crate::cluster::Cluster;
use crate::error::Error;
use crate::event::Event;
use crate::execute::{Report, execute};
use crate::journal::unfinished;
use crate::observe::{Observation, observe_all};
use crate::ports::Ports;

/// What a pass achieved.
#[derive(Debug)]
pub enum Outcome {
    /// Everything is as it should be.
    Settled,
    /// Nothing can be done for now.
    Waiting(Vec<LeftOut>),
    /// Somebody has to say yes first.
    NeedsApproval(Box<Plan<Checked>>),
    /// A plan was carried out, wholly or in part.
    Ran(Report),
}

/// What would be done.
#[derive(Debug)]
pub enum Proposal {
    /// Nothing: everything is as it should be.
    Nothing,
    /// Nothing for now.
    Wait(Vec<LeftOut>),
    /// This, once it is approved.
    Change(Box<Plan<Checked>>),
}

/// One pass.
pub async fn run(
    cluster: &Cluster,
    goal: Goal,
    overrides: &[Override],
    ports: &Ports<'_>,
) -> Result<Outcome, Error> {
    match propose(cluster, goal, overrides, ports).await? {
        Proposal::Nothing => Ok(Outcome::Settled),
        Proposal::Wait(left_out) => Ok(Outcome::Waiting(left_out)),
        Proposal::Change(checked) => finish(cluster, *checked, ports).await,
    }
}

/// Observes, plans and checks, and changes nothing.
pub async fn propose(
    cluster: &Cluster,
    goal: Goal,
    overrides: &[Override],
    ports: &Ports<'_>,
) -> Result<Proposal, Error> {
    let seen = observe_all(cluster, ports).await?;
    let request = Request {
        spec: &cluster.spec,
        goal,
        desired: &seen.desired,
        inventory: &seen.inventory,
        identity: cluster.key.cluster(),
        parent: unfinished(&ports.journal.read().await?),
        overrides,
    };
    match plan(&request)? {
        Planned::Nothing => Ok(Proposal::Nothing),
        Planned::Wait(left_out) => Ok(Proposal::Wait(left_out)),
        Planned::Change(draft) => {
            let checked = checked(cluster, draft, &seen, ports)?;
            Ok(Proposal::Change(Box::new(checked)))
        }
    }
}

/// Carries out a plan that was made before, if it still keeps every rule.
pub async fn run_plan(
    cluster: &Cluster,
    draft: Plan<Draft>,
    ports: &Ports<'_>,
) -> Result<Outcome, Error> {
    let seen = observe_all(cluster, ports).await?;
    let checked = checked(cluster, draft, &seen, ports)?;
    finish(cluster, checked, ports).await
}

/// What a machine's configuration is beside what it should be.
pub type Compared = Result<ConfigChange, String>;

/// Compares every machine with the spec; where one has no configuration to compare, why not.
pub async fn compare_live(
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<BTreeMap<MachineName, Compared>, Error> {
    let Observation { inventory, desired } = observe_all(cluster, ports).await?;
    let compared = desired.into_iter().map(|(name, rendering)| {
        let why_not = || match inventory.machines.get(&name) {
            Some(facts) => facts.config.why_not(inventory.taken),
            None => "nobody looked at it".to_owned(),
        };
        let change = rendering.change.ok_or_else(why_not);
        (name, change)
    });
    Ok(compared.collect())
}

fn checked(
    cluster: &Cluster,
    draft: Plan<Draft>,
    seen: &Observation,
    ports: &Ports<'_>,
) -> Result<Plan<Checked>, Error> {
    let against = Against {
        spec: &cluster.spec,
        desired: &seen.desired,
        inventory: &seen.inventory,
        identity: cluster.key.cluster(),
    };
    let checked = check(draft, &against)?;
    let event = Event::Planned { plan: checked.hash(), steps: checked.steps().len() };
    ports.events.tell(&event);
    Ok(checked)
}

/// Approves, executes and records.
async fn finish(
    cluster: &Cluster,
    checked: Plan<Checked>,
    ports: &Ports<'_>,
) -> Result<Outcome, Error> {
    let Some(approval) = ports.approve.approve(&checked).await? else {
        return Ok(Outcome::NeedsApproval(Box::new(checked)));
    };
    let by = approval.by.clone();
    let approved: Plan<Approved> = checked.approve(approval)?;
    ports.events.tell(&Event::Approved { plan: approved.hash(), by });
    ports.journal.keep_plan(&approved).await?;
    let report = execute(&approved, cluster, ports).await?;
    Ok(Outcome::Ran(report))
}
