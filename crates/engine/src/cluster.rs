//! What is wanted of one cluster, with everything that its machines' configuration is made of.

use domain::{Address, Digest, DigestKey, Fingerprint, Inventory, MachineName};
use plan::{ClusterSpec, Layers, Machine, Renderer};
use talos_config::{Bundle, Mode};

/// One cluster, as a door describes it.
pub struct Cluster {
    /// What is wanted.
    pub spec: ClusterSpec,
    /// The layers of its machines' configuration.
    pub layers: Layers,
    /// Its secrets.
    pub secrets: Bundle,
    /// The key of its digests.
    pub key: DigestKey,
    /// Where its machines run.
    pub mode: Mode,
}

/// Where a machine is called.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MachineAddress {
    /// Its name in the spec.
    pub name: MachineName,
    /// Its address.
    pub address: Address,
    /// Certificates that it may show in maintenance; any will do where there is none.
    pub fingerprints: Vec<Fingerprint>,
}

impl MachineAddress {
    /// A machine of the spec at an address.
    pub fn new(machine: &Machine, address: Address) -> Self {
        Self { name: machine.name.clone(), address, fingerprints: machine.fingerprints.clone() }
    }
}

impl Cluster {
    /// Returns the observed addresses, control planes first.
    pub fn addresses(&self, inventory: &Inventory) -> Vec<MachineAddress> {
        let known = self.spec.machines().filter_map(|(machine, _)| {
            let address = &inventory.machines.get(&machine.name)?.address;
            Some(MachineAddress::new(machine, *address.current(inventory.taken)?))
        });
        known.collect()
    }

    /// Identifies the cluster in plans and at its provider.
    pub fn identity(&self) -> Digest {
        self.key.cluster(&self.spec.cluster)
    }

    /// What makes the configuration of its machines.
    pub fn renderer(&self) -> Renderer<'_> {
        Renderer::new(&self.spec, &self.layers, &self.secrets, &self.key, self.mode)
    }
}
