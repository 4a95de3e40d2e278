//! Machines, to change.

use async_trait::async_trait;
use domain::ApplyMode;
use talos_config::Secret;

use crate::cluster::MachineAddress;
use crate::error::PortError;

/// Machines, to change. Each call is made once and never repeated by the port; an error says whether it may have been
/// carried out all the same ([`PortError::may_have_happened`]).
#[async_trait]
pub trait Lifecycle: Send + Sync {
    /// Hands a machine its configuration.
    async fn apply_config(
        &self,
        machine: &MachineAddress,
        config: &Secret<String>,
        mode: ApplyMode,
    ) -> Result<(), PortError>;

    /// Boots a machine again.
    async fn reboot(&self, machine: &MachineAddress) -> Result<(), PortError>;

    /// Takes away what makes it a machine of the cluster, and boots it into maintenance.
    async fn reset(&self, machine: &MachineAddress) -> Result<(), PortError>;

    /// Bootstraps etcd. `Ok(false)` when the machine has one already.
    async fn bootstrap(&self, machine: &MachineAddress) -> Result<bool, PortError>;

    /// Lets another member of etcd lead.
    async fn forfeit_leadership(&self, machine: &MachineAddress) -> Result<(), PortError>;
}
