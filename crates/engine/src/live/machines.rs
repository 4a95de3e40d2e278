//! Machines by the Talos API, each called at its own address.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use plan::{ApplyMode, BootId, Disk, Kind, MemberId, NodeIdentity};
use talos_api::proto::definitions::block::{DiskSpec, SystemDiskSpec, VolumeStatusSpec};
use talos_api::proto::definitions::cluster::IdentitySpec;
use talos_api::proto::definitions::config::MachineConfigSpec;
use talos_api::proto::definitions::enums::{BlockVolumeType, RuntimeMachineStage};
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_api::proto::machine::apply_configuration_request::Mode;
use talos_api::proto::machine::{
    ApplyConfigurationRequest, BootstrapRequest, EtcdForfeitLeadershipRequest,
    EtcdMemberListRequest, ListRequest, RebootRequest, ResetPartitionSpec, ResetRequest,
};
use talos_api::{Client, Node, NodeError, Reason};
use talos_config::{Config, Context, Secret, Source};

use super::components::components;
use crate::cluster::Target;
use crate::error::Trouble;
use crate::ports::{Component, ListedMember, Machines, MemberState, Seen};

/// Machines that can be called.
pub struct LiveMachines {
    /// Our credentials.
    context: Context,
    /// Connections, kept for as long as this lives.
    clients: Mutex<BTreeMap<String, Client>>,
}

impl LiveMachines {
    /// Machines of the cluster that the credentials are for.
    pub fn new(context: Context) -> Self {
        Self { context, clients: Mutex::default() }
    }

    /// The machine as one of ours.
    fn node(&self, target: &Target) -> Result<Node, Trouble> {
        let address = target.address.to_string();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let client = match clients.get(&address) {
            Some(client) => client.clone(),
            None => {
                let context = Context { endpoints: vec![address.clone()], ..self.context.clone() };
                let client = Client::new(&context).map_err(|error| unusable(&error))?;
                clients.insert(address, client.clone());
                client
            }
        };
        Ok(client.here(target.name.as_str(), DEADLINE))
    }

    /// The machine as nobody's. The connection is not kept: an open one delays the machine's change to credentials.
    fn stranger(target: &Target) -> Result<Node, Trouble> {
        let client = Client::maintenance(&target.address.to_string(), Vec::new())
            .map_err(|error| unusable(&error))?;
        Ok(client.here(target.name.as_str(), DEADLINE))
    }

    async fn see_ours(node: &Node) -> Result<Seen, NodeError> {
        // Asked again when the connection breaks: a machine that does not know us says so and hangs up, and the one may
        // be heard without the other.
        let release =
            node.ask(|node| async move { node.call(node.machine().version(())).await }).await?;
        let tag = node.only(release.messages)?.version.unwrap_or_default().tag;
        let unreadable = |text: String| NodeError {
            node: node.name().to_owned(),
            reason: Reason::Unreadable(text),
        };
        let identity = node.get::<IdentitySpec>("local").await?;
        let spec = node.get::<MachineConfigSpec>("v1alpha1").await?.unwrap_or_default();
        let text = String::from_utf8_lossy(&spec.yaml_marshalled);
        let config = Config::parse(&text, Source::default())
            .map_err(|_| unreadable("its configuration is none that is known".to_owned()))?;
        Ok(Seen::Ours {
            node: NodeIdentity(identity.unwrap_or_default().node_id),
            boot: BootId(node.boot_id().await?),
            talos: tag.parse().map_err(|_| unreadable(format!("{tag:?} is no release")))?,
            config: Box::new(config),
        })
    }

    /// Whether something that does not know us waits for configuration.
    async fn see_stranger(target: &Target) -> Result<Seen, Trouble> {
        let node = Self::stranger(target)?;
        match node.get::<MachineStatusSpec>("machine").await {
            Ok(Some(status)) if status.stage() == RuntimeMachineStage::MachineStageMaintenance => {
                Ok(Seen::Maintenance)
            }
            // A machine that is about to be in maintenance, or about to leave it.
            Ok(_) => Ok(Seen::Unseen("it is starting".to_owned())),
            Err(NodeError { reason: Reason::TimedOut(_), .. }) => {
                Ok(Seen::Unseen("it does not answer".to_owned()))
            }
            Err(_) => Ok(Seen::Another),
        }
    }
}

