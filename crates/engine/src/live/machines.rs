//! Machines by the Talos API, each called at its own address.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use domain::{ApplyMode, BootId, Disk, ErrorKind, MemberId, NodeIdentity};
use talos_api::proto::definitions::block::{DiskSpec, SystemDiskSpec, VolumeStatusSpec};
use talos_api::proto::definitions::cluster::IdentitySpec;
use talos_api::proto::definitions::config::MachineConfigSpec;
use talos_api::proto::definitions::enums::{BlockVolumeType, RuntimeMachineStage};
use talos_api::proto::definitions::k8s::NodenameSpec;
use talos_api::proto::definitions::network::NodeAddressSpec;
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_api::proto::machine::apply_configuration_request::Mode;
use talos_api::proto::machine::{
    ApplyConfigurationRequest, BootstrapRequest, EtcdForfeitLeadershipRequest,
    EtcdMemberListRequest, RebootRequest, ResetPartitionSpec, ResetRequest,
};
use talos_api::{CallError, Client, Fingerprint, Node, NodeError};
use talos_config::{Coded, Config, Context, Secret, SourceId};

use super::components::components;
use super::credentials::{Credentials, Mint};
use crate::cluster::MachineAddress;
use crate::error::{self, PortError};
use crate::ports::{
    Clock, Component, EtcdMembers, Lifecycle, ListedMember, Machines, MemberState, NextBoot,
    Observed, OwnMachine,
};

/// Machines that can be called.
pub struct LiveMachines {
    credentials: Credentials<Context>,
    clients: Mutex<Clients>,
}

/// Connections by address, the least recently used of which are closed.
#[derive(Default)]
struct Clients {
    open: BTreeMap<String, (Client, u64)>,
    /// Counts calls, to know which connection was used last.
    calls: u64,
    /// The credentials that they were opened with, as a client that never connects: reading certificates and keys for
    /// every machine would cost more than the machine's answer.
    credentials: Option<(Client, u64)>,
}

impl LiveMachines {
    /// Machines of the cluster that the credentials are for.
    pub fn new(mint: Mint<Context>, clock: Arc<dyn Clock>) -> Self {
        Self { credentials: Credentials::new(mint, clock), clients: Mutex::default() }
    }

