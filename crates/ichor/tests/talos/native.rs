//! A machine that a test has for itself, and both programs to act on it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::peers;
use testkit::talos::{self, Machine, Role, Size};

/// What a program did.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// The code that it had to end with, and something that it had to say.
    #[track_caller]
    pub(crate) fn expect(self, code: i32, text: &str) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.stdout.contains(text) || self.stderr.contains(text), "{text:?}: {self:?}");
        self
    }
}

/// Both programs with one talosconfig.
pub(crate) struct Programs {
    pub(crate) directory: TempDir,
    pub(crate) talosconfig: PathBuf,
}

impl Programs {
    pub(crate) fn new(talosconfig: Option<PathBuf>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let talosconfig = talosconfig.unwrap_or_else(|| directory.path().join("talosconfig"));
        Self { directory, talosconfig }
    }

    pub(crate) fn ichor(&self, arguments: &[&str]) -> Said {
        self.run(Path::new(env!("CARGO_BIN_EXE_ichor")), arguments)
    }

    pub(crate) fn talosctl(&self, arguments: &[&str]) -> Said {
        self.run(&peers::program("talosctl-1.13.9"), arguments)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Said {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.directory.path())
            .env("TALOSCONFIG", &self.talosconfig)
            .env("XDG_STATE_HOME", self.directory.path().join("state"))
            .env("USER", "tester")
            .env_remove("SUDO_USER")
            .stdin(Stdio::null())
            .output()
            .expect("a program");
        Said {
            code: output.status.code().expect("an end by itself"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The lines of the audit log, each with its action, detail and outcome.
    pub(crate) fn audit(&self) -> Vec<String> {
        let text = fs_err::read_to_string(self.directory.path().join("state/ichor/audit.jsonl"));
        text.expect("an audit log").lines().map(str::to_owned).collect()
    }
}

/// A machine of nobody's cluster, and configuration for it.
pub(crate) struct Own {
    pub(crate) programs: Programs,
    pub(crate) machine: Machine,
    /// By which name it is called in maintenance, and once it is configured.
    pub(crate) endpoint: String,
    pub(crate) address: String,
}

impl Own {
    pub(crate) fn new() -> Self {
        let programs = Programs::new(None);
        let machine = talos::machine(Size::NONE);
        let (endpoint, address) = (machine.endpoint.to_string(), machine.address.to_string());
        // What nodes of the harness need is the same everywhere.
        let cluster = talos::cluster(Size::ONE);
        let patch = format!("@{}", cluster.patch(Role::Worker).display());
        let control_plane = format!("@{}", cluster.patch(Role::ControlPlane).display());
        let url = format!("https://{address}:6443");
        let generate = ["gen", "config", "own", &url, "--talos-version", "1.13"];
        let versions = ["--kubernetes-version", "1.36.3", "--additional-sans", &endpoint];
        let patches = ["--config-patch", &patch, "--config-patch-control-plane", &control_plane];
        programs.ichor(&[&generate[..], &versions, &patches].concat()).expect(0, "");
        let talosconfig = fs_err::read_to_string(&programs.talosconfig).expect("a talosconfig");
        let talosconfig = talosconfig.replace("endpoints: []", &format!("endpoints: [{endpoint}]"));
        fs_err::write(&programs.talosconfig, talosconfig).expect("written");
        Self { programs, machine, endpoint, address }
    }

    /// A machine that has its configuration.
    pub(crate) fn configured() -> Self {
        let own = Self::new();
        let apply = ["node", "apply-config", "-i", "-n", &own.endpoint, "-f", CONFIG];
        own.programs.ichor(&apply).expect(0, "leaves maintenance");
        own.answers();
        own
    }

    /// Waits until it answers with its own certificate.
    pub(crate) fn answers(&self) {
        eventually(Duration::from_mins(2), || self.talosctl(&["version"]).code == 0);
    }

    /// Runs `ichor node …` on it.
    pub(crate) fn node(&self, arguments: &[&str]) -> Said {
        self.programs.ichor(&[&["node"], arguments, &["-n", &self.address]].concat())
    }

    pub(crate) fn talosctl(&self, arguments: &[&str]) -> Said {
        self.programs.talosctl(&[&["-n", &self.address], arguments].concat())
    }

    /// What it says about one boot.
    pub(crate) fn boot_id(&self) -> String {
        self.talosctl(&["read", "/proc/sys/kernel/random/boot_id"]).stdout
    }

    /// Its configuration, as it is active or as it is stored.
    pub(crate) fn config(&self, id: &str) -> String {
        self.talosctl(&["get", "machineconfig", id, "-o", "yaml"]).expect(0, "machine").stdout
    }

    /// Fails when something of the configuration is shown that only the machine may know.
    #[track_caller]
    pub(crate) fn assert_no_secret(&self, said: &Said) {
        let text = fs_err::read_to_string(self.programs.directory.path().join(CONFIG));
        let text = text.expect("the configuration");
        let values = text.lines().filter_map(|line| line.trim().split_once(": "));
        let secrets: Vec<&str> = values
            .filter(|(key, _)| ["token", "key", "secret"].contains(key))
            .map(|(_, value)| value)
            .collect();
        assert!(secrets.len() > 5, "the configuration has secrets");
        for secret in secrets {
            assert!(!said.stdout.contains(secret) && !said.stderr.contains(secret), "{said:?}");
        }
    }
}

/// Waits for something that takes a machine a while.
#[track_caller]
#[expect(clippy::disallowed_methods, reason = "a real machine is waited for")]
pub(crate) fn eventually(within: Duration, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < within, "not within {within:?}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

pub(crate) const CONFIG: &str = "controlplane.yaml";