#[async_trait]
impl Machines for LiveMachines {
    async fn see(&self, target: &Target) -> Seen {
        let seen = match self.node(target) {
            Ok(node) => Self::see_ours(&node).await,
            Err(trouble) => return Seen::Unseen(trouble.message),
        };
        match seen {
            Ok(seen) => seen,
            Err(NodeError { reason: Reason::Untrusted(_), .. }) => {
                let seen = Self::see_stranger(target).await;
                seen.unwrap_or_else(|trouble| Seen::Unseen(trouble.message))
            }
            Err(error) => Seen::Unseen(error.reason.to_string()),
        }
    }

    async fn disks(&self, target: &Target) -> Result<Vec<Disk>, String> {
        let node = Self::stranger(target).map_err(|trouble| trouble.message)?;
        disks(&node).await.unwrap_or_else(|error| Err(error.reason.to_string()))
    }

    async fn components(&self, target: &Target) -> Result<Vec<Component>, Trouble> {
        components(&self.node(target)?).await.map_err(|error| trouble(&error))
    }

    async fn member(&self, target: &Target) -> Result<Option<MemberState>, Trouble> {
        let node = self.node(target)?;
        if !has_etcd(&node).await? {
            return Ok(None);
        }
        let reply =
            node.call(node.machine().etcd_status(())).await.map_err(|error| trouble(&error))?;
        let status = node
            .only(reply.messages)
            .map_err(|error| trouble(&error))?
            .member_status
            .unwrap_or_default();
        Ok(Some(MemberState {
            id: MemberId(status.member_id),
            leader: Some(status.leader).filter(|leader| *leader != 0).map(MemberId),
            applied: status.raft_applied_index,
        }))
    }

    async fn members(&self, target: &Target) -> Result<Vec<ListedMember>, Trouble> {
        let node = self.node(target)?;
        let request = EtcdMemberListRequest { query_local: false };
        let reply = node
            .call(node.machine().etcd_member_list(request))
            .await
            .map_err(|error| trouble(&error))?;
        let members =
            node.only(reply.messages).map_err(|error| trouble(&error))?.members.into_iter();
        Ok(members
            .map(|member| ListedMember {
                id: MemberId(member.id),
                name: member.hostname,
                addresses: member.peer_urls.iter().filter_map(|url| host(url)).collect(),
                voter: !member.is_learner,
            })
            .collect())
    }

    async fn apply_config(
        &self,
        target: &Target,
        config: &Secret<String>,
        mode: ApplyMode,
    ) -> Result<(), Trouble> {
        let (node, mode) = match mode {
            // Every release takes this one in maintenance.
            ApplyMode::Maintenance => (Self::stranger(target)?, Mode::Auto),
            ApplyMode::NoReboot => (self.node(target)?, Mode::NoReboot),
            ApplyMode::Staged => (self.node(target)?, Mode::Staged),
        };
        let request = ApplyConfigurationRequest {
            data: config.expose().clone().into_bytes(),
            mode: mode.into(),
            dry_run: false,
            try_mode_timeout: None,
        };
        // Accepting a configuration includes checking it against the machine's disks.
        let node = node.within(SLOW);
        node.call(node.machine().apply_configuration(request))
            .await
            .map_err(|error| trouble(&error))?;
        Ok(())
    }

    async fn bootstrap(&self, target: &Target) -> Result<bool, Trouble> {
        let node = self.node(target)?;
        match node.call(node.machine().bootstrap(BootstrapRequest::default())).await {
            Ok(_) => Ok(true),
            Err(NodeError { reason: Reason::AlreadyThere(_), .. }) => Ok(false),
            Err(error) => Err(trouble(&error)),
        }
    }

    async fn hand_over_leadership(&self, target: &Target) -> Result<(), Trouble> {
        let node = self.node(target)?;
        let request = EtcdForfeitLeadershipRequest {};
        node.call(node.machine().etcd_forfeit_leadership(request))
            .await
            .map_err(|error| trouble(&error))?;
        Ok(())
    }

    async fn reboot(&self, target: &Target) -> Result<(), Trouble> {
        let node = self.node(target)?;
        node.call(node.machine().reboot(RebootRequest::default()))
            .await
            .map_err(|error| trouble(&error))?;
        Ok(())
    }

