//! Takes a machine's configuration and data away, and waits until it is in maintenance.

use super::{At, Look, sent};
use crate::error::Error;
use crate::journal::Entry;
use crate::ports::Observed;

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    let machine = at.name.clone();
    at.execution.append(Entry::MachineResetting { machine }).await?;
    sent(at.ports.lifecycle.reset(at.machine()?).await)?;
    at.until(|| async {
        Ok(match at.ports.machines.observe(at.machine()?).await {
            Observed::Maintenance => Look::Done(()),
            _ => Look::WaitFor("the machine to boot without its configuration".to_owned()),
        })
    })
    .await?;
    let machine = at.name.clone();
    at.execution.append(Entry::MachineForgotten { machine }).await
}
