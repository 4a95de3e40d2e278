//! The live adapter for machines before scripted ones: what it makes of their answers, and of machines that do not answer.
//!
//! Machines listen where real ones do: at port 50000, each at an address of 127.78.0.0/16 that was free.

// Other systems have one loopback address without set-up.
#![cfg(target_os = "linux")]

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::{Address, BootId, ErrorKind, NodeIdentity, Timestamp};
use engine::live::{CREDENTIALS_LAST, LiveMachines};
use engine::{Clock, Lifecycle, MachineAddress, Machines, NextBoot, Observed, OwnMachine};
use prost::Message;
use talos_api::proto::common::Data;
use talos_api::proto::cosi::{self, GetRequest, GetResponse, Metadata, Resource};
use talos_api::proto::definitions::block::VolumeStatusSpec;
use talos_api::proto::definitions::cluster::IdentitySpec;
use talos_api::proto::definitions::config::MachineConfigSpec;
use talos_api::proto::definitions::enums::{BlockVolumeType, RuntimeMachineStage as Stage};
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_api::proto::machine::{
    Bootstrap, BootstrapResponse, Reset, ResetRequest, ResetResponse, Version, VersionInfo,
    VersionResponse,
};
use talos_api::resource::Spec;
use talos_config::Context;
use talos_config::pki::{
    self, Authority, Key, Leaf, NewAuthority, Request, Subject, Usage, Validity,
};
use testkit::machine_api::{Call, Identity, Server, frame};
use tokio::net::{TcpListener, TcpSocket};
use tokio::time::{Instant, sleep};

#[tokio::test]
async fn machine_without_identity_or_boot_id_has_none() {
    for (identity, boot) in [(None, ""), (Some(""), "\n"), (Some(""), " ")] {
        let own = observe_own(Script { identity, boot, ..Script::RUNNING }).await;
        assert_eq!((own.node, own.boot), (None, None), "{identity:?} {boot:?}");
    }
    let own = observe_own(Script::RUNNING).await;
    let known = (Some(NodeIdentity("node-1".to_owned())), Some(BootId("boot-1".to_owned())));
    assert_eq!((own.node, own.boot), known);
}

#[tokio::test]
async fn machine_is_settled_while_it_boots_or_runs() {
    for (stage, is_settled) in [
        (Stage::MachineStageUnknown, false),
        (Stage::MachineStageBooting, true),
        (Stage::MachineStageInstalling, false),
        (Stage::MachineStageMaintenance, false),
        (Stage::MachineStageRunning, true),
        (Stage::MachineStageRebooting, false),
        (Stage::MachineStageShuttingDown, false),
        (Stage::MachineStageResetting, false),
        (Stage::MachineStageUpgrading, false),
    ] {
        let own = observe_own(Script { stage, ..Script::RUNNING }).await;
        assert_eq!(own.is_settled, is_settled, "{stage:?}");
    }
}

#[tokio::test]
async fn machine_without_configuration_resource_has_none() {
    let own = observe_own(Script { config: None, ..Script::RUNNING }).await;
    assert!(own.config.is_none());
    assert!(matches!(own.next_boot, NextBoot::NotKnown));
    let own = observe_own(Script::RUNNING).await;
    assert!(own.config.is_some());
    assert!(matches!(own.next_boot, NextBoot::Same));
}

#[tokio::test]
async fn certificate_that_is_not_valid_now_is_unreachable_and_not_foreign() {
    let pki = Pki::new(1);
    for (name, machine, client, reason) in [
        ("theirs expired", LONG_AGO, NOW_AND_LATER, "its certificate is not valid now"),
        ("theirs is early", FAR_AHEAD, NOW_AND_LATER, "its certificate is not valid now"),
        ("ours expired", NOW_AND_LATER, LONG_AGO, "it says that ours is not valid now"),
    ] {
        let server = start(&pki, machine, Clients::Ours, Script::RUNNING).await;
        let observed = machines(pki.context(client, 1)).observe(&at(server.address)).await;
        let is_told = matches!(&observed, Observed::Unreachable(told) if told.contains(reason));
        assert!(is_told, "{name}: {}", describe(&observed));
    }
}

