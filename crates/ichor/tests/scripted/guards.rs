//! `ichor node …` of control planes: what would cost etcd its majority, or begin a second etcd, is refused and not sent.

use std::net::{IpAddr, TcpListener};

use prost::Message;
use talos_api::proto::machine::{
    EtcdMember, EtcdMemberListRequest, EtcdMemberListResponse, EtcdMemberStatus, EtcdMembers,
    EtcdStatus, EtcdStatusResponse, FileInfo, ServiceInfo, ServiceList, ServiceListResponse,
    Version, VersionInfo, VersionResponse,
};

use crate::Home;
use crate::api::{Call, Machine, stranger};
use crate::talos::{BOOTSTRAP, REBOOT, RESET, Script, Talos, authority_of, loopback};

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
    let blank = Talos::start(third, &home.read("secrets.yaml"), Script::Refuses);
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
    for machine in [&begun, &fresh] {
        assert!(!machine.calls().iter().any(changes), "{said:?}");
    }
    assert_eq!(blank.count(BOOTSTRAP), 0);
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
    let _blank = Talos::start(third, &home.read("secrets.yaml"), Script::Refuses);
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
fn data_of_etcd_stops_a_bootstrap_elsewhere_and_a_reset_whatever_its_service_does() {
    for state in ["Waiting", "Starting", "Failed", "Stopping", "Finished"] {
        let (home, listeners) = three_control_planes();
        let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
        let [first, second, third] = listeners;
        let stopped = stopped(&home, first, state);
        let fresh = fresh(&home, second);
        let _blank = Talos::start(third, &home.read("secrets.yaml"), Script::Refuses);
        let line = format!("-e {} --talosconfig talosconfig", addresses[1]);
        let said = home.run(&format!("node bootstrap --wait=false -n cp-2 {line}")).ends_with(4);
        assert!(said.stderr.contains("etcd.already-bootstrapped"), "{state}: {said:?}");
        assert!(!fresh.calls().iter().any(changes), "{state}: {said:?}");

        let line = format!("-n cp-1 -e {} --talosconfig talosconfig", addresses[0]);
        for reset in ["reset", "reset --graceful=false"] {
            let said = home.run(&format!("node {reset} --yes --wait=false {line}")).ends_with(4);
            assert!(said.stderr.contains("its data is there"), "{state}: {said:?}");
        }
        assert!(!stopped.calls().iter().any(changes), "{state}");
        // It has no vote to lose, and keeps its data.
        home.run(&format!("node reboot --yes --wait=false {line}")).ends_with(0);
    }
}

#[test]
fn control_plane_that_still_boots_may_have_etcd() {
    bootstrap_is_refused_beside(|home, listener| {
        let secrets = home.read("secrets.yaml");
        let answers = |call: &Call| (call.path == SERVICE_LIST).then(|| vec![no_services()]);
        Machine::start(listener, move || authority_of(&secrets), answers)
    });
}

#[test]
fn stranger_at_the_address_of_a_control_plane_may_hide_one() {
    bootstrap_is_refused_beside(|_, listener| Machine::start(listener, stranger, |_| None));
}

/// Asserts that cp-2 is not bootstrapped beside such a cp-1.
fn bootstrap_is_refused_beside(first: impl FnOnce(&Home, TcpListener) -> Machine) {
    let (home, [one, two, three]) = three_control_planes();
    let own = address(&two);
    let _first = first(&home, one);
    let fresh = fresh(&home, two);
    let _blank = Talos::start(three, &home.read("secrets.yaml"), Script::Refuses);
    let line = format!("node bootstrap --wait=false -n cp-2 -e {own} --talosconfig talosconfig");
    let said = home.run(&line).ends_with(4);
    assert!(said.stderr.contains("bootstrap.unseen"), "{said:?}");
    assert!(!fresh.calls().iter().any(changes), "{said:?}");
}

