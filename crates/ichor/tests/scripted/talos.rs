//! A machine with as much of Talos as an engine asks for: its stage, its identity, a configuration and a reset.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use talos_api::proto::cosi::{GetRequest, GetResponse, Metadata, Resource, Spec};
use talos_api::proto::definitions::cluster::IdentitySpec;
use talos_api::proto::definitions::enums::RuntimeMachineStage;
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_api::proto::machine::{ApplyConfigurationRequest, Version, VersionInfo, VersionResponse};
use talos_api::resource::Spec as _;
use talos_config::pki::Authority;

pub(crate) use crate::api::loopback;
use crate::api::{Call, Machine, stranger};

/// A machine. It ends with the test's process.
pub(crate) struct Talos {
    machine: Machine,
    is_member: Arc<AtomicBool>,
}

/// The state of a machine at first, and its answer to a configuration.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Script {
    /// In maintenance; it does not take a configuration.
    Refuses,
    /// In maintenance; it takes a configuration, and boots with it when the test says so.
    Takes,
    /// Of the cluster; it is in maintenance after a reset.
    Member,
}

impl Talos {
    /// Starts a machine behind a listener, for the cluster that has these secrets.
    pub(crate) fn start(listener: TcpListener, secrets: &str, script: Script) -> Self {
        let is_member = Arc::new(AtomicBool::new(script == Script::Member));
        let (signed, answered) = (Arc::clone(&is_member), Arc::clone(&is_member));
        let secrets = secrets.to_owned();
        let authority = move || {
            if signed.load(Ordering::Relaxed) { authority_of(&secrets) } else { stranger() }
        };
        let answers = move |call: &Call| answer(call, script, &answered);
        Self { machine: Machine::start(listener, authority, answers), is_member }
    }

    /// Boots with the configuration that the machine was given.
    pub(crate) fn boot(&self) {
        self.is_member.store(true, Ordering::Relaxed);
    }

    /// Returns the configuration that the machine was given last.
    pub(crate) fn applied(&self) -> String {
        let calls = self.machine.calls();
        let call = calls.iter().rfind(|call| call.path == APPLY_CONFIGURATION).expect("a call");
        let request = ApplyConfigurationRequest::decode(call.message.as_slice());
        String::from_utf8(request.expect("a request").data).expect("text")
    }

    /// Returns the paths of all calls, also of those that name the machine.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.machine.calls().into_iter().map(|call| call.path).collect()
    }

    /// Counts the calls of a path.
    pub(crate) fn count(&self, path: &str) -> usize {
        let calls = self.machine.calls();
        // Each machine is called at its own address, and passes nothing on.
        let address = self.machine.address;
        assert!(calls.iter().all(|call| call.node.is_empty()), "{address} was called for another");
        calls.iter().filter(|call| call.path == path).count()
    }
}

fn answer(call: &Call, script: Script, is_member: &AtomicBool) -> Option<Vec<Vec<u8>>> {
    let member = is_member.load(Ordering::Relaxed);
    match call.path.as_str() {
        GET => resource(call, member).map(|reply| vec![reply]),
        VERSION => Some(vec![version()]),
        // A boot id that is not told, and no data of etcd: streams without a message.
        READ | LIST if member => Some(Vec::new()),
        APPLY_CONFIGURATION if script == Script::Takes => Some(vec![ONE_MESSAGE.to_vec()]),
        RESET if member => {
            is_member.store(false, Ordering::Relaxed);
            Some(vec![ONE_MESSAGE.to_vec()])
        }
        _ => None,
    }
}

/// Answers a question for the stage or the identity of a machine.
pub(crate) fn resource(call: &Call, member: bool) -> Option<Vec<u8>> {
    let asked = GetRequest::decode(call.message.as_slice()).ok()?;
    let spec = if asked.r#type == MachineStatusSpec::TYPE {
        let stage = if member {
            RuntimeMachineStage::MachineStageRunning
        } else {
            RuntimeMachineStage::MachineStageMaintenance
        };
        MachineStatusSpec { stage: stage.into(), status: None }.encode_to_vec()
    } else if asked.r#type == IdentitySpec::TYPE && member {
        IdentitySpec { node_id: "scripted".to_owned() }.encode_to_vec()
    } else {
        return None;
    };
    let metadata = Metadata {
        namespace: asked.namespace,
        r#type: asked.r#type,
        id: asked.id,
        version: "1".to_owned(),
        phase: "running".to_owned(),
        ..Metadata::default()
    };
    let spec = Spec { proto_spec: spec, ..Spec::default() };
    let resource = Resource { metadata: Some(metadata), spec: Some(spec) };
    Some(GetResponse { resource: Some(resource) }.encode_to_vec())
}

pub(crate) fn version() -> Vec<u8> {
    let info = VersionInfo { tag: "v1.13.9".to_owned(), ..VersionInfo::default() };
    let version = Version { version: Some(info), ..Version::default() };
    VersionResponse { messages: vec![version] }.encode_to_vec()
}

/// The authority that signs for the machines of a cluster.
pub(crate) fn authority_of(secrets: &str) -> Authority {
    let (_, os) = secrets.split_once("  os:\n").expect("an authority");
    let text = |key: &str| {
        let value = os.lines().find_map(|line| line.trim().strip_prefix(key)).expect("a value");
        String::from_utf8(STANDARD.decode(value).expect("base64")).expect("text")
    };
    Authority::parse(&text("crt: "), &text("key: ")).expect("an authority")
}

pub(crate) const APPLY_CONFIGURATION: &str = "/machine.MachineService/ApplyConfiguration";
pub(crate) const BOOTSTRAP: &str = "/machine.MachineService/Bootstrap";
pub(crate) const REBOOT: &str = "/machine.MachineService/Reboot";
pub(crate) const RESET: &str = "/machine.MachineService/Reset";
/// A reply of one machine that says nothing.
pub(crate) const ONE_MESSAGE: [u8; 2] = [0x0a, 0];
pub(crate) const GET: &str = "/cosi.resource.State/Get";
pub(crate) const LIST: &str = "/machine.MachineService/List";
pub(crate) const READ: &str = "/machine.MachineService/Read";
pub(crate) const VERSION: &str = "/machine.MachineService/Version";