    /// Returns the machine as one of ours.
    fn node(&self, machine: &MachineAddress) -> Result<Node, PortError> {
        let (context, generation) = self.credentials.current()?;
        let address = machine.address.to_string();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        let Clients { open, calls, credentials } = &mut *clients;
        let with_credentials = match credentials {
            Some((client, known)) if *known == generation => client.clone(),
            _ => {
                let context = Context { endpoints: vec![address.clone()], ..context };
                let client = Client::new(&context).map_err(|error| unusable(&error))?;
                open.clear();
                *credentials = Some((client.clone(), generation));
                client
            }
        };
        *calls += 1;
        let client = match open.get_mut(&address) {
            Some((client, used)) => {
                *used = *calls;
                client.clone()
            }
            None => {
                let client =
                    with_credentials.for_endpoint(&address).map_err(|error| unusable(&error))?;
                open.insert(address, (client.clone(), *calls));
                client
            }
        };
        while open.len() > MOST_OPEN {
            let oldest = open.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(address, _)| address.clone()) else { break };
            open.remove(&oldest);
        }
        Ok(client.direct(machine.name.as_str(), DEADLINE))
    }

    /// Connects to the machine as one without configuration. The connection is not kept: an open one delays the
    /// machine's change to credentials.
    fn stranger(machine: &MachineAddress) -> Result<Node, PortError> {
        let parse = |text: &domain::Fingerprint| Fingerprint::parse(text.as_str());
        let fingerprints: Option<Vec<_>> = machine.fingerprints.iter().map(parse).collect();
        let fingerprints = fingerprints.ok_or_else(|| {
            let message = format!("{}: a fingerprint is not 32 bytes in base64", machine.name);
            PortError::new(error::TALOSCONFIG_UNUSABLE, ErrorKind::NeedsPerson, message)
        })?;
        let client = Client::maintenance(&machine.address.to_string(), fingerprints)
            .map_err(|error| unusable(&error))?;
        Ok(client.direct(machine.name.as_str(), DEADLINE))
    }

    async fn observe_ours(node: &Node) -> Result<Observed, NodeError> {
        // Asked again when the connection breaks: a machine that does not know us says so and hangs up, and the one may
        // be heard without the other.
        let release = node
            .retrying(|node| async move { node.call(node.machine().version(())).await })
            .await?;
        let tag = node.single_reply(release.messages)?.version.unwrap_or_default().tag;
        let unreadable = |text: String| NodeError {
            node: node.name().to_owned(),
            reason: CallError::Unreadable(text),
        };
        let identity = node.get::<IdentitySpec>("local").await?.unwrap_or_default().node_id;
        let text =
            node.get::<MachineConfigSpec>("v1alpha1").await?.map(|spec| spec.yaml_marshalled);
        let config = match &text {
            Some(text) => {
                let config = Config::parse(&String::from_utf8_lossy(text), SourceId::default())
                    .map_err(|_| unreadable("its configuration is unknown".to_owned()))?;
                Some(config)
            }
            None => None,
        };
        let next_boot = match (&config, node.get::<MachineConfigSpec>("persistent").await?) {
            (Some(_), Some(next)) if Some(&next.yaml_marshalled) == text.as_ref() => NextBoot::Same,
            (Some(_), Some(next)) => {
                let text = String::from_utf8_lossy(&next.yaml_marshalled);
                // What cannot be read cannot be compared.
                Config::parse(&text, SourceId::default())
                    .map_or(NextBoot::NotKnown, |next| NextBoot::Other(Box::new(next)))
            }
            _ => NextBoot::NotKnown,
        };
        let addresses = node.get::<NodeAddressSpec>("current").await?.unwrap_or_default().addresses;
        let name = node.get::<NodenameSpec>("nodename").await?.unwrap_or_default().nodename;
        let status = node.get::<MachineStatusSpec>("machine").await?.unwrap_or_default();
        let boot = node.boot_id().await?;
        Ok(Observed::Ours(Box::new(OwnMachine {
            node: Some(identity).filter(|identity| !identity.is_empty()).map(NodeIdentity),
            boot: Some(boot).filter(|boot| !boot.is_empty()).map(BootId),
            talos: tag.parse().map_err(|_| unreadable(format!("{tag:?} is not a release")))?,
            config,
            next_boot,
            addresses: addresses.iter().filter_map(|prefix| ip(&prefix.ip)).collect(),
            node_name: name.parse().ok(),
            is_settled: matches!(
                status.stage(),
                RuntimeMachineStage::MachineStageBooting | RuntimeMachineStage::MachineStageRunning
            ),
        })))
    }

    /// Observes a machine that has another CA than ours: in maintenance, or foreign.
    async fn observe_stranger(machine: &MachineAddress) -> Result<Observed, PortError> {
        let node = Self::stranger(machine)?;
        match node.get::<MachineStatusSpec>("machine").await {
            Ok(Some(status)) if status.stage() == RuntimeMachineStage::MachineStageMaintenance => {
                Ok(Observed::Maintenance)
            }
            // A machine that is about to be in maintenance, or about to leave it.
            Ok(_) => Ok(Observed::Unreachable("it is starting".to_owned())),
            // Only a machine that spoke TLS to us and then refused our missing certificate is configured.
            Err(error) => Ok(match &error.reason {
                CallError::TimedOut(_) | CallError::CertificateTime(_) => {
                    Observed::Unreachable(why(&error.reason))
                }
                CallError::OtherFingerprint => Observed::Unreachable(
                    "its certificate has none of the fingerprints of the spec".to_owned(),
                ),
                CallError::Untrusted(_) => Observed::Foreign,
                reason if reason.completed_handshake() => Observed::Foreign,
                reason => Observed::Unreachable(why(reason)),
            }),
        }
    }
}

