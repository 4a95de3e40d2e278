//! A cluster's directory that cannot be meant, or cannot be opened, is refused before anything is touched.

use std::path::Path;
use std::process::{Command, Stdio};

use engine::journal::{Entry, Record};
use plan::{Body, Digest, Draft, Goal, Plan, Timestamp};
use sha2::{Digest as _, Sha256};

#[test]
fn what_a_spec_cannot_mean() {
    for (edit, status, code) in [
        (("endpoint", "endpiont"), 3, "spec.unknown-key"),
        (("127.9.0.2}", "127.9.0.1}"), 3, "spec.duplicate-address"),
        (
            ("kubernetes:", "network: {pods: [10.96.0.0/13]}\nkubernetes:"),
            3,
            "spec.overlapping-networks",
        ),
        (("name: w-1", "name: cp-1"), 3, "spec.duplicate-name"),
        (
            ("controlPlane:\n  machines:\n    - {name: cp-1, address: 127.9.0.1}\n", ""),
            3,
            "spec.missing-key",
        ),
        (("v1.36.3", "v1.20.0"), 3, "spec.version"),
        (("patches/all.yaml", "patches/none.yaml"), 3, "layer.no-file"),
        (("patches/all.yaml", "../all.yaml"), 3, "spec.value"),
    ] {
        let home = Home::new();
        let text = home.read("ichor.yaml");
        assert!(text.contains(edit.0), "{text}");
        home.write("ichor.yaml", &text.replace(edit.0, edit.1));
        for arguments in [
            &["plan"][..],
            &["apply", "--yes"],
            &["destroy", "--yes", "--reason", "over"],
            &["diff"],
        ] {
            home.refuses(arguments, status, code);
        }
    }
}

#[test]
fn plans_that_are_not_for_this_cluster() {
    let home = Home::new();
    let plan = plan_for("elsewhere");
    home.write("other.plan", &plan.encode());
    home.refuses(&["apply", "--yes", "other.plan"], 4, "identity.cluster");
    home.write("edited.plan", &plan.encode().replace("elsewhere", "home"));
    home.refuses(&["apply", "--yes", "edited.plan"], 3, "plan.edited");
    home.write("none.plan", "{}");
    home.refuses(&["show", "none.plan"], 3, "plan.syntax");
}

#[test]
fn plan_files_of_another_format_or_cut_in_half_are_refused_with_their_place() {
    let home = Home::new();
    let text = plan_for("home").encode();
    assert!(text.contains("ichor-plan/v2"), "{text}");
    for (name, text, code, said, hint) in [
        (
            "older.plan",
            text.replace("ichor-plan/v2", "ichor-plan/v1"),
            "plan.format",
            "the plan has the format \"ichor-plan/v1\", and this release reads \"ichor-plan/v2\"",
            "use the release of Ichor that wrote it, or make a new plan",
        ),
        (
            "newer.plan",
            text.replace("ichor-plan/v2", "ichor-plan/v3"),
            "plan.format",
            "the plan has the format \"ichor-plan/v3\", and this release reads \"ichor-plan/v2\"",
            "use the release of Ichor that wrote it, or make a new plan",
        ),
        (
            "half.plan",
            text[..text.len() / 2].to_owned(),
            "plan.syntax",
            "cannot read the plan: EOF while parsing",
            "make a new plan with `ichor plan`",
        ),
    ] {
        home.write(name, &text);
        for arguments in
            [&["show", name][..], &["approve", name], &["apply", "--yes", name], &["resume", name]]
        {
            home.refuses(arguments, 3, code);
            let (_, _, stderr) = home.ichor(arguments);
            assert!(stderr.contains(&format!("{name}: {said}")), "{arguments:?}: {stderr}");
            assert!(stderr.contains(&format!("hint: {hint}")), "{arguments:?}: {stderr}");
            assert!(!home.0.path().join(".ichor").exists(), "{arguments:?} touched something");
        }
    }
    // Of a text that ends too early the place is told as well.
    assert!(home.ichor(&["show", "half.plan"]).2.contains(" at line "));
}