#[test]
fn bootstrap_is_remembered_until_its_etcd_can_be_seen() {
    let (home, listeners) = three_control_planes();
    let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
    let [first, second, third] = listeners;
    // Both still pull the image of etcd, and neither has data.
    let (one, two) = (fresh(&home, first), fresh(&home, second));
    let _blank = Talos::start(third, &home.read("secrets.yaml"), Script::Refuses);
    let line = |number: usize| {
        let own = addresses[number - 1];
        format!("node bootstrap --wait=false -n cp-{number} -e {own} --talosconfig talosconfig")
    };
    home.run(&line(1)).ends_with(0);
    let said = home.run(&line(2)).ends_with(4);
    assert!(said.stderr.contains("was bootstrapped just now"), "{said:?}");
    assert!(!two.calls().iter().any(changes), "{said:?}");
    // The same machine again is no second etcd.
    home.run(&line(1)).ends_with(0);
    assert_eq!(one.calls().iter().filter(|call| call.path == BOOTSTRAP).count(), 2);
}

#[test]
fn machines_that_were_sent_away_without_waiting_do_not_count() {
    for action in ["reset --graceful=false", "reset", "reboot", "shutdown"] {
        let (home, listeners) = three_control_planes();
        let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
        let [first, ..] = listeners;
        let machine = endpoint(&home, first, addresses.clone(), 3);
        let said = home.run(&format!(
            "node {action} --yes --wait=false -n cp-1,cp-2,cp-3 -e {} --talosconfig talosconfig",
            addresses[0]
        ));
        assert_eq!(said.code, 1, "{action}: {said:?}");
        assert!(said.stderr.contains("error[etcd.quorum]: cp-2"), "{action}: {said:?}");
        let sent = machine.calls().iter().filter(|call| changes(call)).count();
        assert_eq!(sent, 1, "{action}: {said:?}");
    }
}

#[test]
fn role_in_the_directory_spares_no_machine_the_count() {
    let (home, listeners) = three_control_planes();
    let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
    let [first, ..] = listeners;
    let machine = endpoint(&home, first, addresses.clone(), 2);
    let own = addresses[0];
    let spec = home.read("ichor.yaml");
    let line = spec.lines().find(|line| line.contains("name: cp-1")).expect("cp-1").to_owned();
    let demoted = spec.replace(&format!("{line}\n"), "")
        + &format!(
            "pools:\n  - name: workers\n    machines:\n      - {{name: cp-1, address: {own}}}\n"
        );
    home.write("ichor.yaml", &demoted);
    let said = home
        .run(&format!("node reboot --yes --wait=false -n cp-1 -e {own} --talosconfig talosconfig"));
    assert_eq!(said.code, 4, "{said:?}");
    assert!(!machine.calls().iter().any(changes), "{said:?}");
}

#[test]
fn members_are_counted_in_the_etcd_of_the_machine_itself() {
    let (home, listeners) = three_control_planes();
    let addresses: Vec<IpAddr> = listeners.iter().map(address).collect();
    let [first, ..] = listeners;
    let secrets = home.read("secrets.yaml");
    let listed = addresses.clone();
    let split = move |call: &Call| match call.path.as_str() {
        SERVICE_LIST => Some(vec![services("Running")]),
        MEMBERS => Some(vec![members(&listed)]),
        STATUS => Some(vec![status(98)]),
        _ => None,
    };
    let machine = Machine::start(first, move || authority_of(&secrets), split);
    let own = addresses[0];
    let line = format!("node reset --yes --wait=false -n cp-1 -e {own} --talosconfig talosconfig");
    let said = home.run(&line).ends_with(4);
    assert!(said.stderr.contains("not among those that the machine lists"), "{said:?}");
    let calls = machine.calls();
    let asked = calls.iter().find(|call| call.path == MEMBERS).expect("a list");
    let request = EtcdMemberListRequest::decode(asked.message.as_slice()).expect("a request");
    assert!(request.query_local);
    assert!(!calls.iter().any(changes), "{said:?}");
}

