//! `ichor node apply-config` and `edit`, whose credentials and configurations have to be those of the machine, and
//! `node reset`, after which the journal has no machine any more.

use std::net::{IpAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
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
use crate::fingerprints::{fingerprint, pin};
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
    let said = home.run("node apply-config -n w-1").ends_with(4);
    let stranger = format!("w-1 ({worker_address}) in maintenance, whose key has the fingerprint ");
    assert!(said.stderr.contains(&stranger), "{said:?}");
    assert!(said.stderr.contains("error[machine.stranger]"), "{said:?}");
    assert_eq!(worker.count(APPLY_CONFIGURATION), 0);

    home.run("node apply-config -n w-1 --insecure --yes").ends_with(0);
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
fn a_machine_whose_key_no_one_has_named_is_sent_nothing() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Takes);
    home.run("gen config home https://10.0.0.10:6443 --with-secrets secrets.yaml -o made")
        .ends_with(0);
    for file in ["", "-f made/controlplane.yaml"] {
        let said = home.run(&format!("node apply-config -n cp-1 --dry-run {file}")).ends_with(2);
        assert!(said.stderr.contains("the machine was not asked"), "{said:?}");
        assert!(said.stdout.contains("machine.token"), "{said:?}");
        let said = home.run(&format!("node apply-config -n cp-1 --yes {file}")).ends_with(4);
        assert!(said.stderr.contains("error[machine.stranger]"), "{said:?}");
        let hint = format!("--insecure --cert-fingerprint {}", fingerprint());
        assert!(said.stderr.contains(&hint), "{said:?}");
    }
    assert_eq!(machine.count(APPLY_CONFIGURATION), 0);
    // A key that the spec names, or the command, is known.
    let named =
        format!("node apply-config -n cp-1 --insecure --cert-fingerprint {}", fingerprint());
    home.run(&named).ends_with(0);
    home.write("ichor.yaml", &pin(&home.read("ichor.yaml"), "cp-1", &fingerprint()));
    home.run("node apply-config -n cp-1 --yes").ends_with(0);
    home.run("node apply-config -n cp-1 --yes -f made/controlplane.yaml").ends_with(0);
    assert_eq!(machine.count(APPLY_CONFIGURATION), 3);
}

#[test]
fn a_machine_that_is_only_unreachable_is_not_taken_for_a_new_one() {
    let (first, second) = (loopback(), loopback());
    let home = Home::new(&[&first, &second]);
    drop(first);
    let worker = Talos::start(second, &home.read("secrets.yaml"), Script::Takes);
    home.run("node apply-config -n w-1 --dry-run --deadline 1s").ends_with(5);
    assert!(worker.paths().is_empty());
    // With a key that the spec names it is the machine, whoever says so.
    home.write("ichor.yaml", &pin(&home.read("ichor.yaml"), "w-1", &fingerprint()));
    home.run("node apply-config -n w-1 --yes --deadline 1s").ends_with(0);
    assert_eq!(worker.count(APPLY_CONFIGURATION), 1);
}

#[test]
fn a_recorded_machine_in_maintenance_gets_no_configuration_without_an_override() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Takes);
    record(&home);
    let line = "node apply-config -n cp-1 --insecure --yes";
    for how in ["", "--dry-run", "--override identity.maintenance=w-1 --reason test"] {
        let said = home.run(&format!("{line} {how}")).ends_with(4);
        assert!(said.stderr.contains("error[identity.maintenance]: cp-1 ("), "{said:?}");
        assert!(said.stderr.contains("--override identity.maintenance=cp-1"), "{said:?}");
    }
    for (rule, why) in [
        ("identity.maintenance", "it needs the machine"),
        ("config.machine=cp-1", "it takes no machine"),
    ] {
        let said = home.run(&format!("{line} --override {rule} --reason test")).ends_with(3);
        assert!(said.stderr.contains(why), "{said:?}");
    }
    assert_eq!(machine.count(APPLY_CONFIGURATION), 0);
    let rule = "--override identity.maintenance=cp-1";
    let mut command = home.command(&format!("{line} {rule} --reason replaced"));
    command.env("XDG_STATE_HOME", home.0.path().join("state"));
    let said = command.output().expect("ichor");
    assert!(said.status.success(), "{said:?}");
    assert!(String::from_utf8_lossy(&said.stderr).contains("overridden: cp-1 ("), "{said:?}");
    assert_eq!(machine.count(APPLY_CONFIGURATION), 1);
    let audited = home.read("state/ichor/audit.jsonl");
    assert!(audited.contains("identity.maintenance=cp-1: replaced"), "{audited}");
}