#[test]
fn journals_of_another_format_or_edited_are_refused_with_their_place_and_left_alone() {
    let plan = Digest::of("plan");
    let (goal, holder) = (Goal::Spec, "tester".to_owned());
    let started = Entry::PlanStarted { plan, goal, holder, fencing: None };
    let entries = [started, Entry::PlanEnded { plan, complete: false }];
    let records = (1..).zip(entries).map(|(number, entry)| {
        let record = Record { number, at: Timestamp(1_700_000_000), entry };
        line(&serde_json::to_string(&record).expect("JSON"))
    });
    let records: String = records.collect();
    let lost = ["bootstrap.again", "identity.node", "identity.maintenance", "create.configured"];
    let release = ["use the release of Ichor that wrote it"];
    for (text, code, said, hints) in [
        (
            line("ichor-journal/v1") + &records,
            "journal.format",
            "PATH: the journal has the format \"ichor-journal/v1\", and this release reads",
            &release[..],
        ),
        (
            line("ichor-journal/v3") + &records,
            "journal.format",
            "PATH: the journal has the format \"ichor-journal/v3\", and this release reads",
            &release[..],
        ),
        (
            line("ichor-journal/v2") + &records.replacen("tester", "nobody", 1),
            "journal.damaged",
            "the journal is damaged: line 2 of PATH",
            &lost[..],
        ),
    ] {
        let home = Home::new();
        fs_err::create_dir(home.0.path().join(".ichor")).expect("a directory");
        home.write(".ichor/journal", &text);
        let root = fs_err::canonicalize(home.0.path()).expect("a path");
        let said = said.replace("PATH", &root.join(".ichor/journal").display().to_string());
        for arguments in [
            &["plan"][..],
            &["apply", "--yes"],
            &["resume", "--yes"],
            &["destroy", "--yes", "--reason", "over"],
            &["cancel"],
            &["status"],
            &["history"],
            &["history", "--verify"],
        ] {
            let (status, _, stderr) = home.ichor(arguments);
            assert_eq!(status, 1, "{arguments:?}: {stderr}");
            assert!(stderr.contains(&format!("error[{code}]: {said}")), "{arguments:?}: {stderr}");
            for hint in hints {
                let told =
                    stderr.split_once("hint: ").is_some_and(|(_, told)| told.contains(*hint));
                assert!(told, "{arguments:?}, {hint}: {stderr}");
            }
            assert_eq!(home.read(".ichor/journal"), text, "{arguments:?}");
            for file in [".ichor/plans", ".ichor/audit.jsonl"] {
                assert!(!home.0.path().join(file).exists(), "{arguments:?} made {file}");
            }
        }
    }
}

#[test]
fn provider_that_does_not_exist_is_refused_before_anything_is_asked() {
    let home = Home::new();
    let spec = home.read("ichor.yaml");
    let classes = spec
        .replace("address: 127.9.0.1}", "class: small}")
        .replace("address: 127.9.0.2}", "class: large}")
        .replace("cluster: home\n", "cluster: home\nprovider: cloud\n");
    assert!(classes.contains("provider: cloud") && !classes.contains("address:"), "{classes}");
    home.write("ichor.yaml", &classes);
    for arguments in
        [&["plan"][..], &["apply", "--yes"], &["destroy", "--yes", "--reason", "over"], &["status"]]
    {
        home.refuses(arguments, 3, "provider.unknown");
        let (_, _, stderr) = home.ichor(arguments);
        assert!(stderr.contains("there is no provider cloud, only metal"), "{stderr}");
        let hint = "hint: set `provider: metal` and an address for each machine in ichor.yaml, then `ichor plan`";
        assert!(stderr.contains(hint), "{stderr}");
    }
}

