//! Has a provider make a machine, and waits until it answers.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::ErrorKind;
use plan::ProvideMachine;

use super::{At, Look};
use crate::cluster::MachineAddress;
use crate::error::{Error, PortError};
use crate::journal::Entry;
use crate::ports::Observed;
use crate::provider::{MachineKey, ProvidedMachine};

pub(super) async fn act(action: &ProvideMachine, at: &At<'_>) -> Result<(), Error> {
    let cluster = at.execution.cluster;
    let Some((spec, _)) = cluster.spec.machine(at.name) else {
        return Err(PortError::precondition(format!("{} is not in the spec", at.name)).into());
    };
    let (machine, generation) = (at.name.clone(), action.generation);
    at.execution.append(Entry::MachineProviding { machine, generation }).await?;
    let key = MachineKey { cluster: cluster.identity(), machine: at.name.clone(), generation };
    let asked = Mutex::new(None);
    at.until(|| async {
        let is_it = |made: &&ProvidedMachine| {
            made.name == *at.name && made.instance.generation == generation
        };
        // Asked for again while it is not there: a request may be lost, and a second one makes no second machine.
        let now = at.ports.clock.monotonic();
        let asks = asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none_or(|since| now.saturating_sub(since) > ASK_AGAIN);
        let found = match at.execution.provided().await {
            Ok(listed) => match listed.iter().find(is_it) {
                None if asks => {
                    *asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
                    at.ports.provider.ensure(&key, &action.class).await.map(Some)
                }
                found => Ok(found.cloned()),
            },
            Err(error) => Err(error),
        };
        let address = match found {
            Ok(found) => found.and_then(|made| made.address),
            Err(error) if error.kind == ErrorKind::Retryable => {
                return Ok(Look::WaitFor(error.message));
            }
            Err(error) => return Err(error.into()),
        };
        let Some(address) = address else {
            return Ok(Look::WaitFor("the provider to report its address".to_owned()));
        };
        Ok(match at.ports.machines.observe(&MachineAddress::new(spec, address)).await {
            Observed::Unreachable(_) => Look::WaitFor("the machine to answer".to_owned()),
            // Whatever it is, the next plan judges it.
            Observed::Maintenance | Observed::Ours(_) | Observed::Foreign => Look::Done(()),
        })
    })
    .await
}

/// Providers list a machine within seconds of making it.
const ASK_AGAIN: Duration = Duration::from_secs(30);
