//! Waits until a machine that was configured answers as one of the cluster, and records the installation.
//!
//! A machine that lost power before it could store its configuration comes back in maintenance: it is not waited for, since
//! the next plan has to hand it its configuration again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::ErrorKind;

use super::{At, Look};
use crate::error::IN_MAINTENANCE;
use crate::error::{Error, PortError};
use crate::journal::Entry;
use crate::ports::Observed;

/// `patience` is how long it may still be seen in maintenance.
pub(super) async fn act(at: &At<'_>, patience: Duration) -> Result<(), Error> {
    let in_maintenance_since = Mutex::new(None);
    let node = at
        .until(|| async {
            let observed = at.ports.machines.observe(at.machine()?).await;
            let now = at.ports.clock.monotonic();
            let mut since = in_maintenance_since.lock().unwrap_or_else(PoisonError::into_inner);
            if !matches!(observed, Observed::Maintenance) {
                *since = None;
            }
            let what = match observed {
                // A machine that still installs knows us before it has an identity.
                Observed::Ours(own) => match (own.node, own.is_settled) {
                    (Some(node), true) => return Ok(Look::Done(node)),
                    _ => "the machine to install and boot",
                },
                Observed::Maintenance => {
                    if now.saturating_sub(*since.get_or_insert(now)) >= patience {
                        let message =
                            format!("{} is in maintenance, without its configuration", at.name);
                        let error = PortError::new(IN_MAINTENANCE, ErrorKind::Retryable, message);
                        return Err(error.into());
                    }
                    "the machine to leave maintenance"
                }
                Observed::Foreign | Observed::Unreachable(_) => {
                    "the machine to start with its configuration"
                }
            };
            Ok(Look::WaitFor(what.to_owned()))
        })
        .await?;
    let machine = at.name.clone();
    at.execution.append(Entry::MachineRecorded { machine, node, member: None }).await
}

/// A machine that accepted its configuration may check its disks for minutes before it leaves maintenance.
pub(super) const JUST_CONFIGURED: Duration = Duration::from_mins(5);
/// One that was configured by an engine that was killed has left maintenance, or has not got its configuration.
pub(super) const CONFIGURED_BEFORE: Duration = Duration::from_mins(1);
