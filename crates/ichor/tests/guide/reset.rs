//! What a machine is told when it is to forget everything.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use serde_json::{Value, json};
use talos_api::proto::machine::{
    Reset, ResetPartitionSpec, ResetRequest, ResetResponse, ServiceInfo, ServiceList,
    ServiceListResponse,
};
use talos_config::pki::Authority;

use crate::api::{Call, Machine, stranger};
use crate::machine::any_port;
use crate::{Directory, SECRETS};

#[test]
fn a_reset_is_graceful_unless_somebody_says_otherwise() {
    let (directory, machine) = (directory(), machine(""));
    reset(&directory, &machine, "-n w-1 --yes --wait=false");
    let call = only(&machine);
    assert_eq!(call.path, RESET);
    // The machine moves its pods away and leaves etcd by itself; whom that is told to is in the call.
    assert_eq!(call.node, "127.91.5.21");
    let request = ResetRequest { graceful: true, ..ResetRequest::default() };
    assert_eq!(ResetRequest::decode(call.message.as_slice()), Ok(request));
    assert_eq!(
        audited(&directory),
        [
            json!(["reset", "wipes the system disk", ["127.91.5.21"], "begun"]),
            json!(["reset", "wipes the system disk", ["127.91.5.21"], "done"]),
        ]
    );
}

/// As `task talos:reset` does it.
#[test]
fn a_forced_reset_leaves_nothing_first_and_wipes_what_is_named() {
    let (directory, machine) = (directory(), machine(""));
    reset(
        &directory,
        &machine,
        "-n 127.91.5.11 --yes --wait=false --graceful=false --reboot --system-labels-to-wipe STATE \
         --system-labels-to-wipe EPHEMERAL",
    );
    let call = only(&machine);
    assert_eq!((call.path.as_str(), call.node.as_str()), (RESET, "127.91.5.11"));
    let wiped = |label: &str| ResetPartitionSpec { label: label.to_owned(), wipe: true };
    let request = ResetRequest {
        graceful: false,
        reboot: true,
        system_partitions_to_wipe: vec![wiped("STATE"), wiped("EPHEMERAL")],
        user_disks_to_wipe: Vec::new(),
        // All that is named.
        mode: 0,
    };
    assert_eq!(ResetRequest::decode(call.message.as_slice()), Ok(request));
    let detail = "wipes STATE, EPHEMERAL, without leaving etcd";
    assert_eq!(audited(&directory)[0], json!(["reset", detail, ["127.91.5.11"], "begun"]));
}

#[test]
fn nothing_is_reset_unless_somebody_says_yes() {
    let (directory, machine) = (directory(), machine(""));
    let line = format!("node reset -n cp-1,w-1 -e {} --wait=false", machine.address);
    let said = directory.run(&line);
    assert_eq!(said.code, 3, "{}", said.stderr);
    let asked = "error[confirm.unasked]: reset cp-1 (127.91.5.11), w-1 (127.91.5.21) (wipes the system disk): nobody is there to say yes";
    assert!(said.stderr.contains(asked), "{}", said.stderr);
    assert_eq!(machine.calls().len(), 0);
    assert!(audited(&directory).is_empty());
}

#[test]
fn whoever_is_not_of_the_cluster_is_told_nothing() {
    let (directory, machine) = (directory(), Machine::start(any_port(), stranger, taken));
    let line = format!("node reset -n w-1 -e {} --yes --wait=false", machine.address);
    let said = directory.run(&line);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(
        said.stderr.contains("error[machine.untrusted]: w-1 (127.91.5.21): "),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("\nhint: "), "{}", said.stderr);
    assert_eq!(machine.calls().len(), 0);
}

