//! Release, mode and configuration of a machine.

use talos_api::proto::definitions::config::MachineConfigSpec;
use talos_api::{CallError, Feature, Node, NodeError};
use talos_config::yaml::Dialect;
use talos_config::{Mode, Secret, TalosVersion};

/// A machine as far as configuration is concerned.
#[derive(Clone)]
pub(super) struct NodeConfig {
    /// Unknown in maintenance mode before 1.13.
    pub(super) release: Option<TalosVersion>,
    /// Unknown in maintenance mode before 1.13.
    pub(super) mode: Option<Mode>,
    pub(super) config: Option<StoredConfig>,
    /// Whether it is called without credentials.
    pub(super) in_maintenance: bool,
}

/// The configuration that a machine has.
#[derive(Clone, PartialEq)]
pub(super) struct StoredConfig {
    /// The configuration that the machine would boot with.
    pub(super) text: Secret<String>,
    /// Whether it runs with that; not while one is staged or on trial.
    pub(super) settled: bool,
}

impl NodeConfig {
    /// A machine that is part of a cluster.
    pub(super) async fn of(node: &Node) -> Result<Self, NodeError> {
        let (release, mode) = identity(node).await?;
        let running = text(node, "v1alpha1").await?;
        // Talos reports both since 1.10. The running one may then be on trial, or a staged one may replace it.
        let booted = match text(node, "persistent").await? {
            Some(text) => Some(text),
            None => running.clone(),
        };
        let config =
            booted.map(|text| StoredConfig { settled: running.as_ref() == Some(&text), text });
        Ok(Self { release: Some(release), mode, config, in_maintenance: false })
    }

    /// A machine in maintenance, which has none.
    pub(super) async fn in_maintenance(node: &Node) -> Result<Self, NodeError> {
        let (release, mode) = match identity(node).await {
            Ok((release, mode)) => (Some(release), mode),
            Err(NodeError { reason: CallError::Unsupported(_), .. }) => (None, None),
            Err(error) => return Err(error),
        };
        Ok(Self { release, mode, config: None, in_maintenance: true })
    }

    /// Returns whether applying configuration may reboot it.
    pub(super) fn may_reboot(&self) -> bool {
        self.release.as_ref().is_some_and(|release| Feature::RebootOnApply.is_in(release))
    }

    /// Returns the YAML dialect of its release.
    pub(super) fn dialect(&self) -> Dialect {
        self.release.as_ref().map_or_else(Dialect::default, |release| release.contract().dialect())
    }

    /// The modes that a configuration may be for. Whether a disk to install to must be named depends on what is on the
    /// disks, which only the machine knows; apart from that metal has the rules of a cloud.
    pub(super) fn modes(&self) -> Vec<Mode> {
        match self.mode {
            Some(Mode::Metal) => vec![Mode::Cloud],
            Some(mode) => vec![mode],
            None => vec![Mode::Cloud, Mode::Container],
        }
    }
}

async fn identity(node: &Node) -> Result<(TalosVersion, Option<Mode>), NodeError> {
    let reply =
        node.retrying(|node| async move { node.call(node.machine().version(())).await }).await?;
    let version = node.single_reply(reply.messages)?;
    let tag = version.version.unwrap_or_default().tag;
    let mode = version.platform.and_then(|platform| Mode::parse(&platform.mode));
    match tag.parse() {
        Ok(release) => Ok((release, mode)),
        Err(error) => {
            let reason = CallError::Unreadable(format!("{error}"));
            Err(NodeError { node: node.name().to_owned(), reason })
        }
    }
}

async fn text(node: &Node, id: &str) -> Result<Option<Secret<String>>, NodeError> {
    let Some(spec) = node.get::<MachineConfigSpec>(id).await? else { return Ok(None) };
    let text = String::from_utf8(spec.yaml_marshalled).map_err(|_| NodeError {
        node: node.name().to_owned(),
        reason: CallError::Unreadable("its configuration is not UTF-8".to_owned()),
    })?;
    Ok(Some(Secret::new(text)))
}
