//! Machines that have gone out of service since the plan was checked.
//!
//! A plan counts those that do not serve when it is checked. A step may come hours later: after a window has opened, or at the
//! end of a long roll-out. Guarantees: no machine is disturbed beside others on facts that are older than [`MAX_AGE`]. One look
//! that misses a machine does not stop a roll-out: it is looked at again for some minutes.

use std::time::Duration;

use domain::{Inventory, MAX_AGE, MachineName};
use plan::{Awaited, Rule, Step, out_of_service_finding};

use super::{At, Look};
use crate::error::{Error, PortError};
use crate::observe::observe_from;
use crate::stamp::Stamp;

/// The last look at all machines.
pub(super) type LastLook = tokio::sync::Mutex<(Stamp, Inventory)>;

pub(super) async fn check(at: &At<'_>) -> Result<(), Error> {
    let (execution, clock) = (at.execution, at.ports.clock);
    // What this plan brings into the cluster did not serve before either.
    let joins = |step: &Step| step.action.nature().awaits == Some(Awaited::Machine);
    let is_meant = |name: &MachineName| {
        let mut steps = execution.plan.steps().iter();
        execution.plan.overrides(Rule::OrderOutOfService, Some(name))
            || steps.any(|step| step.on.machine() == Some(name) && joins(step))
    };
    let judge = |inventory: &Inventory| {
        out_of_service_finding(at.name, &execution.cluster.spec, inventory, is_meant)
    };
    // Steps of one batch wait for one look.
    let mut last = execution.last_look.lock().await;
    if last.0.is_within(MAX_AGE.duration(), clock) && judge(&last.1).is_none() {
        return Ok(());
    }
    let started = clock.monotonic();
    let looked = at.until(|| async {
        let stamp = Stamp::now(clock);
        let inventory = observe_from(&execution.addresses, execution.cluster, at.ports).await?;
        match judge(&inventory) {
            None => Ok(Look::Done((stamp, inventory))),
            Some(finding) if clock.monotonic().saturating_sub(started) < COMES_BACK => {
                Ok(Look::WaitFor(finding.message))
            }
            Some(finding) => Err(PortError::precondition(finding.message).into()),
        }
    });
    *last = looked.await?;
    Ok(())
}

/// A machine that misses one look, or boots again by itself, is back within this.
const COMES_BACK: Duration = Duration::from_mins(2);
