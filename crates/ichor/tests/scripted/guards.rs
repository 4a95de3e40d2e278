//! `ichor node …` of control planes: what would cost etcd its majority, or begin a second etcd, is refused and not sent.

use std::net::{IpAddr, TcpListener};

use prost::Message;
use talos_api::proto::machine::{
    EtcdMember, EtcdMemberListResponse, EtcdMemberStatus, EtcdMembers, EtcdStatus,
    EtcdStatusResponse, ServiceInfo, ServiceList, ServiceListResponse, Version, VersionInfo,
    VersionResponse,
};

use crate::Home;
use crate::api::{Call, Machine, stranger};
use crate::talos::{BOOTSTRAP, RESET, authority_of, loopback};

#[test]
fn node_commands_that_would_cost_etcd_its_majority_are_refused_and_not_sent() {
    let (home, listeners) = three_control_planes();
    let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
    let [first, _second, third] = listeners;
    // The third one is not asked for its member but through the first, which has no answer of it.
    let _third = third;
    let machine = endpoint(&home, first, addresses.clone(), 2);
    let own = addresses[0];
    for line in [
        "reboot",
        "reboot --mode powercycle",
        "shutdown",
        "shutdown --force",
        "reset",
        "reset --graceful=false",
        "upgrade --image factory.test/installer:v1.13.9",
        "rollback",
    ] {
        let line =
            format!("node {line} --yes --wait=false -n cp-1 -e {own} --talosconfig talosconfig");
        let said = home.run(&line).ends_with(4);
        let expected =
            format!("error[etcd.quorum]: cp-1 ({own}): etcd would lose its quorum: 1 of ");
        assert!(said.stderr.contains(&expected), "{line}: {said:?}");
        assert!(said.stderr.contains("--override quorum.tolerance --reason"), "{line}: {said:?}");
        let changed: Vec<Call> = machine.calls().into_iter().filter(changes).collect();
        assert!(changed.is_empty(), "{line} sent {:?}", changed[0].path);
    }
    // An answer for it is sent, and written down with its reason.
    let line = format!(
        "node reset --yes --wait=false --graceful=false -n cp-1 -e {own} --talosconfig talosconfig \
         --override quorum.tolerance --reason fire"
    );
    let said = home.run(&line);
    assert!(said.stderr.contains("overridden: cp-1 ("), "{said:?}");
    assert_eq!(machine.calls().iter().filter(|call| call.path == RESET).count(), 1, "{said:?}");
}

#[test]
fn a_majority_that_stays_refuses_nothing() {
    let (home, listeners) = three_control_planes();
    let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
    let [first, ..] = listeners;
    let machine = endpoint(&home, first, addresses.clone(), 3);
    let own = addresses[0];
    home.run(&format!("node reset --yes --wait=false -n cp-1 -e {own} --talosconfig talosconfig"));
    assert_eq!(machine.calls().iter().filter(|call| call.path == RESET).count(), 1);
}

#[test]
fn a_second_etcd_is_not_bootstrapped_beside_the_first() {
    let (home, listeners) = three_control_planes();
    let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
    let [first, second, third] = listeners;
    let begun = endpoint(&home, first, addresses.clone(), 1);
    let fresh = fresh(&home, second);
    // In maintenance: it has no member of this cluster.
    let stranger = Machine::start(third, stranger, |_| None);
    let line = format!(
        "node bootstrap --wait=false -n cp-2 -e {} --talosconfig talosconfig",
        addresses[1]
    );
    let said = home.run(&line).ends_with(4);
    let expected = format!(
        "error[etcd.already-bootstrapped]: cp-2 ({}): not bootstrapped: cp-1 ({}) runs etcd already",
        addresses[1], addresses[0]
    );
    assert!(said.stderr.contains(&expected), "{said:?}");
    for machine in [&begun, &fresh, &stranger] {
        assert!(!machine.calls().iter().any(changes), "{said:?}");
    }
    // No override is for that.
    home.run(&format!("{line} --override bootstrap.unseen --reason x")).ends_with(4);
    assert!(!fresh.calls().iter().any(changes));
}

#[test]
fn etcd_is_bootstrapped_only_when_every_control_plane_was_asked() {
    let (home, listeners) = three_control_planes();
    let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
    let [_first, second, third] = listeners;
    // Nothing listens there.
    let spec = home.read("ichor.yaml");
    let off = "127.93.7.3";
    home.write("ichor.yaml", &spec.replace(&addresses[0].to_string(), off));
    let fresh = fresh(&home, second);
    let _stranger = Machine::start(third, stranger, |_| None);
    let line = format!(
        "node bootstrap --wait=false -n cp-2 -e {} --talosconfig talosconfig",
        addresses[1]
    );
    let said = home.run(&line).ends_with(4);
    let expected = format!(
        "error[bootstrap.unseen]: cp-2 ({}): not bootstrapped: cp-1 ({}): unreachable (connection refused) may run etcd \
         already",
        addresses[1], off
    );
    assert!(said.stderr.contains(&expected), "{said:?}");
    assert!(!fresh.calls().iter().any(changes));
    home.run(&format!("{line} --override bootstrap.unseen --reason burnt")).ends_with(0);
    assert_eq!(fresh.calls().iter().filter(|call| call.path == BOOTSTRAP).count(), 1);
}

