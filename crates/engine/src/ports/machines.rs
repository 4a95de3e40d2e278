//! Machines, to look at.

use async_trait::async_trait;
use domain::{BootId, Disk, NodeIdentity, NodeName, TalosVersion};
use talos_config::{Config, Secret};

use crate::cluster::MachineAddress;
use crate::error::PortError;

/// Machines, to look at. Nothing here changes one.
#[async_trait]
pub trait Machines: Send + Sync {
    /// Observes a machine.
    async fn observe(&self, machine: &MachineAddress) -> Observed;

    /// Returns the disks that Talos could be installed to, on a machine in maintenance; or why they do not matter.
    async fn disks(&self, machine: &MachineAddress) -> Result<Vec<Disk>, String>;

    /// Reads the components of a machine of ours, with their state.
    async fn components(&self, machine: &MachineAddress) -> Result<Vec<Component>, PortError>;

    /// Fetches an administrator's credentials for the Kubernetes API.
    async fn kubeconfig(&self, machine: &MachineAddress) -> Result<Secret<String>, PortError>;
}

/// The observed state of a machine.
pub enum Observed {
    /// It waits for configuration.
    Maintenance,
    /// It knows our credentials.
    Ours(Box<OwnMachine>),
    /// It has configuration, and another CA than ours.
    Foreign,
    /// Nothing, for this reason.
    Unreachable(String),
}

/// A machine that knows our credentials. What it does not tell yet is not known: a machine that is being installed
/// answers before it has an identity.
pub struct OwnMachine {
    /// The installation.
    pub node: Option<NodeIdentity>,
    /// The boot.
    pub boot: Option<BootId>,
    /// The release.
    pub talos: TalosVersion,
    /// The configuration that it has.
    pub config: Option<Config>,
    /// The configuration that it boots with next.
    pub next_boot: NextBoot,
    /// All addresses at which others may reach it.
    pub addresses: Vec<String>,
    /// The name of its node in Kubernetes.
    pub node_name: Option<NodeName>,
    /// It is through with installing and boots or runs, so that what it says about itself stays.
    pub is_settled: bool,
}

/// The configuration that a machine boots with next.
pub enum NextBoot {
    /// It does not tell, as before 1.10.
    NotKnown,
    /// The one that it has.
    Same,
    /// Another one, which was staged.
    Other(Box<Config>),
}

/// Something that runs on a machine: a service of Talos, or a part of Kubernetes' control plane.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Component {
    /// Its name, such as `etcd` or `kube-scheduler`.
    pub name: String,
    /// The state that it is in.
    pub state: String,
    /// It does what it should, with the configuration that the machine has.
    pub is_healthy: bool,
    /// The reason why not.
    pub reason: String,
}
