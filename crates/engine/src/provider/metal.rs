//! Machines that people put there: nothing is made, and nothing is taken away.

use async_trait::async_trait;
use domain::{ClassName, Digest, ErrorKind, ProviderId, ProviderName};

use super::{MachineKey, ProvidedMachine, Provider};
use crate::error::{self, PortError};

/// The provider of a cluster whose machines all have an address in the spec.
#[derive(Clone, Copy, Debug)]
pub struct Metal;

#[async_trait]
impl Provider for Metal {
    fn name(&self) -> &'static str {
        ProviderName::METAL
    }

    async fn ensure(
        &self,
        key: &MachineKey,
        _class: &ClassName,
    ) -> Result<ProvidedMachine, PortError> {
        let message =
            format!("{} makes no machines, and {} has no address", self.name(), key.machine);
        Err(PortError::new(error::PROVIDER_UNKNOWN, ErrorKind::Permanent, message))
    }

    async fn destroy(&self, _id: &ProviderId) -> Result<(), PortError> {
        Ok(())
    }

    async fn list(&self, _cluster: Digest) -> Result<Vec<ProvidedMachine>, PortError> {
        Ok(Vec::new())
    }
}