#[async_trait]
impl Machines for LiveMachines {
    async fn observe(&self, machine: &MachineAddress) -> Observed {
        let observed = match self.node(machine) {
            Ok(node) => Self::observe_ours(&node).await,
            Err(error) => return Observed::Unreachable(error.message),
        };
        match observed {
            Ok(observed) => observed,
            Err(NodeError { reason: CallError::Untrusted(_), .. }) => {
                let observed = Self::observe_stranger(machine).await;
                observed.unwrap_or_else(|error| Observed::Unreachable(error.message))
            }
            Err(error) => Observed::Unreachable(why(&error.reason)),
        }
    }

    async fn disks(&self, machine: &MachineAddress) -> Result<Vec<Disk>, String> {
        let node = Self::stranger(machine).map_err(|error| error.message)?;
        disks(&node).await.unwrap_or_else(|error| Err(error.reason.to_string()))
    }

    async fn components(&self, machine: &MachineAddress) -> Result<Vec<Component>, PortError> {
        components(&self.node(machine)?).await.map_err(|error| port_error(&error))
    }

    async fn kubeconfig(&self, machine: &MachineAddress) -> Result<Secret<String>, PortError> {
        self.node(machine)?.kubeconfig().await.map_err(|error| port_error(&error))
    }
}

#[async_trait]
impl Lifecycle for LiveMachines {
    async fn apply_config(
        &self,
        machine: &MachineAddress,
        config: &Secret<String>,
        mode: ApplyMode,
    ) -> Result<(), PortError> {
        let (node, mode) = match mode {
            // Every release takes this one in maintenance.
            ApplyMode::Maintenance => (Self::stranger(machine)?, Mode::Auto),
            ApplyMode::NoReboot => (self.node(machine)?, Mode::NoReboot),
            ApplyMode::Staged => (self.node(machine)?, Mode::Staged),
        };
        let request = ApplyConfigurationRequest {
            data: config.expose().clone().into_bytes(),
            mode: mode.into(),
            dry_run: false,
            try_mode_timeout: None,
        };
        // Accepting a configuration includes checking it against the machine's disks.
        let node = node.with_deadline(SLOW);
        node.call(node.machine().apply_configuration(request))
            .await
            .map_err(|error| port_error(&error))?;
        Ok(())
    }

    async fn reboot(&self, machine: &MachineAddress) -> Result<(), PortError> {
        let node = self.node(machine)?;
        node.call(node.machine().reboot(RebootRequest::default()))
            .await
            .map_err(|error| port_error(&error))?;
        Ok(())
    }

