//! `ichor node reset`: the journal forgets a machine that was seen in maintenance, and keeps every other one as it was.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use engine::journal::{Entry, FileJournal, Journal as _};
use engine::live::{SystemClock, SystemEntropy};
use prost::Message;
use talos_api::proto::common::{self, Data};
use talos_api::proto::machine::{Event, Reset, ResetResponse, SequenceEvent};

use crate::api::{Call, Machine, stranger};
use crate::talos::{GET, LIST, READ, RESET, VERSION, authority_of, loopback, resource, version};
use crate::{Home, Said};

#[test]
fn machine_that_was_seen_in_maintenance_is_forgotten() {
    let (home, listener) = recorded();
    let _machine = machine(listener, &home.read("secrets.yaml"), After::Maintenance);
    let said = reset(&home, "--reboot").ends_with(0);
    assert!(said.stderr.contains("cp-1") && said.stderr.contains("in maintenance"), "{said:?}");
    assert_eq!(journal(&home), ["recorded", "resetting", "forgotten"]);
}

#[test]
fn silent_machine_is_not_forgotten() {
    let (home, listener) = recorded();
    let _machine = machine(listener, &home.read("secrets.yaml"), After::Silent);
    reset(&home, "").ends_with(0);
    assert_eq!(journal(&home), ["recorded", "resetting"]);
}

#[test]
fn machine_that_booted_with_its_configuration_was_not_reset() {
    let (home, listener) = recorded();
    let _machine = machine(listener, &home.read("secrets.yaml"), After::Back);
    let said = reset(&home, "--reboot").ends_with(1);
    assert!(said.stderr.contains("error[machine.not-reset]: "), "{said:?}");
    assert!(said.stderr.contains("hint: nothing was forgotten"), "{said:?}");
    assert_eq!(journal(&home), ["recorded", "resetting", "recorded"]);
    // Without its partition a machine keeps its configuration.
    let (home, listener) = recorded();
    let _machine = machine(listener, &home.read("secrets.yaml"), After::Back);
    reset(&home, "--reboot --system-labels-to-wipe EPHEMERAL").ends_with(0);
    assert_eq!(journal(&home), ["recorded"]);
}

#[test]
fn reset_that_did_not_happen_excuses_no_machine_in_maintenance() {
    let (home, listener) = recorded();
    let _machine = machine(listener, &home.read("secrets.yaml"), After::Refused);
    for (how, entries) in [
        ("--wait=false", &["recorded", "resetting", "recorded"][..]),
        ("", &["recorded", "resetting", "recorded", "resetting", "recorded"]),
    ] {
        let said = reset(&home, how).ends_with(1);
        assert!(said.stderr.contains("error[machine.not-found]"), "{said:?}");
        assert_eq!(journal(&home), entries, "{how}");
    }
}

#[test]
fn machine_that_is_busy_with_something_else_keeps_its_record() {
    let (home, listener) = recorded();
    let _machine = machine(listener, &home.read("secrets.yaml"), After::Locked);
    let said = reset(&home, "").ends_with(1);
    assert!(said.stderr.contains("did not start to reset: locked"), "{said:?}");
    assert_eq!(journal(&home), ["recorded", "resetting", "recorded"]);
}

#[test]
fn machine_of_another_cluster_is_not_in_the_journal() {
    let (home, listener) = recorded();
    let address = listener.local_addr().expect("an address").ip();
    home.run("gen secrets -o other/secrets.yaml").ends_with(0);
    home.run("gen talosconfig other --with-secrets other/secrets.yaml -o theirs").ends_with(0);
    // The journal has another installation at its address.
    record(&home, "ours");
    let theirs = machine(listener, &home.read("other/secrets.yaml"), After::Maintenance);
    let line = format!("node reset -n {address} -e {address} --talosconfig theirs --wait=false");
    home.run(&format!("{line} --yes {ANYWAY}")).ends_with(0);
    assert!(theirs.calls().iter().any(|call| call.path == RESET));
    assert_eq!(journal(&home), ["recorded", "recorded"]);
}