    async fn reset(&self, target: &Target) -> Result<(), Trouble> {
        let node = self.node(target)?;
        // What makes it a machine of the cluster is on these two; Talos itself stays installed.
        let mut partitions = Vec::new();
        for label in ["STATE", "EPHEMERAL"] {
            if is_partition(&node, label).await {
                partitions.push(ResetPartitionSpec { label: label.to_owned(), wipe: true });
            }
        }
        // Nothing is drained, and no member leaves: everything comes to its end.
        let request = ResetRequest {
            graceful: false,
            reboot: true,
            system_partitions_to_wipe: partitions,
            ..ResetRequest::default()
        };
        node.call(node.machine().reset(request)).await.map_err(|error| trouble(&error))?;
        Ok(())
    }

    async fn kubeconfig(&self, target: &Target) -> Result<Secret<String>, Trouble> {
        self.node(target)?.kubeconfig().await.map_err(|error| trouble(&error))
    }
}

/// The disks of a machine in maintenance, or why they do not matter.
async fn disks(node: &Node) -> Result<Result<Vec<Disk>, String>, NodeError> {
    let version =
        node.ask(|node| async move { node.call(node.machine().version(())).await }).await?;
    let platform = node.only(version.messages)?.platform.unwrap_or_default();
    if platform.mode == "container" {
        return Ok(Err("a container is not installed".to_owned()));
    }
    let system = node.get::<SystemDiskSpec>("system-disk").await?.unwrap_or_default();
    if !system.disk_id.is_empty() {
        return Ok(Err("Talos is installed already".to_owned()));
    }
    let disks = node.list::<DiskSpec>().await?.into_iter();
    let disk = |(_, disk): (String, DiskSpec)| Disk {
        device: disk.dev_path,
        links: disk.symlinks,
        size: disk.size,
        model: disk.model,
        serial: disk.serial,
        modalias: disk.modalias,
        uuid: disk.uuid,
        wwid: disk.wwid,
        bus_path: disk.bus_path,
        transport: disk.transport,
        rotational: disk.rotational,
        read_only: disk.readonly,
        cd: disk.cdrom,
    };
    Ok(Ok(disks.map(disk).collect()))
}

/// Whether a volume is a partition, as on every machine that boots from a disk; a container has directories instead.
async fn is_partition(node: &Node, volume: &str) -> bool {
    match node.get::<VolumeStatusSpec>(volume).await {
        Ok(Some(spec)) => spec.r#type() != BlockVolumeType::VolumeTypeDirectory,
        // Before 1.8 nobody tells.
        Ok(None) | Err(_) => true,
    }
}

/// Whether etcd ever ran there. The calls to etcd itself would wait for it.
async fn has_etcd(node: &Node) -> Result<bool, Trouble> {
    let request = ListRequest { root: "/var/lib/etcd".to_owned(), ..ListRequest::default() };
    let list = |node: Node| async move { node.machine().list(request).await };
    let entries = match node.open(list).await {
        Ok(stream) => stream.collect().await.map_err(|error| trouble(&error))?,
        Err(error) => return Err(trouble(&error)),
    };
    Ok(entries.iter().any(|entry| entry.error.is_empty() && entry.relative_name == "member"))
}

/// The host of a URL.
fn host(url: &str) -> Option<String> {
    let rest = url.split_once("://")?.1;
    let host = match rest.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => rest.split([':', '/']).next()?,
    };
    Some(host.to_owned())
}

fn trouble(error: &NodeError) -> Trouble {
    let kind = match &error.reason {
        reason if reason.is_passing() => Kind::Retryable,
        // Too early, or something else is under way.
        Reason::Refused(_) => Kind::Retryable,
        Reason::Untrusted(_) | Reason::Denied(_) => Kind::NeedsPerson,
        _ => Kind::Permanent,
    };
    Trouble { code: error.reason.code(), kind, message: error.to_string() }
}

fn unusable(error: &talos_api::ConnectError) -> Trouble {
    Trouble { code: "talosconfig.unusable", kind: Kind::NeedsPerson, message: error.to_string() }
}

/// For calls that a machine answers at once.
const DEADLINE: Duration = Duration::from_secs(5);
const SLOW: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn hosts_of_peers() {
        for (url, expected) in [
            ("https://10.0.0.1:2380", Some("10.0.0.1")),
            ("https://[fd00::1]:2380", Some("fd00::1")),
            ("10.0.0.1", None),
        ] {
            assert_eq!(host(url).as_deref(), expected);
        }
    }
}
