//! `ichor node apply-config` and `edit`, whose credentials and configurations have to be those of the machine, and
//! `node reset`, after which the journal has no machine any more.

use std::net::{IpAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use engine::journal::{Entry, FileJournal, Journal as _};
use engine::live::{SystemClock, SystemEntropy};
use prost::Message;
use talos_api::proto::cosi::{GetRequest, GetResponse, Metadata, Resource, Spec};
use talos_api::proto::definitions::config::MachineConfigSpec;
use talos_api::proto::machine::apply_configuration_request::Mode;
use talos_api::proto::machine::{
    ApplyConfiguration, ApplyConfigurationRequest, ApplyConfigurationResponse, Version,
    VersionInfo, VersionResponse,
};
use talos_api::resource::Spec as _;

use crate::api::{Call, Machine};
use crate::talos::{APPLY_CONFIGURATION, RESET, Script, Talos, authority_of, loopback};
use crate::{Home, Said};

#[test]
fn an_edited_configuration_is_shown_confirmed_and_sent() {
    let (home, machine) = configured();
    let said = edit(&home, "sed -i s/first/second/", "--yes").ends_with(0);
    assert!(said.stdout.contains("first") && said.stdout.contains("second"), "{said:?}");
    assert!(!said.stdout.contains("hunter2"), "{said:?}");
    let sent = applied(&machine);
    assert_eq!(sent.len(), 1, "{said:?}");
    assert!(sent[0].contains("hostname: second") && !sent[0].contains("# Configuration of"));
    let audited = home.read("state/ichor/audit.jsonl");
    assert!(audited.contains("\"edit\"") && !audited.contains("hunter2"), "{audited}");
    // Nothing of it stays behind.
    assert_eq!(fs_err::read_dir(home.0.path().join("tmp")).expect("a folder").count(), 0);
}

#[test]
fn an_edit_without_effect_or_consent_is_not_sent() {
    let (home, machine) = configured();
    for (editor, how, code, expected) in [
        ("true", "--yes", 0, "nothing to change"),
        ("truncate -s 0", "--yes", 0, "nothing to change"),
        ("false", "--yes", 3, "the editor false failed"),
        ("sed -i s/controlplane/wrong/", "--yes", 3, "wrong"),
        ("sed -i s/first/second/", "", 3, "confirmation is required"),
        ("sed -i s/first/second/", "--dry-run", 2, "would be applied without a reboot"),
    ] {
        let said = edit(&home, editor, how).ends_with(code);
        assert!(said.stderr.contains(expected), "{editor}: {said:?}");
        assert!(!said.stderr.contains("hunter2"), "{said:?}");
        assert!(applied(&machine).is_empty(), "{editor}: {said:?}");
    }
}

#[test]
fn the_edited_file_is_its_owners_alone() {
    let (home, _machine) = configured();
    let script = home.0.path().join("editor");
    home.write("editor", "#!/bin/sh\nstat -c '%a' \"$(dirname \"$1\")\" > modes\n");
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).expect("a program");
    edit(&home, &script.display().to_string(), "--yes").ends_with(0);
    assert_eq!(home.read("modes"), "700\n");
}

#[test]
fn without_a_file_a_machine_gets_the_configuration_of_the_directory() {
    let (first, second) = (loopback(), loopback());
    let home = Home::new(&[&first, &second]);
    let secrets = home.read("secrets.yaml");
    let worker_address = address(&second);
    let control_plane = Talos::start(first, &secrets, Script::Takes);
    let worker = Talos::start(second, &secrets, Script::Takes);
    // Both are in maintenance, and no one is there to compare fingerprints.
    let said = home.run("node apply-config -n w-1").ends_with(3);
    let stranger = format!("w-1 ({worker_address}) in maintenance, whose key has the fingerprint ");
    assert!(said.stderr.contains(&stranger), "{said:?}");
    assert!(said.stderr.contains("error[confirm.unasked]"), "{said:?}");
    assert_eq!(worker.count(APPLY_CONFIGURATION), 0);

    home.run("node apply-config -n w-1 --yes").ends_with(0);
    assert_eq!(
        (control_plane.count(APPLY_CONFIGURATION), worker.count(APPLY_CONFIGURATION)),
        (0, 1)
    );
    let sent = worker.applied();
    assert!(sent.contains("type: worker") && sent.contains("w-1"), "{sent}");

    let said = home.run("node apply-config -n 127.0.0.1 --yes").ends_with(3);
    assert!(
        said.stderr.contains("127.0.0.1 is not a machine of the cluster's directory"),
        "{said:?}"
    );
}

#[test]
fn a_machine_with_another_key_than_the_pinned_one_is_not_configured_directly() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Takes);
    let pinned = "{name: cp-1, fingerprints: [\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"], ";
    home.write("ichor.yaml", &home.read("ichor.yaml").replace("{name: cp-1, ", pinned));
    let said = home.run("node apply-config -n cp-1 --yes").ends_with(1);
    assert!(said.stderr.contains("error[machine.untrusted]"), "{said:?}");
    assert!(said.stderr.contains("its key has another fingerprint"), "{said:?}");
    assert!(!said.stderr.contains("--insecure"), "{said:?}");
    assert_eq!(machine.count(APPLY_CONFIGURATION), 0);
}