#[tokio::test]
async fn machine_that_refuses_the_connection_is_unreachable_and_not_foreign() {
    // Bound, so that no other test listens there; and not listening.
    let socket = TcpSocket::new_v4().expect("a socket");
    let address = loopback().find(|address| socket.bind(*address).is_ok()).expect("an address");
    let context = Pki::new(1).context(NOW_AND_LATER, 1);
    let observed = machines(context).observe(&at(address)).await;
    let is_told = matches!(&observed, Observed::Unreachable(told) if told.contains("refused"));
    assert!(is_told, "{}", describe(&observed));
    drop(socket);
}

#[tokio::test]
async fn machine_of_an_unknown_issuer_is_foreign_or_in_maintenance() {
    let (ours, theirs) = (Pki::new(1), Pki::new(2));
    let maintenance = Script { stage: Stage::MachineStageMaintenance, ..Script::RUNNING };
    for (validity, clients, script, expected) in [
        (NOW_AND_LATER, Clients::Ours, Script::RUNNING, "foreign"),
        // A wrong clock does not make a foreign machine one of ours.
        (LONG_AGO, Clients::Ours, Script::RUNNING, "foreign"),
        (NOW_AND_LATER, Clients::Any, maintenance, "in maintenance"),
        (NOW_AND_LATER, Clients::Any, Script::RUNNING, "unreachable: it is starting"),
    ] {
        let server = start(&theirs, validity, clients, script).await;
        let context = ours.context(NOW_AND_LATER, 1);
        let observed = machines(context).observe(&at(server.address)).await;
        assert_eq!(describe(&observed), expected);
    }
}

/// Data of etcd that stays behind would be taken for that of the next cluster.
#[tokio::test]
async fn reset_wipes_every_partition_or_is_not_sent() {
    let pki = Pki::new(1);
    let server = start(&pki, NOW_AND_LATER, Clients::Ours, Script::RUNNING).await;
    machines(pki.context(NOW_AND_LATER, 1)).reset(&at(server.address)).await.expect("a reset");
    let silent = Script { silent: "ETCD", ..Script::RUNNING };
    let server = start(&pki, NOW_AND_LATER, Clients::Ours, silent).await;
    let refused = machines(pki.context(NOW_AND_LATER, 1)).reset(&at(server.address)).await;
    assert_eq!(refused.expect_err("a failure").kind, ErrorKind::Retryable);
    let sent = RESETS.lock().expect("no panic").clone();
    assert_eq!(sent, [["STATE", "EPHEMERAL", "ETCD"].map(str::to_owned)]);
}

