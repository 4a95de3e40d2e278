//! Machines that people put there: nothing is made, and destroying one leaves it to its owner.

use async_trait::async_trait;
use domain::Kind;

use super::{MachineKey, ProvidedMachine, Provider, ProviderId};
use crate::cluster::MachineAddress;
use crate::error::PortError;

/// The machines that the spec names.
#[derive(Clone, Debug)]
pub struct Metal {
    machines: Vec<MachineAddress>,
}

impl Metal {
    /// These machines and no others.
    pub fn new(machines: Vec<MachineAddress>) -> Self {
        Self { machines }
    }
}

#[async_trait]
impl Provider for Metal {
    fn name(&self) -> &'static str {
        "metal"
    }

    async fn ensure(&self, key: &MachineKey) -> Result<ProvidedMachine, PortError> {
        let found = self.machines.iter().find(|machine| machine.name == key.machine);
        found.map(provided).ok_or_else(|| {
            let message = format!("there is no machine {}, and metal makes none", key.machine);
            PortError::new("engine.precondition", Kind::NeedsPerson, message)
        })
    }

    async fn destroy(&self, _id: &ProviderId) -> Result<(), PortError> {
        Ok(())
    }

    async fn list(&self) -> Result<Vec<ProvidedMachine>, PortError> {
        Ok(self.machines.iter().map(provided).collect())
    }
}

fn provided(machine: &MachineAddress) -> ProvidedMachine {
    ProvidedMachine {
        id: ProviderId(machine.name.to_string()),
        name: machine.name.clone(),
        address: Some(machine.address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::conformance;

    #[tokio::test]
    async fn metal_conforms() {
        let machine = |name: &str, address: &str| MachineAddress {
            name: name.parse().unwrap(),
            address: address.parse().unwrap(),
            fingerprints: Vec::new(),
        };
        let metal = Metal::new(vec![machine("a", "127.0.0.1"), machine("b", "127.0.0.2")]);
        conformance(&metal, &"a".parse().unwrap(), &"b".parse().unwrap()).await;
    }
}