#[test]
fn a_configuration_of_another_machine_is_refused() {
    let (first, second) = (loopback(), loopback());
    let home = Home::new(&[&first, &second]);
    let secrets = home.read("secrets.yaml");
    let _control_plane = Talos::start(first, &secrets, Script::Takes);
    let worker = Talos::start(second, &secrets, Script::Takes);
    home.run("gen config home https://10.0.0.10:6443 --with-secrets secrets.yaml -o made")
        .ends_with(0);
    let other = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: cp-1\nauto: off\n";
    home.write("other.yaml", other);
    let made = "-n w-1 --insecure --yes -f made";
    for (line, why) in [
        (format!("{made}/controlplane.yaml"), "it makes the machine a control plane"),
        (format!("{made}/worker.yaml -p @other.yaml"), "its hostname is cp-1"),
    ] {
        let said = home.run(&format!("node apply-config {line}")).ends_with(4);
        assert!(said.stderr.contains("error[config.machine]: w-1 ("), "{said:?}");
        assert!(said.stderr.contains(why), "{said:?}");
    }
    assert_eq!(worker.count(APPLY_CONFIGURATION), 0);
    let line = format!("{made}/worker.yaml -p @other.yaml --override config.machine --reason test");
    let said = home.run(&format!("node apply-config {line}")).ends_with(0);
    assert!(said.stderr.contains("overridden: "), "{said:?}");
    home.run(&format!("node apply-config {made}/worker.yaml")).ends_with(0);
    assert_eq!(worker.count(APPLY_CONFIGURATION), 2);
}

#[test]
fn names_of_a_directory_are_not_called_with_the_credentials_of_another_cluster() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let own = address(&listener);
    home.run("gen secrets -o other/secrets.yaml").ends_with(0);
    for (name, secrets) in [("theirs", "other/secrets.yaml"), ("ours", "secrets.yaml")] {
        home.run(&format!("gen talosconfig home --with-secrets {secrets} -o {name}")).ends_with(0);
    }
    let _machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Member);
    for line in ["services", "node reboot --yes --wait=false", "node reset --yes --wait=false"] {
        let line = format!("{line} -e {own} --talosconfig theirs");
        let said = home.run(&format!("{line} -n cp-1")).ends_with(3);
        assert!(said.stderr.contains("error[talosconfig.foreign]"), "{said:?}");
        // An address says nothing about the directory.
        let said = home.run(&format!("{line} -n {own}"));
        assert!(!said.stderr.contains("talosconfig.foreign"), "{said:?}");
    }
    let said =
        home.command("services -n cp-1").env("TALOSCONFIG", "theirs").output().expect("ichor");
    assert_eq!(said.status.code(), Some(3));
    let said = home.run(&format!("services -n cp-1 -e {own} --talosconfig ours"));
    assert!(!said.stderr.contains("talosconfig"), "{said:?}");
}

#[test]
fn a_talosconfig_for_another_name_is_not_signed_with_the_secrets_of_the_directory() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let said = home.run("gen talosconfig other -o made").ends_with(3);
    assert!(
        said.stderr.contains("this is the directory of the cluster \"home\", not of \"other\""),
        "{said:?}"
    );
    assert!(!home.0.path().join("made").exists());
    home.run("gen talosconfig home -o made").ends_with(0);
    home.run("gen talosconfig other --with-secrets secrets.yaml -o other").ends_with(0);
}

#[test]
fn the_journal_forgets_a_machine_that_was_reset() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Member);
    record(&home);
    let reset = |how: &str| home.run(&format!("node reset -n cp-1 --yes --wait=false {how}"));
    let quorum = "--override quorum.tolerance --reason test";
    // A machine that keeps its configuration stays ours, and a member that did not leave stays in etcd.
    let begins = |entry: &Entry| matches!(entry, Entry::MachineResetting { .. });
    for how in ["--system-labels-to-wipe EPHEMERAL", "--graceful=false"] {
        reset(&format!("{how} {quorum}"));
        assert!(!home.entries().iter().any(begins), "{how}");
        machine.boot();
    }
    let sent = || machine.paths().iter().filter(|path| *path == RESET).count();
    let before = sent();
    reset(quorum).ends_with(0);
    assert_eq!(sent(), before + 1);
    assert!(home.entries().last().is_some_and(begins), "{:?}", home.entries());
    // It is in maintenance, and no override is needed to take it over again.
    let said = home.run("plan");
    assert!(!said.stderr.contains("identity.maintenance"), "{said:?}");
    assert!(!said.stdout.contains("identity.maintenance"), "{said:?}");
}