#[test]
fn secrets_that_are_not_there_or_cannot_be_opened() {
    let home = Home::new();
    let secrets = home.read("secrets.yaml");
    home.write(
        ".sops.yaml",
        "creation_rules: [{age: RECIPIENT}]\n".replace("RECIPIENT", RECIPIENT).as_str(),
    );
    assert!(home.ichor(&["gen", "secrets", "-f", "-o", "secrets.sops.yaml"]).0 == 0);
    // Which of two sets the machines have is not known.
    for arguments in [&["apply", "--yes"][..], &["validate"], &["services", "-n", "cp-1"]] {
        home.refuses(arguments, 3, "secrets.ambiguous");
    }
    fs_err::remove_file(home.0.path().join("secrets.yaml")).expect("removed");
    home.refuses(&["apply", "--yes"], 3, "sops.no-key");
    fs_err::remove_file(home.0.path().join("secrets.sops.yaml")).expect("removed");
    for arguments in
        [&["apply", "--yes"][..], &["gen", "talosconfig"], &["logs", "-n", "cp-1", "a"]]
    {
        home.refuses(arguments, 3, "secrets.missing");
        assert!(home.ichor(arguments).2.contains("hint: restore it from your backup"));
    }
    home.write("secrets.yaml", &secrets.replace("secret:", "sercet:"));
    home.refuses(&["apply", "--yes"], 3, "vault.unreadable");
}

#[test]
fn nobody_who_answers_is_a_status_of_its_own() {
    let home = Home::new();
    for arguments in
        [&["plan"][..], &["apply", "--yes"], &["diff"], &["destroy", "--yes", "--reason", "over"]]
    {
        let (status, _, stderr) = home.ichor(arguments);
        assert!(status == 5 && stderr.contains("cp-1"), "{arguments:?}: {status} {stderr}");
    }
    assert_eq!(home.ichor(&["health"]).0, 5);
    let (status, _, stderr) = home.ichor(&["diff", "-n", "cp-7"]);
    assert!(status == 3 && stderr.contains("it has cp-1, w-1"), "{stderr}");
}

#[test]
fn directory_gives_credentials_endpoints_and_nodes() {
    let home = Home::new();
    // Nothing listens there: that it is called shows credentials, endpoints and nodes.
    for arguments in [
        &["services", "-n", "cp-1"][..],
        &["services"],
        &["etcd", "members"],
        &["version", "-n", "w-1"],
        &["node", "reboot", "-n", "w-1", "--yes"],
    ] {
        let (status, _, stderr) = home.ichor(arguments);
        assert!(stderr.contains("machine.unreachable"), "{arguments:?}: {status} {stderr}");
    }
    let (status, talosconfig, stderr) = home.ichor(&["gen", "talosconfig"]);
    assert_eq!(status, 0, "{stderr}");
    assert!(talosconfig.starts_with("context: home\n"), "wrong context");
    assert!(talosconfig.contains("endpoints:\n            - 127.9.0.1\n"), "wrong endpoints");
}

#[test]
fn existing_secrets_are_encrypted_and_stay_the_same() {
    let home = Home::new();
    let encrypt = ["gen", "secrets", "--from", "secrets.yaml", "-o", "secrets.sops.yaml"];
    let (status, _, stderr) = home.ichor(&encrypt);
    assert_eq!(status, 3, "{stderr}");
    assert!(stderr.contains("no .sops.yaml") && stderr.contains("SOPS_AGE_RECIPIENTS"), "{stderr}");
    let copy = home.ichor(&["gen", "secrets", "--from", "secrets.yaml", "-o", "-"]);
    assert!(copy.0 == 0 && copy.1 == home.read("secrets.yaml"), "the secrets differ");
    home.write(".sops.yaml", &format!("creation_rules: [{{age: {RECIPIENT}}}]\n"));
    assert_eq!(home.ichor(&encrypt).0, 0);
    assert!(home.read("secrets.sops.yaml").contains("ENC[AES256_GCM,"), "not encrypted");
}

