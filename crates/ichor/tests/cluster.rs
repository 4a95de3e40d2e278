//! A cluster's directory that cannot be meant, or cannot be opened, is refused before anything is touched.

use std::path::Path;
use std::process::{Command, Stdio};

use plan::{Body, Goal, Moment, Plan};

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
        (("patches/all.yaml", "patches/none.yaml"), 3, "input.unreadable"),
        (("patches/all.yaml", "../all.yaml"), 3, "spec.value"),
    ] {
        let home = Home::new();
        let text = home.read("ichor.yaml");
        assert!(text.contains(edit.0), "{text}");
        home.write("ichor.yaml", &text.replace(edit.0, edit.1));
        for arguments in [&["plan"][..], &["apply", "--yes"], &["destroy", "--yes"], &["diff"]] {
            home.refuses(arguments, status, code);
        }
    }
}

#[test]
fn plans_that_are_not_for_this_cluster() {
    let home = Home::new();
    let plan = Plan::draft(Body {
        cluster: "elsewhere".parse().expect("a name"),
        identity: "5".repeat(64).parse().expect("a digest"),
        goal: Goal::Spec,
        made: Moment(0),
        parent: None,
        overrides: Vec::new(),
        steps: Vec::new(),
        skipped: Vec::new(),
    });
    home.write("other.plan", &plan.encode());
    home.refuses(&["apply", "--yes", "other.plan"], 4, "identity.cluster");
    home.write("edited.plan", &plan.encode().replace("elsewhere", "home"));
    home.refuses(&["apply", "--yes", "edited.plan"], 3, "plan.edited");
    home.write("none.plan", "{}");
    home.refuses(&["show", "none.plan"], 3, "plan.syntax");
}

#[test]
fn secrets_that_are_not_there_or_cannot_be_opened() {
    let home = Home::new();
    let secrets = home.read("secrets.yaml");
    home.write(
        ".sops.yaml",
        "creation_rules: [{age: RECIPIENT}]\n".replace("RECIPIENT", RECIPIENT).as_str(),
    );
    assert!(home.ichor(&["gen", "secrets", "-o", "secrets.sops.yaml"]).0 == 0);
    fs_err::remove_file(home.0.path().join("secrets.yaml")).expect("removed");
    home.refuses(&["apply", "--yes"], 3, "sops.no-key");
    fs_err::remove_file(home.0.path().join("secrets.sops.yaml")).expect("removed");
    home.refuses(&["apply", "--yes"], 3, "usage");
    home.write("secrets.yaml", &secrets.replace("secret:", "sercet:"));
    home.refuses(&["apply", "--yes"], 3, "vault.unreadable");
}

#[test]
fn nobody_who_answers_is_a_status_of_its_own() {
    let home = Home::new();
    for arguments in [&["plan"][..], &["apply", "--yes"], &["diff"], &["destroy", "--yes"]] {
        let (status, _, stderr) = home.ichor(arguments);
        assert!(status == 5 && stderr.contains("cp-1"), "{arguments:?}: {status} {stderr}");
    }
    assert_eq!(home.ichor(&["health"]).0, 1);
    let (status, _, stderr) = home.ichor(&["diff", "-n", "cp-7"]);
    assert!(status == 3 && stderr.contains("it has cp-1, w-1"), "{stderr}");
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
    fn ichor(&self, arguments: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_ichor"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_clear()
            .env("HOME", Path::new("/nonexistent"))
            .stdin(Stdio::null())
            .output()
            .expect("ichor");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
    }
}

/// Of a key that nobody has.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
