//! Hands a machine its configuration, rendered again and compared with what was approved.

use domain::{ApplyMode, ErrorKind};
use plan::ApplyConfig;

use super::{At, Look, await_machine, sent};
use crate::error::{Error, PortError};
use crate::journal::Entry;
use crate::ports::Observed;

pub(super) async fn act(action: &ApplyConfig, at: &At<'_>) -> Result<(), Error> {
    let cluster = at.execution.cluster;
    let name = at.name;
    let (digest, text) = (at.execution.render)(name)?;
    if digest != action.config {
        let message = format!("{name}: the spec gives another configuration than the plan says");
        return Err(PortError::precondition(message).into());
    }
    let apply = at.ports.lifecycle.apply_config(at.machine()?, &text, action.mode);
    match action.mode {
        ApplyMode::Maintenance => {
            at.execution.append(Entry::MachineConfiguring { machine: name.clone() }).await?;
            match sent(apply.await) {
                Ok(()) => await_machine::act(at, await_machine::JUST_CONFIGURED).await,
                Err(error) => {
                    if error.kind == ErrorKind::Permanent {
                        let machine = name.clone();
                        at.execution.append(Entry::MachineRejected { machine }).await?;
                    }
                    Err(error.into())
                }
            }
        }
        ApplyMode::NoReboot => {
            let applied = apply.await;
            let lost = applied.as_ref().is_err_and(|error| error.may_have_happened);
            sent(applied)?;
            if !lost {
                return Ok(());
            }
            at.until(|| async {
                let has = match at.ports.machines.observe(at.machine()?).await {
                    Observed::Ours(own) => own.config.map(|config| cluster.key.config(&config)),
                    _ => None,
                };
                Ok(match has {
                    Some(digest) if digest == action.config => Look::Done(()),
                    _ => Look::WaitFor("the machine to show its new configuration".to_owned()),
                })
            })
            .await
        }
        // What is staged does not show before the boot; staging it twice changes nothing.
        ApplyMode::Staged => match apply.await {
            Err(error) if error.may_have_happened => {
                let again = at.ports.lifecycle.apply_config(at.machine()?, &text, action.mode);
                Ok(again.await?)
            }
            outcome => Ok(outcome?),
        },
    }
}