#[test]
fn host_name_with_a_domain_names_a_machine_of_the_journal() {
    let home = Home(tempfile::tempdir().expect("a directory"));
    let listener = loopback();
    let address = listener.local_addr().expect("an address").ip();
    home.write(
        "talconfig.yaml",
        &format!(
            "clusterName: home\ntalosVersion: v1.13.9\nkubernetesVersion: v1.35.0\nendpoint: \
             https://{address}:6443\nnodes:\n  - hostname: CP-1.example.com\n    ipAddress: {address}\n    \
             controlPlane: true\n    installDisk: /dev/sda\n"
        ),
    );
    home.run("gen secrets -o talsecret.yaml").ends_with(0);
    record(&home, "scripted");
    let _machine = machine(listener, &home.read("talsecret.yaml"), After::Maintenance);
    let line = format!("node reset -n CP-1.example.com --wait=false --yes {ANYWAY}");
    home.run(&line).ends_with(0);
    assert_eq!(journal(&home), ["recorded", "resetting"]);
}

/// A cluster of one machine, which is in the journal.
fn recorded() -> (Home, TcpListener) {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    record(&home, "scripted");
    (home, listener)
}

/// Records an installation of the machine, as an engine does.
fn record(home: &Home, node: &str) {
    let journal = FileJournal::new(
        &home.0.path().join(".ichor"),
        Arc::new(SystemClock),
        Arc::new(SystemEntropy),
    );
    let entry = Entry::MachineRecorded {
        machine: "cp-1".parse().expect("a name"),
        node: plan::NodeIdentity(node.to_owned()),
        member: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(journal.append(entry)).expect("an entry");
}

/// What becomes of a machine that is told to reset.
#[derive(Clone, Copy, Eq, PartialEq)]
enum After {
    /// It boots without its configuration.
    Maintenance,
    /// It answers no more: it is off, or the network is away.
    Silent,
    /// It boots with its configuration.
    Back,
    /// It takes the order, and says that it is busy.
    Locked,
    /// It does not do it.
    Refused,
}

fn machine(listener: TcpListener, secrets: &str, after: After) -> Machine {
    let was_told = Arc::new(AtomicBool::new(false));
    let (told, secrets) = (Arc::clone(&was_told), secrets.to_owned());
    let authority = move || {
        let is_reset = after == After::Maintenance && told.load(Ordering::Relaxed);
        if is_reset { stranger() } else { authority_of(&secrets) }
    };
    let answers = move |call: &Call| {
        let is_told = was_told.load(Ordering::Relaxed);
        if is_told && after == After::Silent {
            // The machine hangs until the test has ended.
            loop {
                thread::park();
            }
        }
        match call.path.as_str() {
            GET => resource(call, true).map(|reply| vec![reply]),
            VERSION => Some(vec![version()]),
            LIST => Some(Vec::new()),
            // The first event says that there are none from before.
            EVENTS if is_told && after == After::Locked => Some(vec![locked()]),
            EVENTS => Some(vec![Vec::new()]),
            READ => {
                let boot = if is_told && after != After::Locked { "second" } else { "first" };
                Some(vec![Data { bytes: boot.into(), ..Data::default() }.encode_to_vec()])
            }
            RESET if after != After::Refused => {
                was_told.store(true, Ordering::Relaxed);
                let told = Reset { metadata: None, actor_id: "somebody".to_owned() };
                Some(vec![ResetResponse { messages: vec![told] }.encode_to_vec()])
            }
            _ => None,
        }
    };
    Machine::start(listener, authority, answers)
}

/// The event of a machine that does not begin what it was told.
fn locked() -> Vec<u8> {
    let error = common::Error {
        code: common::Code::Locked.into(),
        message: "locked".to_owned(),
        ..common::Error::default()
    };
    let event = SequenceEvent { error: Some(error), ..SequenceEvent::default() };
    let data = prost_types::Any {
        type_url: "talos/runtime/machine.SequenceEvent".to_owned(),
        value: event.encode_to_vec(),
    };
    Event { data: Some(data), id: "1".to_owned(), ..Event::default() }.encode_to_vec()
}

fn reset(home: &Home, how: &str) -> Said {
    home.run(&format!("node reset -n cp-1 --yes {how} {ANYWAY}"))
}

/// What the journal says of machines.
fn journal(home: &Home) -> Vec<&'static str> {
    let entries = home.entries().into_iter().map(|entry| match entry {
        Entry::MachineRecorded { .. } => "recorded",
        Entry::MachineResetting { .. } => "resetting",
        Entry::MachineForgotten { .. } => "forgotten",
        other => panic!("{other:?}"),
    });
    entries.collect()
}

/// The only voter of etcd is reset.
const ANYWAY: &str = "--override quorum.tolerance --reason test";
const EVENTS: &str = "/machine.MachineService/Events";
