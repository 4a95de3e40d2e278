//! Boots a machine again, and waits until it is in another boot.

use super::{At, Look, sent};
use crate::error::{Error, PortError};
use crate::ports::Observed;

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    let before = match at.ports.machines.observe(at.machine()?).await {
        Observed::Ours(own) if own.boot.is_some() => own.boot,
        _ => {
            let message = format!("{}: its boot is not known before its reboot", at.name);
            return Err(PortError::precondition(message).into());
        }
    };
    sent(at.ports.lifecycle.reboot(at.machine()?).await)?;
    at.until(|| async {
        Ok(match at.ports.machines.observe(at.machine()?).await {
            Observed::Ours(own) if own.boot.is_some() && own.boot != before => Look::Done(()),
            _ => Look::WaitFor("the machine to boot".to_owned()),
        })
    })
    .await
}