    async fn reset(&self, machine: &MachineAddress) -> Result<(), PortError> {
        let node = self.node(machine)?;
        let mut partitions = Vec::new();
        for (label, always) in WIPED {
            if is_partition(&node, label).await?.unwrap_or(always) {
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
        node.call(node.machine().reset(request)).await.map_err(|error| port_error(&error))?;
        Ok(())
    }

    async fn bootstrap(&self, machine: &MachineAddress) -> Result<bool, PortError> {
        // The machine waits for its runtime and for the time before it answers.
        let node = self.node(machine)?.with_deadline(SLOW);
        match node.call(node.machine().bootstrap(BootstrapRequest::default())).await {
            Ok(_) => Ok(true),
            Err(NodeError { reason: CallError::AlreadyExists(_), .. }) => Ok(false),
            Err(error) => Err(port_error(&error)),
        }
    }

    async fn forfeit_leadership(&self, machine: &MachineAddress) -> Result<(), PortError> {
        let node = self.node(machine)?;
        let request = EtcdForfeitLeadershipRequest {};
        node.call(node.machine().etcd_forfeit_leadership(request))
            .await
            .map_err(|error| port_error(&error))?;
        Ok(())
    }
}

#[async_trait]
impl EtcdMembers for LiveMachines {
    async fn status(&self, machine: &MachineAddress) -> Result<Option<MemberState>, PortError> {
        let node = self.node(machine)?;
        if !node.has_etcd_data().await.map_err(|error| port_error(&error))? {
            return Ok(None);
        }
        let reply =
            node.call(node.machine().etcd_status(())).await.map_err(|error| port_error(&error))?;
        let status = node
            .single_reply(reply.messages)
            .map_err(|error| port_error(&error))?
            .member_status
            .unwrap_or_default();
        Ok(Some(MemberState {
            id: MemberId(status.member_id),
            leader: Some(status.leader).filter(|leader| *leader != 0).map(MemberId),
            applied: status.raft_applied_index,
        }))
    }

    async fn list(&self, machine: &MachineAddress) -> Result<Vec<ListedMember>, PortError> {
        let node = self.node(machine)?;
        // Otherwise Talos asks any control plane, and a member of another etcd would not be told.
        let request = EtcdMemberListRequest { query_local: true };
        let reply = node
            .call(node.machine().etcd_member_list(request))
            .await
            .map_err(|error| port_error(&error))?;
        let members = node
            .single_reply(reply.messages)
            .map_err(|error| port_error(&error))?
            .members
            .into_iter();
        Ok(members
            .map(|member| ListedMember {
                id: MemberId(member.id),
                name: member.hostname,
                addresses: member.peer_urls.iter().filter_map(|url| host(url)).collect(),
                voter: !member.is_learner,
            })
            .collect())
    }
}

/// Says why a machine is unreachable, for those who say themselves that it is.
fn why(reason: &CallError) -> String {
    match reason {
        CallError::Unreachable(disconnect) => disconnect.to_string(),
        other => other.to_string(),
    }
}

/// Returns the disks of a machine in maintenance, or why they do not matter.
async fn disks(node: &Node) -> Result<Result<Vec<Disk>, String>, NodeError> {
    let version =
        node.retrying(|node| async move { node.call(node.machine().version(())).await }).await?;
    let platform = node.single_reply(version.messages)?.platform.unwrap_or_default();
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

/// Returns whether a volume is a partition or a disk, and not a directory as in a container or on another volume;
/// `None` where the machine does not tell, as releases before 1.8.
async fn is_partition(node: &Node, volume: &str) -> Result<Option<bool>, PortError> {
    use BlockVolumeType::{VolumeTypeDisk, VolumeTypePartition};
    match node.get::<VolumeStatusSpec>(volume).await {
        Ok(spec) => {
            Ok(spec.map(|spec| matches!(spec.r#type(), VolumeTypePartition | VolumeTypeDisk)))
        }
        Err(NodeError { reason: CallError::Denied(_) | CallError::Unsupported(_), .. }) => Ok(None),
        // A volume that was not asked about would stay, with its data.
        Err(error) => Err(port_error(&error)),
    }
}

/// Returns an address as texts have it.
fn ip(bytes: &[u8]) -> Option<String> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    let address = four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()?;
    Some(address.to_string())
}

/// Returns the host of a URL.
fn host(url: &str) -> Option<String> {
    let rest = url.split_once("://")?.1;
    let host = match rest.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => rest.split([':', '/']).next()?,
    };
    Some(host.to_owned())
}

fn port_error(error: &NodeError) -> PortError {
    let kind = match &error.reason {
        reason if reason.is_passing() => ErrorKind::Retryable,
        reason => reason.kind(),
    };
    let may_have_happened = error.reason.may_have_happened() && kind == ErrorKind::Retryable;
    PortError { code: error.reason.code(), kind, message: error.to_string(), may_have_happened }
}

fn unusable(error: &talos_api::ConnectError) -> PortError {
    PortError::new(error::TALOSCONFIG_UNUSABLE, ErrorKind::NeedsPerson, error.to_string())
}

/// Connections that are kept open: more than are used at the same time, fewer than files may be open.
const MOST_OPEN: usize = 64;
/// The volumes that make a machine one of the cluster, and whether every machine has them as partitions. Talos itself
/// stays installed. From 1.14 on the data of etcd and of others may have partitions of their own.
const WIPED: [(&str, bool); 6] = [
    ("STATE", true),
    ("EPHEMERAL", true),
    ("ETCD", false),
    ("CRI", false),
    ("KUBELET", false),
    ("LOG", false),
];
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
