//! Machines, to disturb or to destroy: every call asks for the lease once more.
//!
//! A step that was started under a fresh lease may be held up before its call: by a slow disk, a machine that answers
//! late, or a computer that sleeps. Guarantees: no machine is disturbed by an engine whose lease may be another's by then.

use async_trait::async_trait;
use domain::{ApplyMode, ClassName, Digest, ProviderId};
use plan::Step;
use talos_config::Secret;

use super::Execution;
use crate::cluster::MachineAddress;
use crate::error::PortError;
use crate::ports::Lifecycle;
use crate::provider::{MachineKey, ProvidedMachine, Provider};

pub(super) struct Guarded<'a> {
    pub(super) execution: &'a Execution<'a>,
    pub(super) step: &'a Step,
}

impl<'a> Guarded<'a> {
    async fn lifecycle(&self) -> Result<&'a dyn Lifecycle, PortError> {
        self.execution.ensure_lease(self.step).await?;
        Ok(self.execution.ports.lifecycle)
    }
}

#[async_trait]
impl Provider for Guarded<'_> {
    fn name(&self) -> &'static str {
        self.execution.ports.provider.name()
    }

    async fn ensure(
        &self,
        key: &MachineKey,
        class: &ClassName,
    ) -> Result<ProvidedMachine, PortError> {
        // Two engines that ask for one machine get one: nothing has to keep the second one out.
        self.execution.ports.provider.ensure(key, class).await
    }

    async fn destroy(&self, id: &ProviderId) -> Result<(), PortError> {
        self.execution.ensure_lease(self.step).await?;
        self.execution.ports.provider.destroy(id).await
    }

    async fn list(&self, cluster: Digest) -> Result<Vec<ProvidedMachine>, PortError> {
        self.execution.ports.provider.list(cluster).await
    }
}

#[async_trait]
impl Lifecycle for Guarded<'_> {
    async fn apply_config(
        &self,
        machine: &MachineAddress,
        config: &Secret<String>,
        mode: ApplyMode,
    ) -> Result<(), PortError> {
        self.lifecycle().await?.apply_config(machine, config, mode).await
    }

    async fn reboot(&self, machine: &MachineAddress) -> Result<(), PortError> {
        self.lifecycle().await?.reboot(machine).await
    }

    async fn reset(&self, machine: &MachineAddress) -> Result<(), PortError> {
        self.lifecycle().await?.reset(machine).await
    }

    async fn bootstrap(&self, machine: &MachineAddress) -> Result<bool, PortError> {
        self.lifecycle().await?.bootstrap(machine).await
    }

    async fn forfeit_leadership(&self, machine: &MachineAddress) -> Result<(), PortError> {
        self.lifecycle().await?.forfeit_leadership(machine).await
    }
}
