//! Waits until a machine that was configured answers as one of the cluster, and records the installation.

use super::{At, Look};
use crate::error::Error;
use crate::journal::Entry;
use crate::ports::Observed;

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    let node = at
        .until(|| async {
            let what = match at.ports.machines.observe(at.machine()?).await {
                // A machine that still installs knows us before it has an identity.
                Observed::Ours(own) => match (own.node, own.is_settled) {
                    (Some(node), true) => return Ok(Look::Done(node)),
                    _ => "the machine to install and boot",
                },
                Observed::Maintenance => "the machine to leave maintenance",
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