#[test]
fn a_machine_that_the_directory_does_not_have_is_told_as_such() {
    let (home, _listeners) = three_control_planes();
    let said = home.run("services -n cp-9 --talosconfig talosconfig").ends_with(3);
    assert!(said.stderr.contains("the cluster has no machine \"cp-9\""), "{said:?}");
    assert!(said.stderr.contains("hint: it has cp-1, cp-2, cp-3"), "{said:?}");
}

fn three_control_planes() -> (Home, [TcpListener; 3]) {
    let home = Home(tempfile::tempdir().expect("a directory"));
    let listeners = [loopback(), loopback(), loopback()];
    let [first, second, third] = &listeners;
    home.run(&format!(
        "init home --endpoint https://{0}:6443 --control-plane cp-1={0} --control-plane cp-2={1} --control-plane cp-3={2}",
        address(first),
        address(second),
        address(third),
    ))
    .ends_with(0);
    home.run("gen talosconfig home --with-secrets secrets.yaml -o talosconfig").ends_with(0);
    (home, listeners)
}

/// A machine of the cluster that answers for itself and for the others; only so many of their members are well.
fn endpoint(home: &Home, listener: TcpListener, addresses: Vec<IpAddr>, well: usize) -> Machine {
    let secrets = home.read("secrets.yaml");
    let answers = move |call: &Call| {
        let asked = addresses.iter().position(|address| call.node == address.to_string());
        let asked = asked.unwrap_or(0);
        match call.path.as_str() {
            SERVICE_LIST => Some(vec![services("Running")]),
            VERSION => Some(vec![version()]),
            MEMBERS => Some(vec![members(&addresses)]),
            STATUS if asked < well => Some(vec![status(asked)]),
            RESET => Some(vec![Vec::new()]),
            _ => None,
        }
    };
    Machine::start(listener, move || authority_of(&secrets), answers)
}

/// A machine of the cluster that waits for a bootstrap.
fn fresh(home: &Home, listener: TcpListener) -> Machine {
    let secrets = home.read("secrets.yaml");
    let answers = |call: &Call| match call.path.as_str() {
        SERVICE_LIST => Some(vec![services("Preparing")]),
        BOOTSTRAP => Some(vec![Vec::new()]),
        _ => None,
    };
    Machine::start(listener, move || authority_of(&secrets), answers)
}

/// Whether a call changes a machine.
fn changes(call: &Call) -> bool {
    ![SERVICE_LIST, VERSION, MEMBERS, STATUS].contains(&call.path.as_str())
}

fn address(listener: &TcpListener) -> IpAddr {
    listener.local_addr().expect("an address").ip()
}

fn services(etcd: &str) -> Vec<u8> {
    let etcd =
        ServiceInfo { id: "etcd".to_owned(), state: etcd.to_owned(), ..ServiceInfo::default() };
    let list = ServiceList { services: vec![etcd], ..ServiceList::default() };
    ServiceListResponse { messages: vec![list] }.encode_to_vec()
}

fn version() -> Vec<u8> {
    let info = VersionInfo { tag: "v1.13.9".to_owned(), ..VersionInfo::default() };
    let version = Version { version: Some(info), ..Version::default() };
    VersionResponse { messages: vec![version] }.encode_to_vec()
}

fn members(addresses: &[IpAddr]) -> Vec<u8> {
    let member = |(number, address): (u64, &IpAddr)| EtcdMember {
        id: number,
        client_urls: vec![format!("https://{address}:2379")],
        ..EtcdMember::default()
    };
    let members = (1..).zip(addresses).map(member).collect();
    let members = EtcdMembers { members, ..EtcdMembers::default() };
    EtcdMemberListResponse { messages: vec![members] }.encode_to_vec()
}

fn status(number: usize) -> Vec<u8> {
    let member_id = u64::try_from(number).expect("a small number") + 1;
    let status = EtcdMemberStatus { member_id, leader: 1, ..EtcdMemberStatus::default() };
    let status = EtcdStatus { member_status: Some(status), ..EtcdStatus::default() };
    EtcdStatusResponse { messages: vec![status] }.encode_to_vec()
}

const MEMBERS: &str = "/machine.MachineService/EtcdMemberList";
const SERVICE_LIST: &str = "/machine.MachineService/ServiceList";
const STATUS: &str = "/machine.MachineService/EtcdStatus";
const VERSION: &str = "/machine.MachineService/Version";
