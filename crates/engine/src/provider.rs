//! Machines that are made and destroyed: one trait for every place where machines come from.
//!
//! Guarantees: a machine is known by cluster, name and generation. Who asks for it again, after a kill and with another
//! plan, gets the one that is there.

mod metal;

use async_trait::async_trait;
use domain::{Address, Digest, MachineName};

use crate::error::PortError;

pub use metal::Metal;

/// Makes and destroys machines.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What it is called: `metal`.
    fn name(&self) -> &'static str;

    /// Makes a machine, or gives the one that was made for the same key.
    async fn ensure(&self, key: &MachineKey) -> Result<ProvidedMachine, PortError>;

    /// Takes a machine away, by the provider's own id; one that is not there is not an error.
    async fn destroy(&self, id: &ProviderId) -> Result<(), PortError>;

    /// All machines that it has for the cluster.
    async fn list(&self) -> Result<Vec<ProvidedMachine>, PortError>;
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

/// What a provider itself calls a machine.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ProviderId(pub String);

/// A machine that a provider has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvidedMachine {
    /// What the provider calls it.
    pub id: ProviderId,
    /// Its name in the spec.
    pub name: MachineName,
    /// Where it is, once that is known.
    pub address: Option<Address>,
}

/// What every provider has to do: for its tests. `first` and `second` are machines that it can have.
///
/// # Panics
/// Where the provider does not do it.
pub async fn conformance(provider: &dyn Provider, first: &MachineName, second: &MachineName) {
    let cluster: Digest = "5".repeat(64).parse().expect("a digest");
    let key =
        |machine: &MachineName| MachineKey { cluster, machine: machine.clone(), generation: 1 };
    // An engine that was killed before it could write the answer down, dropped in the middle of the call.
    drop(provider.ensure(&key(first)));
    let made = provider.ensure(&key(first)).await.expect("a machine");
    assert_eq!(made.name, *first);
    // Another engine with another plan.
    let again = provider.ensure(&key(first)).await.expect("the same machine");
    assert_eq!(again.id, made.id, "asked again, it made another one");
    provider.ensure(&key(second)).await.expect("a second machine");
    let listed = provider.list().await.expect("a list");
    for name in [first, second] {
        assert_eq!(listed.iter().filter(|listed| listed.name == *name).count(), 1, "{name}");
    }
    provider.destroy(&made.id).await.expect("the end of it");
    provider.destroy(&made.id).await.expect("asked again");
    provider.destroy(&ProviderId("never made".to_owned())).await.expect("nothing to end");
    let back = provider.ensure(&key(first)).await.expect("made again");
    assert_eq!(back.name, *first);
}