#[test]
fn a_machine_gets_the_configuration_for_the_release_that_it_runs() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Takes);
    home.write("ichor.yaml", &home.read("ichor.yaml").replace("talos: v1.13.9", "talos: v1.14.1"));
    let line = "node apply-config -n cp-1 --insecure --yes";
    home.run(line).ends_with(0);
    let sent = machine.applied();
    assert!(!sent.contains("kind: KubeletConfig"), "{sent}");

    home.write(
        "later.yaml",
        "apiVersion: v1alpha1\nkind: EtcFileConfig\nname: motd\ncontents: hi\n",
    );
    let spec = home.read("ichor.yaml");
    home.write("ichor.yaml", &format!("{spec}\npatches: [later.yaml]\n"));
    let said = home.run(line).ends_with(4);
    assert!(said.stderr.contains("error[config.release]: cp-1 ("), "{said:?}");
    assert_eq!(machine.count(APPLY_CONFIGURATION), 1);
}

#[test]
fn a_machine_is_found_whose_host_name_is_no_name_of_a_machine() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let address = address(&listener);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Takes);
    home.write("there/talsecret.yaml", &home.read("secrets.yaml"));
    home.write(
        "there/talconfig.yaml",
        &format!(
            "clusterName: home\ntalosVersion: v1.13.9\nkubernetesVersion: v1.36.3\n\
             endpoint: https://{address}:6443\nnodes:\n  - hostname: cp-1.example.com\n    \
             ipAddress: {address}\n    controlPlane: true\n    installDisk: /dev/sda\n"
        ),
    );
    let mut command = home.command(&format!("node apply-config -n {address} --insecure --yes"));
    let output = command.current_dir(home.0.path().join("there")).output().expect("ichor");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(machine.count(APPLY_CONFIGURATION), 1);
}

#[test]
fn what_others_changed_meanwhile_is_not_undone() {
    let (home, machine) = configured();
    let editor = "sed -i s/first/third/ config.yaml; sed -i s/first/second/";
    let said = edit(&home, editor, "--yes").ends_with(4);
    assert!(said.stderr.contains("error[config.changed]: cp-1 ("), "{said:?}");
    assert!(kept(&said).1.contains("hostname: second"), "{said:?}");

    // While a patch is shown and confirmed.
    home.write("later.yaml", &home.read("config.yaml").replace("third", "fourth"));
    home.write("patch.yaml", "machine:\n  nodeLabels: {a: b}\n");
    let line = "node patch -n cp-1 -p @patch.yaml --yes";
    let mut command = home.command(line);
    command.env("XDG_STATE_HOME", home.0.path().join("state"));
    let output = command.output().expect("ichor");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("error[config.changed]: cp-1 ("), "{stderr}");
    assert!(home.read("config.yaml").contains("fourth"));
    assert!(applied(&machine).is_empty());
}

#[test]
fn a_draft_that_could_not_be_applied_is_kept_for_its_owner() {
    let (home, _machine) = configured();
    for (editor, how, written) in [
        ("sed -i s/controlplane/wrong/", "--yes", "type: wrong"),
        ("sed -i s/first/second/", "", "hostname: second"),
    ] {
        let said = edit(&home, editor, how).ends_with(3);
        let (path, text) = kept(&said);
        assert!(text.contains(written), "{text}");
        let mode =
            |path: &Path| fs_err::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    }
}