#[test]
fn init_encrypts_by_rule_adds_to_gitignore_and_refuses_a_cluster() {
    let home = Home::new();
    let init = "init other --endpoint https://127.9.0.1:6443 --control-plane cp-1=127.9.0.1";
    let init: Vec<&str> = init.split_whitespace().collect();
    for kind in [&[][..], &["--talhelper"]] {
        let before = home.read("ichor.yaml");
        let arguments = [&init, kind].concat();
        home.refuses(&arguments, 3, "output.exists");
        assert!(!home.ichor(&arguments).2.contains("--force"), "there is no such flag");
        assert_eq!(home.read("ichor.yaml"), before);
        assert!(!home.0.path().join("talconfig.yaml").exists());
    }
    let new = Home(tempfile::tempdir().expect("a directory"));
    new.write(".gitignore", "target/\nkubeconfig\n");
    new.write(".sops.yaml", &format!("creation_rules: [{{age: {RECIPIENT}}}]\n"));
    let (status, _, stderr) = new.ichor(&init);
    assert_eq!(status, 0, "{stderr}");
    assert!(stderr.contains("/dev/sda") && stderr.contains("ichor plan"), "{stderr}");
    assert_eq!(new.read(".gitignore"), "target/\nkubeconfig\n.ichor/\n.ichor-*\ntalosconfig\n");
    assert!(new.read("secrets.sops.yaml").contains("ENC[AES256_GCM,"), "not encrypted");
    assert!(!new.0.path().join("secrets.yaml").exists());
}

#[test]
fn init_ignores_secrets_before_it_writes_them_and_in_lines_of_their_own() {
    let init = "init other --endpoint https://127.9.0.1:6443 --control-plane cp-1=127.9.0.1";
    let init: Vec<&str> = init.split_whitespace().collect();
    let new = Home(tempfile::tempdir().expect("a directory"));
    // The last line has no line break.
    new.write(".gitignore", ".ichor/\n.ichor-*\nkubeconfig");
    assert_eq!(new.ichor(&init).0, 0);
    assert_eq!(
        new.read(".gitignore"),
        ".ichor/\n.ichor-*\nkubeconfig\ntalosconfig\nsecrets.yaml\n"
    );

    let new = Home(tempfile::tempdir().expect("a directory"));
    fs_err::create_dir(new.0.path().join(".gitignore")).expect("a directory");
    assert_ne!(new.ichor(&init).0, 0);
    assert!(!new.0.path().join("secrets.yaml").exists());
}

#[test]
fn init_encrypts_for_recipients_of_the_environment_whatever_rules_there_are() {
    let init = "init other --endpoint https://127.9.0.1:6443 --control-plane cp-1=127.9.0.1";
    let run = |rules: &str, recipients: &str| {
        let new = Home(tempfile::tempdir().expect("a directory"));
        new.write(".sops.yaml", rules);
        let mut command = new.command();
        command.args(init.split_whitespace()).env("SOPS_AGE_RECIPIENTS", recipients);
        let code = command.output().expect("ichor").status.code();
        let there = |name: &str| new.0.path().join(name).exists();
        (code, there("secrets.sops.yaml"), there("secrets.yaml"))
    };
    let elsewhere = format!("creation_rules: [{{path_regex: ^other/, age: {RECIPIENT}}}]\n");
    for rules in ["", elsewhere.as_str()] {
        assert_eq!(run(rules, RECIPIENT), (Some(0), true, false), "{rules:?}");
        assert_eq!(run(rules, "age1mistyped"), (Some(3), false, false), "{rules:?}");
    }
}

