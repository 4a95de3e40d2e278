//! Machines that have gone out of service since the plan was checked.
//!
//! A plan counts those that do not serve when it is checked. A step may come hours later: after a window has opened, or at the
//! end of a long roll-out. Guarantees: no machine is disturbed beside others on facts that are older than [`FACTS_HOLD`].

use std::time::Duration;

use domain::Inventory;
use plan::disturbs_too_many;

use super::At;
use crate::error::{Error, PortError};
use crate::observe::observe;

/// The last look at all machines, and when it was by the monotonic clock.
pub(super) type LastLook = tokio::sync::Mutex<(Duration, Inventory)>;

pub(super) async fn check(at: &At<'_>) -> Result<(), Error> {
    let execution = at.execution;
    let judge = |inventory: &Inventory| {
        let overrides = &execution.plan.body().overrides;
        disturbs_too_many(at.name, &execution.cluster.spec, inventory, overrides)
    };
    // Steps of one batch wait for one look.
    let mut last = execution.last_look.lock().await;
    let now = at.ports.clock.monotonic();
    if now.saturating_sub(last.0) < FACTS_HOLD && judge(&last.1).is_none() {
        return Ok(());
    }
    let inventory = observe(execution.cluster, at.ports).await?;
    let finding = judge(&inventory);
    *last = (now, inventory);
    match finding {
        Some(finding) => Err(PortError::precondition(finding.message).into()),
        None => Ok(()),
    }
}

/// As long as facts of an inventory are believed.
const FACTS_HOLD: Duration = Duration::from_mins(5);