#[test]
fn action_without_a_name_is_for_no_machine_of_the_directory() {
    let (home, listeners) = three_control_planes();
    fs_err::remove_file(home.0.path().join("talosconfig")).expect("removed");
    home.write("c.yaml", "machine: {type: worker}\n");
    let listen = |listener: TcpListener| {
        let addresses = vec![address(&listener)];
        endpoint(&home, listener, addresses, 1)
    };
    let machines = listeners.map(listen);
    for line in [
        "reset --yes --wait=false",
        "reboot --yes --wait=false",
        "shutdown --yes",
        "rollback --yes",
        "etcd leave --yes",
        "wipe disk sdb --yes",
        "meta write 0x0a x",
        "apply-config -f c.yaml --mode staged",
        "patch -p {}",
    ] {
        let said = home.run(&format!("node {line}")).ends_with(3);
        assert!(said.stderr.contains("no machine given"), "{line}: {said:?}");
    }
    assert!(machines.iter().all(|machine| machine.calls().is_empty()));
    // What only looks is for all of them.
    let said = home.run("services");
    assert!(machines.iter().any(|machine| !machine.calls().is_empty()), "{said:?}");
}

#[test]
fn talosconfig_that_is_not_named_does_not_replace_the_credentials_of_the_directory() {
    let (home, listeners) = three_control_planes();
    let [first, second, _third] = listeners;
    let addresses = vec![address(&first)];
    let machine = endpoint(&home, first, addresses.clone(), 1);
    // Another cluster's, in the usual place.
    let other = Home(tempfile::tempdir().expect("a directory"));
    let elsewhere = address(&second);
    other
        .run(&format!(
            "init other --endpoint https://{elsewhere}:6443 --control-plane cp-1={elsewhere}"
        ))
        .ends_with(0);
    other.run("gen talosconfig other --with-secrets secrets.yaml -o .talos/config").ends_with(0);
    let stranger = endpoint(&other, second, vec![elsewhere], 1);
    let run = |line: &str, variables: &[(&str, &str)]| {
        let mut command = home.command(line);
        command.env("HOME", other.0.path()).envs(variables.iter().copied());
        command.output().expect("ichor")
    };
    let output = run("services -n cp-1", &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(!machine.calls().is_empty());
    assert!(stranger.calls().is_empty());
    // One that is named is meant, also when it is not there.
    let output = run("services -n cp-1", &[("TALOSCONFIG", "/nonexistent/talosconfig")]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("/nonexistent/talosconfig"));
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
            RESET | REBOOT | SHUTDOWN => Some(vec![ONE_MESSAGE.to_vec()]),
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
        LIST => Some(Vec::new()),
        BOOTSTRAP => Some(vec![Vec::new()]),
        _ => None,
    };
    Machine::start(listener, move || authority_of(&secrets), answers)
}

/// A machine of the cluster with data of etcd, whose service is in this state.
fn stopped(home: &Home, listener: TcpListener, state: &'static str) -> Machine {
    let secrets = home.read("secrets.yaml");
    let answers = move |call: &Call| match call.path.as_str() {
        SERVICE_LIST => Some(vec![services(state)]),
        LIST => {
            let entry = FileInfo { relative_name: "member".to_owned(), ..FileInfo::default() };
            Some(vec![entry.encode_to_vec()])
        }
        RESET | REBOOT => Some(vec![ONE_MESSAGE.to_vec()]),
        _ => None,
    };
    Machine::start(listener, move || authority_of(&secrets), answers)
}

/// Whether a call changes a machine.
fn changes(call: &Call) -> bool {
    ![SERVICE_LIST, LIST, GET, READ, VERSION, MEMBERS, STATUS].contains(&call.path.as_str())
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

fn no_services() -> Vec<u8> {
    let messages = vec![ServiceList::default()];
    ServiceListResponse { messages }.encode_to_vec()
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

/// The first field of a reply: one empty message.
const ONE_MESSAGE: [u8; 2] = [0x0a, 0];
const GET: &str = "/cosi.resource.State/Get";
const LIST: &str = "/machine.MachineService/List";
const MEMBERS: &str = "/machine.MachineService/EtcdMemberList";
const READ: &str = "/machine.MachineService/Read";
const SERVICE_LIST: &str = "/machine.MachineService/ServiceList";
const SHUTDOWN: &str = "/machine.MachineService/Shutdown";
const STATUS: &str = "/machine.MachineService/EtcdStatus";
const VERSION: &str = "/machine.MachineService/Version";
