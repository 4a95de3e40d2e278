//! Machines that somebody put there: nothing is made, and destroying one leaves it to its owner.

use async_trait::async_trait;
use plan::{Kind, MachineName};

use super::{Effect, Provided, Provider};
use crate::cluster::Target;
use crate::error::Trouble;

/// The machines that the spec names.
#[derive(Clone, Debug)]
pub struct Metal {
    machines: Vec<Target>,
}

impl Metal {
    /// These machines and no others.
    pub fn new(machines: Vec<Target>) -> Self {
        Self { machines }
    }
}

#[async_trait]
impl Provider for Metal {
    fn name(&self) -> &'static str {
        "metal"
    }

    async fn ensure(&self, _effect: &Effect, machine: &MachineName) -> Result<Provided, Trouble> {
        let found = self.machines.iter().find(|target| target.name == *machine);
        found.map(provided).ok_or_else(|| Trouble {
            code: "engine.precondition",
            kind: Kind::NeedsPerson,
            message: format!("there is no machine {machine}, and metal makes none"),
        })
    }

    async fn destroy(&self, _effect: &Effect, _machine: &MachineName) -> Result<(), Trouble> {
        Ok(())
    }

    async fn list(&self) -> Result<Vec<Provided>, Trouble> {
        Ok(self.machines.iter().map(provided).collect())
    }
}

fn provided(target: &Target) -> Provided {
    Provided { name: target.name.clone(), address: target.address }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::conformance;

    #[tokio::test]
    async fn metal_conforms() {
        let target = |name: &str, address: &str| Target {
            name: name.parse().unwrap(),
            address: address.parse().unwrap(),
        };
        let metal = Metal::new(vec![target("a", "127.0.0.1"), target("b", "127.0.0.2")]);
        conformance(&metal, &"a".parse().unwrap(), &"b".parse().unwrap()).await;
    }
}