#[test]
fn errors_of_a_spec_have_their_line_and_backup_is_warned_of() {
    let home = Home::new();
    let text = home.read("ichor.yaml");
    home.write("ichor.yaml", &text.replace("talos:", "\ttalos:"));
    let (status, stdout, _) = home.ichor(&["validate"]);
    assert!(status == 3 && stdout.contains("ichor.yaml:5:1: error[spec.syntax]: "), "{stdout}");
    assert!(stdout.contains("\n  hint: indent with spaces"), "{stdout}");
    home.write("ichor.yaml", "");
    let (_, stdout, _) = home.ichor(&["validate"]);
    assert!(stdout.contains("ichor.yaml:1:1: error[spec.format]: one document"), "{stdout}");
    home.write("ichor.yaml", &text.replace("patches/all.yaml", "patches/none.yaml"));
    let (_, stdout, _) = home.ichor(&["validate"]);
    let line = text.lines().count();
    let missing = format!("ichor.yaml:{line}:");
    assert!(stdout.contains(&missing) && stdout.contains("error[layer.no-file]"), "{stdout}");
    home.write("ichor.yaml", &(text + "backup: {every: 6h, keep: 3, to: s3://a/b}\n"));
    let (status, stdout, _) = home.ichor(&["validate"]);
    let warned = stdout.contains(&format!("ichor.yaml:{}:", line + 1));
    assert!(status == 0 && warned && stdout.contains("warning[spec.not-yet]"), "{stdout}");
    let (status, stdout, _) = home.ichor(&["validate", "--strict"]);
    assert!(status == 3 && !stdout.contains("is valid for"), "{stdout}");
}

#[test]
fn schema_of_the_native_file_is_printed() {
    let (status, stdout, _) = Home::new().ichor(&["gen", "schema"]);
    let schema: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert!(status == 0 && schema["properties"]["controlPlane"].is_object(), "{schema}");
}

/// A plan without steps.
fn plan_for(cluster: &str) -> Plan<Draft> {
    Plan::draft(Body {
        cluster: cluster.parse().expect("a name"),
        identity: "5".repeat(64).parse().expect("a digest"),
        goal: Goal::Spec,
        made: Timestamp(0),
        parent: None,
        overrides: Vec::new(),
        steps: Vec::new(),
        skipped: Vec::new(),
    })
}

/// A line of a journal, with its checksum in front.
fn line(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let sum = digest[..8].iter().fold(String::new(), |sum, byte| format!("{sum}{byte:02x}"));
    format!("{sum} {text}\n")
}

/// A cluster of two machines that nobody started.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a directory"));
        let init = "init home --endpoint https://127.9.0.1:6443 --control-plane cp-1=127.9.0.1 \
                    --worker w-1=127.9.0.2";
        let said = home.ichor(&init.split_whitespace().collect::<Vec<_>>());
        assert_eq!(said.0, 0, "{said:?}");
        fs_err::create_dir(home.0.path().join("patches")).expect("a directory");
        home.write("patches/all.yaml", "machine:\n  sysctls:\n    a: \"1\"\n");
        home.write("ichor.yaml", &(home.read("ichor.yaml") + "patches: [patches/all.yaml]\n"));
        home
    }

    fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.0.path().join(name)).expect("a file")
    }

    fn write(&self, name: &str, text: &str) {
        fs_err::write(self.0.path().join(name), text).expect("a file");
    }

    #[track_caller]
    fn refuses(&self, arguments: &[&str], status: i32, code: &str) {
        let said = self.ichor(arguments);
        let refused = said.0 == status && said.2.contains(&format!("error[{code}"));
        assert!(refused, "{arguments:?}, expected {status} {code}: {said:?}");
        assert!(!self.0.path().join(".ichor/journal").exists(), "{arguments:?} touched something");
    }

    /// The status, stdout and stderr.
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ichor"));
        command
            .current_dir(self.0.path())
            .env_clear()
            .env("HOME", Path::new("/nonexistent"))
            .stdin(Stdio::null());
        command
    }

    fn ichor(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = self.command().args(arguments).output().expect("ichor");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
    }
}

/// Of a key that nobody has.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
