//! The release that a machine runs, and the features of releases.

use talos_config::{Contract, TalosVersion};

use crate::error::{CallError, NodeError};
use crate::node::Node;

/// A feature of some releases only.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Feature {
    /// Naming the logs of all services.
    LogsContainers,
    /// The disks of a machine as resources.
    DiskResources,
    /// Wiping a disk or a partition.
    BlockDeviceWipe,
    /// Dropping a partition when it is wiped.
    DropPartition,
    /// The version of a machine as a resource.
    VersionResource,
    /// Going back to an older etcd.
    EtcdDowngrade,
    /// Rebooting without stopping anything first.
    ForcedReboot,
    /// Images by containerd instance, with progress.
    ImageService,
    /// Installation and upgrade with progress.
    LifecycleService,
    /// Telling the version to clients without a certificate.
    VersionInMaintenance,
    /// Applying configuration with a reboot that Talos decides about or is told to do.
    RebootOnApply,
    /// The id of the boot as a resource.
    BootIdResource,
}

impl Feature {
    /// Returns whether machines of a release have it. Builds before a release count as the release.
    pub fn is_in(self, release: &TalosVersion) -> bool {
        let (since, until) = self.contracts();
        let runs = release.contract();
        since <= runs && until.is_none_or(|until| runs < until)
    }

    /// Returns the release that brought it, and the one that took it away.
    fn contracts(self) -> (Contract, Option<Contract>) {
        let since = |minor| (Contract::new(1, minor), None);
        match self {
            Self::LogsContainers => since(7),
            Self::DiskResources => since(8),
            Self::BlockDeviceWipe => since(9),
            Self::DropPartition | Self::VersionResource => since(10),
            Self::EtcdDowngrade => since(11),
            Self::ForcedReboot => since(12),
            Self::ImageService | Self::LifecycleService | Self::VersionInMaintenance => since(13),
            Self::RebootOnApply => (Contract::new(1, 0), Some(Contract::new(1, 14))),
            Self::BootIdResource => since(14),
        }
    }
}

impl Node {
    /// Returns the release that the machine runs. A machine in maintenance tells since 1.13.
    pub async fn release(&self) -> Result<TalosVersion, NodeError> {
        let reply = self
            .retrying(|node| async move { node.call(node.machine().version(())).await })
            .await?;
        let tag = self.single_reply(reply.messages)?.version.unwrap_or_default().tag;
        tag.parse().map_err(|error| self.error(CallError::Unreadable(format!("{error}"))))
    }

    /// Refuses what the machine's release cannot do, before anything is sent.
    pub async fn require(&self, feature: Feature) -> Result<(), NodeError> {
        let release = self.release().await?;
        if feature.is_in(&release) {
            return Ok(());
        }
        let text = match feature.contracts() {
            (_, Some(until)) if until <= release.contract() => format!("gone since Talos {until}"),
            (since, _) => format!("Talos {since} has it"),
        };
        Err(self.error(CallError::Unsupported(format!("{text}, the machine runs {release}"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_come_and_go() {
        for (release, feature, is_there) in [
            ("v1.12.9", Feature::ImageService, false),
            ("v1.13.0-alpha.1", Feature::ImageService, true),
            ("v1.13.0", Feature::ImageService, true),
            ("v1.13.9", Feature::RebootOnApply, true),
            ("v1.14.0-rc.0", Feature::RebootOnApply, false),
            ("v1.14.0", Feature::RebootOnApply, false),
        ] {
            let version = release.parse().unwrap();
            assert_eq!(feature.is_in(&version), is_there, "{feature:?} {release}");
        }
    }
}
