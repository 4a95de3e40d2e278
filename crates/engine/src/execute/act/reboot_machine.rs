//! Boots a machine again, and waits until it is in another boot.

use super::{At, Look, sent};
use crate::error::{Error, PortError};
use crate::ports::{NextBoot, Observed};

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    let refuse = |why: &str| Err(PortError::precondition(format!("{}: {why}", at.name)).into());
    let before = match at.ports.machines.observe(at.machine()?).await {
        Observed::Ours(own) if own.boot.is_some() => {
            let (wanted, _) = (at.execution.render)(at.name)?;
            let key = &at.execution.cluster.key;
            let next = match &own.next_boot {
                NextBoot::NotKnown => None,
                NextBoot::Same => own.config.as_ref(),
                NextBoot::Other(staged) => Some(&**staged),
            };
            if next.is_some_and(|next| key.config(next) != wanted) {
                return refuse("it would boot with another configuration than the plan has staged");
            }
            own.boot
        }
        _ => return refuse("its boot is not known before its reboot"),
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
