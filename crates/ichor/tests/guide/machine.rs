//! `ichor gen machine` before a machine in maintenance: links and addresses as a real one sent them, with disks that it
//! did not have.

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost::Message;
use talos_api::proto::cosi::{
    self, GetRequest, GetResponse, ListRequest, ListResponse, Metadata, Resource,
};
use talos_api::proto::definitions::block::DiskSpec;
use talos_api::proto::definitions::enums::RuntimeMachineStage;
use talos_api::proto::definitions::runtime::MachineStatusSpec;
use talos_api::resource::Spec;

use crate::Directory;
use crate::api::{Call, Machine, stranger};

#[test]
fn a_machine_becomes_an_entry_that_its_file_accepts() {
    let address = machine(vec![
        disk("/dev/sr0", "sata", 700, |disk| disk.cdrom = true),
        disk("/dev/sda", "usb", 32, |_| {}),
        disk("/dev/sdb", "sata", 4000, |disk| disk.rotational = true),
        disk("/dev/nvme0n1", "nvme", 500, |disk| disk.serial = "S4EVNX0T".to_owned()),
    ]);
    let directory = Directory::new(&[]);
    let line = format!("gen machine --insecure --control-plane --name cp-1 -n {address}");
    let said = directory.run(&line);
    assert_eq!(said.code, 0, "{}", said.stderr);
    for reason in [
        "disk /dev/nvme0n1 (NVME, 500 GB, serial S4EVNX0T)",
        "not /dev/sdb (HDD, 4.0 TB): slower, larger or second by name",
        "not /dev/sr0 is a CD",
        "not /dev/sda is attached by USB",
        "link eth0 has 10.77.0.11: 8e:b2:0a:85:6d:b7",
    ] {
        assert!(
            said.stderr.contains(&format!("{address}: {reason}\n")),
            "{reason}\n{}",
            said.stderr
        );
    }
    assert_eq!(
        said.stdout,
        "  - hostname: cp-1\n    ipAddress: \"10.77.0.11\"\n    controlPlane: true\n    installDisk: /dev/nvme0n1\n    \
         networkInterfaces:\n      - deviceSelector:\n          hardwareAddr: \"8e:b2:0a:85:6d:b7\"\n        dhcp: \
         true\n"
    );
    let head = "clusterName: home\ntalosVersion: v1.12.0\nkubernetesVersion: v1.35.0\nendpoint: https://10.77.0.11:6443\n";
    directory.write("talconfig.yaml", &format!("{head}nodes:\n{}", said.stdout));
    directory.done("talhelper validate talconfig");
    directory.done("talhelper genconfig --offline-mode");

    let nodes = directory.done(&format!("{line} --for nodes"));
    directory.write("cluster.yaml", "node_cidr: 10.77.0.0/24\ncluster_api_addr: 10.77.0.10\n");
    directory.write("nodes.yaml", &format!("nodes:\n{nodes}"));
    directory.done("gen talconfig");
    directory.write("nodes.yaml", "# machines\nnodes: []\n");
    directory.done(&format!("{line} --for nodes --write nodes.yaml"));
    assert_eq!(directory.read("nodes.yaml"), format!("# machines\nnodes:\n{nodes}"));
    let again = directory.run(&format!("{line} --for nodes --write nodes.yaml"));
    assert_eq!(again.code, 3, "{}", again.stderr);
    assert!(again.stderr.contains("the entry on line 3 has name cp-1 already"), "{}", again.stderr);
    let native = directory.done(&format!("{line} --for ichor"));
    assert_eq!(native, "    - {name: cp-1, address: 10.77.0.11, disk: /dev/nvme0n1}\n");
    let wrong = directory.run(&line.replace("cp-1", "Not_A_Name"));
    assert_eq!(wrong.code, 3, "{}", wrong.stderr);
}

#[test]
fn a_machine_that_boots_from_usb_is_taken_only_when_asked_for() {
    let address = machine(vec![disk("/dev/sda", "usb", 32, |_| {})]);
    let directory = Directory::new(&[]);
    let line = format!("gen machine --insecure -n {address}");
    let said = directory.run(&line);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert!(
        said.stderr.contains("no disk to install to: /dev/sda is attached by USB"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("hint: --usb accepts"), "{}", said.stderr);
    assert!(directory.done(&format!("{line} --usb")).contains("installDisk: /dev/sda\n"));
}

fn disk(device: &str, transport: &str, gigabytes: u64, change: impl Fn(&mut DiskSpec)) -> DiskSpec {
    let mut disk = DiskSpec {
        dev_path: device.to_owned(),
        size: gigabytes * 1_000_000_000,
        transport: transport.to_owned(),
        ..DiskSpec::default()
    };
    change(&mut disk);
    disk
}

/// Starts a machine that has these disks, at a port that the kernel chooses.
fn machine(disks: Vec<DiskSpec>) -> SocketAddr {
    maintenance(any_port(), disks).address
}

/// Starts a machine in maintenance with a disk for Talos.
pub(crate) fn with_disk(listener: TcpListener) -> Machine {
    maintenance(listener, vec![disk("/dev/sda", "sata", 500, |_| {})])
}

fn maintenance(listener: TcpListener, disks: Vec<DiskSpec>) -> Machine {
    let mut replies: BTreeMap<String, Vec<Vec<u8>>> = include_str!("maintenance.jsonl")
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let frames = line["replies"].as_array().expect("a list").iter();
            let frames =
                frames.map(|frame| STANDARD.decode(frame.as_str().expect("text")).expect("base64"));
            (line["type"].as_str().expect("a type").to_owned(), frames.collect())
        })
        .collect();
    let disks = disks.into_iter().map(|disk| {
        let id = disk.dev_path.trim_start_matches("/dev/").to_owned();
        let resource = Some(resource::<DiskSpec>(id, disk.encode_to_vec()));
        ListResponse { resource }.encode_to_vec()
    });
    replies.insert(DiskSpec::TYPE.to_owned(), disks.collect());
    let answers = move |call: &Call| match call.path.as_str() {
        "/cosi.resource.State/Get" => stage(call).map(|reply| vec![reply]),
        "/cosi.resource.State/List" => {
            let asked = ListRequest::decode(call.message.as_slice()).unwrap_or_default();
            replies.get(&asked.r#type).cloned()
        }
        _ => None,
    };
    Machine::start(listener, stranger, answers)
}

fn stage(call: &Call) -> Option<Vec<u8>> {
    let asked = GetRequest::decode(call.message.as_slice()).ok()?;
    let stage = RuntimeMachineStage::MachineStageMaintenance.into();
    let spec = MachineStatusSpec { stage, status: None }.encode_to_vec();
    let is_asked = asked.r#type == MachineStatusSpec::TYPE;
    is_asked.then(|| {
        let resource = Some(resource::<MachineStatusSpec>(asked.id, spec));
        GetResponse { resource }.encode_to_vec()
    })
}

fn resource<T: Spec>(id: String, proto_spec: Vec<u8>) -> Resource {
    let metadata = Metadata {
        namespace: T::NAMESPACE.to_owned(),
        r#type: T::TYPE.to_owned(),
        id,
        version: "1".to_owned(),
        phase: "running".to_owned(),
        ..Metadata::default()
    };
    Resource {
        metadata: Some(metadata),
        spec: Some(cosi::Spec { proto_spec, ..cosi::Spec::default() }),
    }
}

/// A listener on a port that the kernel chooses.
pub(crate) fn any_port() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a port")
}
