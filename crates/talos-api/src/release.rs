//! The release that a machine runs, and the features of releases.

use std::fmt;
use std::str::FromStr;

use crate::error::{CallError, NodeError};
use crate::node::Node;

/// A release of Talos. Builds between releases count as the one they lead to.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct TalosRelease {
    /// 1
    pub major: u32,
    /// 13 of 1.13.2
    pub minor: u32,
    /// 2 of 1.13.2
    pub patch: u32,
}

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

impl TalosRelease {
    const fn minor(minor: u32) -> Self {
        Self { major: 1, minor, patch: 0 }
    }

    /// Returns whether machines of this release can do that.
    pub fn has(self, feature: Feature) -> bool {
        let (since, until) = feature.releases();
        since <= self && until.is_none_or(|until| self < until)
    }
}

impl Feature {
    /// Returns the release that brought it, and the one that took it away.
    fn releases(self) -> (TalosRelease, Option<TalosRelease>) {
        let since = |minor| (TalosRelease::minor(minor), None);
        match self {
            Self::LogsContainers => since(7),
            Self::DiskResources => since(8),
            Self::BlockDeviceWipe => since(9),
            Self::DropPartition | Self::VersionResource => since(10),
            Self::EtcdDowngrade => since(11),
            Self::ForcedReboot => since(12),
            Self::ImageService | Self::LifecycleService | Self::VersionInMaintenance => since(13),
            Self::RebootOnApply => (TalosRelease::minor(0), Some(TalosRelease::minor(14))),
            Self::BootIdResource => since(14),
        }
    }
}

impl Node {
    /// Returns the release that the machine runs. A machine in maintenance tells since 1.13.
    pub async fn release(&self) -> Result<TalosRelease, NodeError> {
        let reply = self
            .retrying(|node| async move { node.call(node.machine().version(())).await })
            .await?;
        let tag = self.single_reply(reply.messages)?.version.unwrap_or_default().tag;
        tag.parse().map_err(|InvalidRelease(tag)| {
            self.error(CallError::Unreadable(format!("{tag:?} is not a release of Talos")))
        })
    }

    /// Refuses what the machine's release cannot do, before anything is sent.
    pub async fn require(&self, feature: Feature) -> Result<(), NodeError> {
        let release = self.release().await?;
        if release.has(feature) {
            return Ok(());
        }
        let text = match feature.releases() {
            (_, Some(until)) if until <= release => format!("gone since Talos {until}"),
            (since, _) => format!("Talos {since} has it"),
        };
        Err(self.error(CallError::Unsupported(format!("{text}, the machine runs {release}"))))
    }
}

/// A text that names no release.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0:?} is not a release of Talos")]
pub struct InvalidRelease(String);

impl FromStr for TalosRelease {
    type Err = InvalidRelease;

    /// `v1.14.0`, `1.14.0-rc.1`, `v1.15.0-alpha.0-12-gabc` and `1.13`.
    fn from_str(text: &str) -> Result<Self, InvalidRelease> {
        let error = || InvalidRelease(text.to_owned());
        let plain = text.strip_prefix('v').unwrap_or(text);
        let numbers = plain.split(['-', '+']).next().unwrap_or_default();
        let mut parts = numbers.split('.').map(str::parse);
        let mut next = || parts.next().transpose().map_err(|_| error());
        let (major, minor, patch) = (next()?, next()?, next()?);
        let (Some(major), Some(minor)) = (major, minor) else { return Err(error()) };
        if parts.next().is_some() {
            return Err(error());
        }
        Ok(Self { major, minor, patch: patch.unwrap_or(0) })
    }
}

impl fmt::Display for TalosRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_with_tolerance() {
        for (text, expected) in [
            ("v1.14.0", "1.14.0"),
            ("1.14.0-rc.1", "1.14.0"),
            ("v1.15.0-alpha.0-12-gabc", "1.15.0"),
            ("v1.13", "1.13.0"),
        ] {
            assert_eq!(text.parse::<TalosRelease>().unwrap().to_string(), expected);
        }
        for text in ["", "v", "1", "v1.x.0", "1.2.3.4", "one.two"] {
            assert!(text.parse::<TalosRelease>().is_err(), "{text}");
        }
    }

    #[test]
    fn features_come_and_go() {
        let release = |text: &str| text.parse::<TalosRelease>().unwrap();
        assert!(!release("1.12.9").has(Feature::ImageService));
        assert!(release("1.13.0").has(Feature::ImageService));
        assert!(release("1.13.9").has(Feature::RebootOnApply));
        assert!(!release("1.14.0").has(Feature::RebootOnApply));
    }
}