#[test]
fn machines_are_reset_one_after_the_other_until_one_fails() {
    let directory = directory();
    let well = machine("");
    reset(&directory, &well, "-n w-1,cp-1 --yes --wait=false");
    let resets = well.calls().into_iter().filter(|call| call.path == RESET);
    let nodes: Vec<String> = resets.map(|call| call.node).collect();
    assert_eq!(nodes, ["127.91.5.21", "127.91.5.11"]);

    let broken = machine("127.91.5.21");
    let line = format!("node reset -n w-1,cp-1 -e {} --yes --wait=false", broken.address);
    let said = directory.run(&line);
    assert_eq!(said.code, 1, "{}", said.stderr);
    assert!(
        said.stderr.contains("error[machine.not-found]: w-1 (127.91.5.21): "),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("not touched: cp-1 (127.91.5.11)\n"), "{}", said.stderr);
    let nodes: Vec<String> = broken.calls().into_iter().map(|call| call.node).collect();
    assert_eq!(nodes, ["127.91.5.21"]);
}

fn reset(directory: &Directory, machine: &Machine, how: &str) {
    directory.done(&format!("node reset -e {} --deadline 20s {how}", machine.address));
}

/// The one call that a machine got, beside those that look for a member of etcd: nothing is asked to leave.
fn only(machine: &Machine) -> Call {
    let mut calls = machine.calls();
    calls.retain(|call| ![LIST, SERVICE_LIST].contains(&call.path.as_str()));
    assert_eq!(calls.len(), 1);
    calls.remove(0)
}

fn directory() -> Directory {
    let directory = Directory::new(&[("talconfig.yaml", TALCONFIG), ("talsecret.yaml", SECRETS)]);
    directory
        .done("gen talosconfig home --with-secrets talsecret.yaml -o clusterconfig/talosconfig");
    directory
}

/// A machine of the cluster through which every other one is reached; it does not know the named one.
fn machine(unknown: &'static str) -> Machine {
    let answers = move |call: &Call| if call.node == unknown { None } else { taken(call) };
    Machine::start(any_port(), authority, answers)
}

/// What a machine says to a reset that it begins.
fn taken(call: &Call) -> Option<Vec<Vec<u8>>> {
    let message = Reset { metadata: None, actor_id: "somebody".to_owned() };
    match call.path.as_str() {
        RESET => Some(vec![ResetResponse { messages: vec![message] }.encode_to_vec()]),
        // It waits for a bootstrap, and has no data.
        LIST => Some(Vec::new()),
        SERVICE_LIST => {
            let etcd = ServiceInfo {
                id: "etcd".to_owned(),
                state: "Preparing".to_owned(),
                ..ServiceInfo::default()
            };
            let list = ServiceList { services: vec![etcd], ..ServiceList::default() };
            Some(vec![ServiceListResponse { messages: vec![list] }.encode_to_vec()])
        }
        _ => None,
    }
}

/// Who signs for the machines of the cluster.
fn authority() -> Authority {
    let (_, os) = SECRETS.split_once("  os:\n").expect("an authority");
    let text = |key: &str| {
        let value = os.lines().find_map(|line| line.trim().strip_prefix(key)).expect("a value");
        String::from_utf8(STANDARD.decode(value).expect("base64")).expect("text")
    };
    Authority::parse(&text("crt: "), &text("key: ")).expect("an authority")
}

/// What was written down: the action, how, to whom, and how it ended.
fn audited(directory: &Directory) -> Vec<Value> {
    let path = directory.home().join(".local/state/ichor/audit.jsonl");
    let text = fs_err::read_to_string(path).unwrap_or_default();
    let line = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        json!([line["action"], line["detail"], line["nodes"], line["outcome"]])
    };
    text.lines().map(line).collect()
}

const LIST: &str = "/machine.MachineService/List";
const RESET: &str = "/machine.MachineService/Reset";
const SERVICE_LIST: &str = "/machine.MachineService/ServiceList";
const TALCONFIG: &str = "\
clusterName: home
talosVersion: v1.12.0
kubernetesVersion: v1.35.0
endpoint: https://127.91.5.10:6443
nodes:
  - hostname: cp-1
    ipAddress: 127.91.5.11
    controlPlane: true
    installDisk: /dev/sda
  - hostname: w-1
    ipAddress: 127.91.5.21
    installDisk: /dev/sda
";
