//! What is wanted of one cluster, with everything that its machines' configuration is made of.

use domain::{Address, DigestKey, Fingerprint, MachineName};
use plan::{ClusterSpec, Layers, Machine, Renderer};
use talos_config::{Bundle, Mode};

/// One cluster, as a door describes it.
pub struct Cluster {
    /// What is wanted.
    pub spec: ClusterSpec,
    /// What the configuration of its machines is laid together from.
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

impl From<&Machine> for MachineAddress {
    fn from(machine: &Machine) -> Self {
        Self {
            name: machine.name.clone(),
            address: machine.address,
            fingerprints: machine.fingerprints.clone(),
        }
    }
}

impl Cluster {
    /// All machines, control planes first.
    pub fn addresses(&self) -> Vec<MachineAddress> {
        self.spec.machines().map(|(machine, _)| machine.into()).collect()
    }

    /// The machines that run etcd.
    pub fn control_planes(&self) -> Vec<MachineAddress> {
        self.spec.control_plane.machines.iter().map(MachineAddress::from).collect()
    }

    /// A machine by its name.
    pub fn address(&self, name: &MachineName) -> Option<MachineAddress> {
        self.spec.machine(name).map(|(machine, _)| machine.into())
    }

    /// What makes the configuration of its machines.
    pub fn renderer(&self) -> Renderer<'_> {
        Renderer::new(&self.spec, &self.layers, &self.secrets, &self.key, self.mode)
    }
}