#[tokio::test]
async fn bootstrap_that_is_answered_late_succeeds() {
    let pki = Pki::new(1);
    let server = start(&pki, NOW_AND_LATER, Clients::Ours, Script::RUNNING).await;
    let begun = Instant::now();
    let bootstrapped = machines(pki.context(NOW_AND_LATER, 1)).bootstrap(&at(server.address)).await;
    assert_eq!(bootstrapped, Ok(true));
    assert!(begun.elapsed() >= LATE, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn credentials_are_renewed_at_half_of_their_life() {
    let pki = Pki::new(1);
    let server = start(&pki, NOW_AND_LATER, Clients::Ours, Script::RUNNING).await;
    let minted = [1, 2].map(|serial| pki.context(NOW_AND_LATER, serial));
    let shown = minted.clone().map(|context| der(&context.certificate));
    let count = AtomicUsize::new(0);
    let mint = move || Ok(minted[count.fetch_add(1, Ordering::Relaxed)].clone());
    let clock = Arc::new(ScriptedClock::default());
    let machines = LiveMachines::new(Box::new(mint), Arc::<ScriptedClock>::clone(&clock));
    let half = CREDENTIALS_LAST.as_secs() / 2;
    for (seconds, expected) in [(0, 1), (0, 1), (half - 1, 1), (half, 2), (half + 1, 2)] {
        clock.0.store(seconds, Ordering::Relaxed);
        own(machines.observe(&at(server.address)).await);
        assert_eq!(server.clients(), shown[..expected], "after {seconds} s");
    }
    // What was opened with the old credentials is closed.
    wait_for("one open connection", || server.open() == 1).await;
}

#[tokio::test]
async fn connections_are_kept_up_to_a_limit() {
    let pki = Pki::new(1);
    let listeners = lease(200).await;
    let addresses: Vec<SocketAddr> =
        listeners.iter().map(|listener| listener.local_addr().expect("an address")).collect();
    let ips: Vec<IpAddr> = addresses.iter().map(SocketAddr::ip).collect();
    let identity = pki.identity(NOW_AND_LATER, Clients::Ours, &ips);
    let servers: Vec<Server> = listeners
        .into_iter()
        .map(|listener| {
            let identity = identity.clone();
            Server::serve(listener, move || identity.clone(), |call| answer(Script::RUNNING, call))
        })
        .collect();
    let accepted = || servers.iter().map(Server::accepted).sum::<usize>();
    let open = || servers.iter().map(Server::open).sum::<usize>();
    let machines = machines(pki.context(NOW_AND_LATER, 1));
    for address in &addresses {
        own(machines.observe(&at(*address)).await);
    }
    assert_eq!(accepted(), 200);
    wait_for("closed connections", || open() <= MOST_OPEN).await;
    assert_eq!(open(), MOST_OPEN);

    // The machines that were called last are the ones whose connections were kept.
    let (early, late) = addresses.split_at(200 - MOST_OPEN);
    for address in late {
        own(machines.observe(&at(*address)).await);
    }
    assert_eq!(accepted(), 200);
    own(machines.observe(&at(early[0])).await);
    assert_eq!(accepted(), 201);
    wait_for("a closed connection", || open() <= MOST_OPEN).await;
}

/// The answers of a scripted machine.
#[derive(Clone, Copy)]
struct Script {
    /// The id of the installation; none where there is no such resource.
    identity: Option<&'static str>,
    /// The file that holds the boot id.
    boot: &'static str,
    stage: Stage,
    /// The configuration that it has and boots with; none where there is no such resource.
    config: Option<&'static str>,
    /// Volumes that are partitions.
    partitions: &'static [&'static str],
    /// A volume that cannot be asked about.
    silent: &'static str,
}

impl Script {
    const RUNNING: Self = Self {
        identity: Some("node-1"),
        boot: "boot-1\n",
        stage: Stage::MachineStageRunning,
        config: Some("version: v1alpha1\nmachine:\n  type: worker\n"),
        partitions: &["STATE", "EPHEMERAL", "ETCD"],
        silent: "",
    };

    /// The resource that is asked for, where the machine has it.
    fn resource(&self, request: &GetRequest) -> Option<Vec<u8>> {
        let spec = match (request.r#type.as_str(), request.id.as_str()) {
            (IdentitySpec::TYPE, "local") => {
                IdentitySpec { node_id: self.identity?.to_owned() }.encode_to_vec()
            }
            (MachineConfigSpec::TYPE, "v1alpha1" | "persistent") => {
                let yaml_marshalled = self.config?.as_bytes().to_vec();
                MachineConfigSpec { yaml_marshalled }.encode_to_vec()
            }
            (VolumeStatusSpec::TYPE, volume) => {
                let r#type = if self.partitions.contains(&volume) {
                    BlockVolumeType::VolumeTypePartition
                } else {
                    BlockVolumeType::VolumeTypeDirectory
                };
                VolumeStatusSpec { r#type: r#type.into(), ..VolumeStatusSpec::default() }
                    .encode_to_vec()
            }
            (MachineStatusSpec::TYPE, "machine") => {
                MachineStatusSpec { stage: self.stage.into(), status: None }.encode_to_vec()
            }
            _ => return None,
        };
        let metadata = Metadata {
            namespace: request.namespace.clone(),
            r#type: request.r#type.clone(),
            id: request.id.clone(),
            ..Metadata::default()
        };
        // A resource that is there has its YAML, also when its message is all defaults.
        let spec = cosi::Spec { proto_spec: spec, yaml_spec: "{}".to_owned() };
        let resource = Resource { metadata: Some(metadata), spec: Some(spec) };
        Some(GetResponse { resource: Some(resource) }.encode_to_vec())
    }
}

async fn answer(script: Script, mut call: Call) {
    let message = call.message().await;
    let reply = match call.path.as_str() {
        "/machine.MachineService/Version" => {
            let info = VersionInfo { tag: "v1.13.9".to_owned(), ..VersionInfo::default() };
            let version = Version { version: Some(info), ..Version::default() };
            Some(VersionResponse { messages: vec![version] }.encode_to_vec())
        }
        "/machine.MachineService/Read" => {
            let bytes = script.boot.as_bytes().to_vec();
            Some(Data { metadata: None, bytes }.encode_to_vec())
        }
        "/machine.MachineService/Reset" => {
            let request = ResetRequest::decode(message.as_slice()).expect("a request");
            let labels = request.system_partitions_to_wipe.into_iter().map(|wiped| wiped.label);
            RESETS.lock().expect("no panic").push(labels.collect());
            Some(ResetResponse { messages: vec![Reset::default()] }.encode_to_vec())
        }
        "/machine.MachineService/Bootstrap" => {
            sleep(LATE).await;
            Some(BootstrapResponse { messages: vec![Bootstrap::default()] }.encode_to_vec())
        }
        "/cosi.resource.State/Get" => {
            let request = GetRequest::decode(message.as_slice()).expect("a request");
            if request.id == script.silent {
                // Code 14: not available now.
                return call.refuse("14");
            }
            script.resource(&request)
        }
        _ => None,
    };
    match reply {
        Some(reply) => call.answer(vec![frame(&reply)]).await,
        // Code 5: there is no such thing.
        None => call.refuse("5"),
    }
}

/// Starts a machine with a certificate of an authority, at an address of its own.
async fn start(pki: &Pki, validity: (i64, i64), clients: Clients, script: Script) -> Server {
    let listener = lease(1).await.remove(0);
    let ip = listener.local_addr().expect("an address").ip();
    let identity = pki.identity(validity, clients, &[ip]);
    Server::serve(listener, move || identity.clone(), move |call| answer(script, call))
}

/// Observes a machine of ours that answers by a script.
async fn observe_own(script: Script) -> OwnMachine {
    let pki = Pki::new(1);
    let server = start(&pki, NOW_AND_LATER, Clients::Ours, script).await;
    own(machines(pki.context(NOW_AND_LATER, 1)).observe(&at(server.address)).await)
}

/// The adapter with credentials that stay the same.
fn machines(context: Context) -> LiveMachines {
    let clock = Arc::new(ScriptedClock::default());
    LiveMachines::new(Box::new(move || Ok(context.clone())), clock)
}

fn at(address: SocketAddr) -> MachineAddress {
    MachineAddress {
        name: "machine".parse().expect("a name"),
        address: Address(address.ip()),
        fingerprints: Vec::new(),
    }
}

#[track_caller]
fn own(observed: Observed) -> OwnMachine {
    match observed {
        Observed::Ours(own) => *own,
        other => panic!("{}", describe(&other)),
    }
}

fn describe(observed: &Observed) -> String {
    match observed {
        Observed::Maintenance => "in maintenance".to_owned(),
        Observed::Ours(_) => "ours".to_owned(),
        Observed::Foreign => "foreign".to_owned(),
        Observed::Unreachable(reason) => format!("unreachable: {reason}"),
    }
}

async fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(20), "waited in vain for {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Listens at so many addresses.
async fn lease(count: usize) -> Vec<TcpListener> {
    let mut leased = Vec::new();
    let mut addresses = loopback();
    while leased.len() < count {
        let address = addresses.next().expect("a free address");
        match TcpListener::bind(address).await {
            Ok(listener) => leased.push(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => panic!("cannot listen at {address}: {error}"),
        }
    }
    leased
}

/// Addresses that machines could have, in an order of its own in each process.
fn loopback() -> impl Iterator<Item = SocketAddr> {
    let [_, _, high, low] = std::process::id().to_be_bytes();
    let first = u16::from_be_bytes([high, low]);
    (0..=u16::MAX).map(move |offset| {
        let [high, low] = first.wrapping_add(offset).to_be_bytes();
        SocketAddr::from(([127, 78, high, low], 50000))
    })
}

/// A clock that a test sets, in seconds.
#[derive(Default)]
struct ScriptedClock(AtomicU64);

#[async_trait]
impl Clock for ScriptedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed).cast_signed())
    }

    fn monotonic(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    async fn sleep(&self, _duration: Duration) {}
}