#[test]
fn an_edit_leaves_nothing_when_the_terminal_goes_away() {
    let (home, machine) = configured();
    let said = edit(&home, "kill -HUP $PPID; sed -i s/first/second/", "--yes").ends_with(130);
    assert!(applied(&machine).is_empty(), "{said:?}");
    let left =
        |folder: &str| fs_err::read_dir(home.0.path().join(folder)).expect("a folder").count();
    assert_eq!(left("tmp"), 0, "{said:?}");

    // Files of the session are on no disk.
    fs_err::create_dir(home.0.path().join("session")).expect("a folder");
    let mut command = editing(&home, "echo > seen", "--yes");
    let script = home.0.path().join("editor");
    home.write("editor", "#!/bin/sh\ndirname \"$1\" > seen\n");
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).expect("a program");
    command.env("EDITOR", &script).env("XDG_RUNTIME_DIR", home.0.path().join("session"));
    assert!(command.output().expect("ichor").status.success());
    assert!(home.read("seen").contains("/session/ichor-edit-"));
    assert_eq!(left("session"), 0);
}

#[test]
fn a_machine_with_another_key_than_the_pinned_one_is_not_configured_directly() {
    let listener = loopback();
    let home = Home::new(&[&listener]);
    let machine = Talos::start(listener, &home.read("secrets.yaml"), Script::Takes);
    let pinned = "{name: cp-1, fingerprints: [\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"], ";
    home.write("ichor.yaml", &home.read("ichor.yaml").replace("{name: cp-1, ", pinned));
    home.run("gen config home https://10.0.0.10:6443 --with-secrets secrets.yaml -o made")
        .ends_with(0);
    for how in ["", "-f made/controlplane.yaml", "--insecure", "--dry-run"] {
        let said = home.run(&format!("node apply-config -n cp-1 --yes {how}")).ends_with(1);
        assert!(said.stderr.contains("error[machine.untrusted]"), "{said:?}");
        assert!(said.stderr.contains("its key has another fingerprint"), "{said:?}");
        assert!(!said.stderr.contains("--insecure"), "{said:?}");
    }
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
    let folder = home.0.path().to_owned();
    let secrets = home.read("secrets.yaml");
    // Once the first one is read, another may take its place.
    let answers = move |call: &Call| {
        let config = fs_err::read_to_string(folder.join("config.yaml")).expect("a file");
        if is_of_persistent(call) {
            let _ = fs_err::rename(folder.join("later.yaml"), folder.join("config.yaml"));
        }
        answer(call, &config)
    };
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

/// Whether a call asks for the configuration that a machine boots with, the last one that is looked at.
fn is_of_persistent(call: &Call) -> bool {
    call.path == "/cosi.resource.State/Get"
        && GetRequest::decode(call.message.as_slice()).is_ok_and(|asked| asked.id == "persistent")
}

/// The draft that was kept, and what is in it.
#[track_caller]
fn kept(said: &Said) -> (PathBuf, String) {
    let path = said.stderr.lines().find_map(|line| line.split_once(" is kept in "));
    let path = PathBuf::from(path.unwrap_or_else(|| panic!("{said:?}")).1);
    let text = fs_err::read_to_string(&path).expect("a file");
    (path, text)
}

fn editing(home: &Home, editor: &str, how: &str) -> Command {
    let mut command = home.command(&format!("node edit -n cp-1 {how}"));
    command.env("EDITOR", editor).env("TMPDIR", home.0.path().join("tmp"));
    command.env("XDG_STATE_HOME", home.0.path().join("state")).env("PATH", "/usr/bin:/bin");
    command
}

fn edit(home: &Home, editor: &str, how: &str) -> Said {
    let output = editing(home, editor, how).output().expect("ichor");
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