#[test]
fn an_unreachable_machine_is_reported_once_by_certs() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    drop(listener);
    let said = home.run("certs -n cp-1 --deadline 2s");
    assert_eq!(said.stderr.matches("error[machine.unreachable]").count(), 1, "{said:?}");
}

#[test]
fn names_of_machines_are_completed() {
    let (first, second) = (loopback(), loopback());
    let home = Home::new(&[&first, &second]);
    let complete = |words: &[&str]| {
        let mut command = home.command("completions fish --");
        let said = command.args(words).output().expect("ichor");
        assert!(said.status.success() && said.stderr.is_empty(), "{said:?}");
        String::from_utf8(said.stdout).expect("text")
    };
    let expected = format!("w-1\tworker {}\n", address(&second));
    assert_eq!(complete(&["ichor", "services", "-n", "w"]), expected);
    assert_eq!(complete(&["ichor", "services", "--talosconfig", ""]), ":files\n");
    assert_eq!(complete(&["ichor", "verslunken"]), "");
    // What bash splits at `=` is one word.
    let mut command = home.command("completions bash --");
    let said = command.args(["ichor", "apply", "--override", "identity.node", "=", "w"]).output();
    assert!(said.expect("ichor").stdout.starts_with(b"w-1\t"));
}

/// Records the machine as an installation with a member of etcd, as an engine does.
fn record(home: &Home) {
    let journal = FileJournal::new(
        &home.0.path().join(".ichor"),
        Arc::new(SystemClock),
        Arc::new(SystemEntropy),
    );
    let entry = Entry::MachineRecorded {
        machine: "cp-1".parse().expect("a name"),
        node: plan::NodeIdentity("scripted".to_owned()),
        member: None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(journal.append(entry)).expect("an entry");
}

/// A machine of a cluster of one, with a configuration.
fn configured() -> (Home, Machine) {
    let listener: TcpListener = loopback();
    let home = Home::new(&[&listener]);
    home.run("gen config home https://10.0.0.10:6443 --with-secrets secrets.yaml -o made")
        .ends_with(0);
    let patch = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: first\nauto: off\n";
    home.write("patch.yaml", patch);
    home.run("patch made/controlplane.yaml -p @patch.yaml -o config.yaml").ends_with(0);
    let config = home.read("config.yaml");
    let secrets = home.read("secrets.yaml");
    let answers = move |call: &Call| answer(call, &config);
    fs_err::create_dir(home.0.path().join("tmp")).expect("a folder");
    (home, Machine::start(listener, move || authority_of(&secrets), answers))
}

fn answer(call: &Call, config: &str) -> Option<Vec<Vec<u8>>> {
    let message = match call.path.as_str() {
        "/machine.MachineService/Version" => {
            let info = VersionInfo { tag: "v1.14.1".to_owned(), ..VersionInfo::default() };
            let version = Version { version: Some(info), ..Version::default() };
            VersionResponse { messages: vec![version] }.encode_to_vec()
        }
        "/cosi.resource.State/Get" => {
            let asked = GetRequest::decode(call.message.as_slice()).ok()?;
            if asked.r#type != MachineConfigSpec::TYPE {
                return None;
            }
            let spec = MachineConfigSpec { yaml_marshalled: config.as_bytes().to_vec() };
            let metadata = Metadata {
                namespace: asked.namespace,
                r#type: asked.r#type,
                id: asked.id,
                version: "1".to_owned(),
                phase: "running".to_owned(),
                ..Metadata::default()
            };
            let spec = Spec { proto_spec: spec.encode_to_vec(), ..Spec::default() };
            let resource = Resource { metadata: Some(metadata), spec: Some(spec) };
            GetResponse { resource: Some(resource) }.encode_to_vec()
        }
        APPLY_CONFIGURATION => {
            let applied = ApplyConfiguration { mode: Mode::NoReboot.into(), ..Default::default() };
            ApplyConfigurationResponse { messages: vec![applied] }.encode_to_vec()
        }
        _ => return None,
    };
    Some(vec![message])
}

fn edit(home: &Home, editor: &str, how: &str) -> Said {
    let mut command = home.command(&format!("node edit -n cp-1 {how}"));
    command.env("EDITOR", editor).env("TMPDIR", home.0.path().join("tmp"));
    command.env("XDG_STATE_HOME", home.0.path().join("state"));
    let output = command.env("PATH", "/usr/bin:/bin").output().expect("ichor");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        code: output.status.code().expect("no signal"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// The configurations that a machine was really given.
fn applied(machine: &Machine) -> Vec<String> {
    let calls = machine.calls();
    let applied = calls.iter().filter(|call| call.path == APPLY_CONFIGURATION);
    let requests = applied
        .map(|call| ApplyConfigurationRequest::decode(call.message.as_slice()).expect("a request"));
    let texts = requests.filter(|request| !request.dry_run);
    texts.map(|request| String::from_utf8(request.data).expect("text")).collect()
}

fn address(listener: &TcpListener) -> IpAddr {
    listener.local_addr().expect("an address").ip()
}
