//! Machines that are made and destroyed: one trait for every place where machines come from.
//!
//! Guarantees: a machine is known by cluster, name and generation. An engine that asks for it again, after a kill and
//! with another plan, gets the one that is there.

mod conformance;
mod metal;

use async_trait::async_trait;
use domain::{
    Address, ClassName, Digest, ErrorKind, Instance, MachineName, ProviderId, ProviderName,
};
use plan::ClusterSpec;

use crate::error::{self, PortError};

pub use conformance::conformance;
pub use metal::Metal;

/// Makes and destroys machines. An error says whether the call may have been carried out all the same
/// ([`PortError::may_have_happened`]); one that is not `Retryable` stops a pass before anything is touched.
#[async_trait]
pub trait Provider: Send + Sync {
    /// Returns its name: `metal`.
    fn name(&self) -> &'static str;

    /// Makes a machine, or gives the one that was made for the same key.
    async fn ensure(
        &self,
        key: &MachineKey,
        class: &ClassName,
    ) -> Result<ProvidedMachine, PortError>;

    /// Takes a machine away, by the provider's own identity; one that is not there is not an error.
    async fn destroy(&self, id: &ProviderId) -> Result<(), PortError>;

    /// Lists all machines that it has for a cluster.
    async fn list(&self, cluster: Digest) -> Result<Vec<ProvidedMachine>, PortError>;
}

/// Identifies a machine at its provider, whichever plan asks for it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct MachineKey {
    /// The cluster.
    pub cluster: Digest,
    /// The name in the spec.
    pub machine: MachineName,
    /// Grows with every replacement of the machine.
    pub generation: u32,
}

/// A machine that a provider has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvidedMachine {
    /// Its name in the spec.
    pub name: MachineName,
    /// The provider's identity of it.
    pub instance: Instance,
    /// The address, once it is known.
    pub address: Option<Address>,
}

/// Returns the provider that a spec names.
pub fn from_spec(spec: &ClusterSpec) -> Result<Box<dyn Provider>, PortError> {
    match spec.provider.as_ref().map(ProviderName::as_str) {
        None | Some(ProviderName::METAL) => Ok(Box::new(Metal)),
        Some(name) => {
            let message = format!("there is no provider {name}, only {}", ProviderName::METAL);
            Err(PortError::new(error::PROVIDER_UNKNOWN, ErrorKind::Permanent, message))
        }
    }
}

/// Returns the error of a provider that has no credentials, or whose credentials are refused. It stops a pass before
/// anything is touched.
pub fn no_credentials(provider: &str, message: &str) -> PortError {
    let message = format!("{provider}: {message}");
    PortError::new(error::PROVIDER_CREDENTIALS, ErrorKind::NeedsPerson, message)
}
