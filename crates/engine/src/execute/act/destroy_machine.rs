//! Has a provider take a machine away, and waits until it does not list it any more.

use domain::{ErrorKind, Instance};
use plan::DestroyMachine;

use super::{At, Look, sent};
use crate::error::Error;
use crate::journal::Entry;

pub(super) async fn act(action: &DestroyMachine, at: &At<'_>) -> Result<(), Error> {
    let Instance { id, generation } = &action.instance;
    let (machine, generation) = (at.name.clone(), *generation);
    at.execution.append(Entry::MachineDestroying { machine, generation }).await?;
    sent(at.ports.provider.destroy(id).await)?;
    at.until(|| async {
        Ok(match at.execution.provided().await {
            Ok(listed) if listed.iter().all(|made| made.instance.id != *id) => Look::Done(()),
            Ok(_) => Look::WaitFor("the provider to take the machine away".to_owned()),
            Err(error) if error.kind == ErrorKind::Retryable => Look::WaitFor(error.message),
            Err(error) => return Err(error.into()),
        })
    })
    .await?;
    let machine = at.name.clone();
    at.execution.append(Entry::MachineDestroyed { machine, generation }).await
}
