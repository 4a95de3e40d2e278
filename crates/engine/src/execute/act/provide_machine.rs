//! Has a provider make a machine, and waits until it answers.

use plan::ProvideMachine;

use super::{At, Look, sent};
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
    let identity = cluster.key.cluster();
    let key = MachineKey { cluster: identity, machine: at.name.clone(), generation };
    sent(at.ports.provider.ensure(&key, &action.class).await.map(drop))?;
    at.until(|| async {
        let listed = match at.ports.provider.list(identity).await {
            Ok(listed) => listed,
            Err(error) if error.kind == domain::Kind::Retryable => {
                return Ok(Look::WaitFor(error.message));
            }
            Err(error) => return Err(error.into()),
        };
        let is_it = |made: &&ProvidedMachine| {
            made.name == *at.name && made.instance.generation == generation
        };
        let Some(address) = listed.iter().find(is_it).and_then(|made| made.address) else {
            return Ok(Look::WaitFor("the provider to tell its address".to_owned()));
        };
        Ok(match at.ports.machines.observe(&MachineAddress::new(spec, address)).await {
            Observed::Unreachable(_) => Look::WaitFor("the machine to answer".to_owned()),
            // Whatever it is, the next plan judges it.
            Observed::Maintenance | Observed::Ours(_) | Observed::Foreign => Look::Done(()),
        })
    })
    .await
}