/// An authority with keys that are no secret.
struct Pki {
    authority: Authority,
}

/// The clients that a machine takes.
#[derive(Clone, Copy)]
enum Clients {
    Ours,
    Any,
}

impl Pki {
    fn new(seed: u8) -> Self {
        let new = NewAuthority {
            organization: Some(&format!("authority {seed}")),
            addresses: &[],
            validity: validity(NOW_AND_LATER, seed),
            id: [seed; 20],
        };
        Self { authority: Authority::new(Key::ed25519([seed; 32]), &new) }
    }

    /// Credentials of an administrator.
    fn context(&self, times: (i64, i64), serial: u8) -> Context {
        let key = Key::ed25519([9; 32]);
        let leaf =
            Leaf { subject: subject(), usage: Usage::Signature, validity: validity(times, serial) };
        let certificate = self.authority.sign(&leaf, &key).expect("a certificate");
        Context {
            endpoints: Vec::new(),
            nodes: Vec::new(),
            ca: self.authority.certificate().encode(),
            certificate: certificate.encode(),
            key: key.encode(),
        }
    }

    fn identity(&self, times: (i64, i64), clients: Clients, ips: &[IpAddr]) -> Identity {
        let key = Key::ed25519([8; 32]);
        let request = Request::new(&key, &subject(), ips);
        let certificate = self.authority.sign_machine(&request, validity(times, 5));
        let clients = match clients {
            Clients::Ours => Some(der(&self.authority.certificate().encode())),
            Clients::Any => None,
        };
        Identity {
            certificate: der(&certificate.expect("a certificate").encode()),
            key: der(key.encode().expose()),
            clients,
        }
    }
}

fn subject() -> Subject {
    Subject { organizations: vec!["os:admin".to_owned()], common_name: None }
}

fn validity((not_before, not_after): (i64, i64), serial: u8) -> Validity {
    Validity { not_before, not_after, serial: [serial; 16] }
}

fn der(text: &str) -> Vec<u8> {
    pki::blocks(text).next().expect("a block").bytes
}

/// As in `src/live/machines.rs`.
const MOST_OPEN: usize = 64;
/// Longer than a call may take that is answered at once, five seconds with one for the way.
const LATE: Duration = Duration::from_secs(8);
/// From 2020 to 2090.
const NOW_AND_LATER: (i64, i64) = (1_577_836_800, 3_786_912_000);
/// A day in 2020.
const LONG_AGO: (i64, i64) = (1_577_836_800, 1_577_923_200);
/// From 2080 to 2090.
const FAR_AHEAD: (i64, i64) = (3_471_292_800, 3_786_912_000);

/// The partitions of each reset that was sent. One test resets.
static RESETS: Mutex<Vec<Vec<String>>> = Mutex::new(Vec::new());
