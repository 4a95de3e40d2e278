//! The operations guide on a real machine: from maintenance to a node that is Ready, and on, with no other program at hand.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use testkit::peers;
use testkit::talos::{self, Machine, Role, Size};

use crate::programs::{errors, text};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn the_steps_of_the_guide_need_no_other_program() {
    let machine = talos::machine(Size::NONE);
    let guide = Guide::new(&machine);
    let address = machine.address.to_string();
    let config = format!("clusterconfig/guide-{}.yaml", machine.name);

    // What it has, before it has any configuration.
    let links = guide.done(&["links", "--insecure", "-n", &address]);
    assert!(links.contains(&address), "{links}");
    guide.done(&["disks", "--insecure", "-n", &address]);

    guide.done(&["talhelper", "validate", "talconfig"]);
    guide.done(&["talhelper", "genconfig", "--offline-mode"]);
    assert_eq!(guide.mode(&config), 0o600);
    guide.done(&["node", "apply-config", "--insecure", "-n", &address, "-f", &config]);
    // The machine boots first; nobody has to try again.
    guide.done(&["node", "bootstrap", "-n", &address]);
    let members = ["etcd", "members", "-n", &address];
    let before = guide.done(&members);
    let (code, again) = guide.run(&["node", "bootstrap", "-n", &address]);
    assert!(code == 1 && again.contains("error[etcd.already-bootstrapped]"), "{again}");
    assert_eq!(guide.done(&members), before);

    guide.until_done(&["kubeconfig", "kubeconfig", "--merge=false", "-n", &address]);
    assert_eq!(guide.mode("kubeconfig"), 0o600);
    wait_until("the node is Ready", || {
        guide.kubectl(&["get", "nodes", "--no-headers"]).contains(" Ready ")
    });

    let services = guide.done(&["services", "-n", &address]);
    for service in ["apid", "containerd", "etcd", "kubelet"] {
        assert!(services.contains(service), "{services}");
    }
    guide.done(&["dmesg", "-n", &address]);
    assert!(!guide.done(&["logs", "kubelet", "--tail", "5", "-n", &address]).is_empty());
    assert!(guide.done(&["etcd", "status", "-n", &address]).contains(&address));
    assert!(guide.done(&["etcd", "members", "-n", &address]).contains(&machine.name));
    guide.done(&["etcd", "snapshot", "db.snapshot", "-n", &address]);
    assert_eq!(guide.mode("db.snapshot"), 0o600);

    // A change: nothing is pending before it, and nothing afterwards.
    let apply = ["node", "apply-config", "-n", &address, "-f", &config];
    let dry = [&apply[..], &["--dry-run"]].concat();
    assert_eq!(guide.run(&dry).0, 0);
    guide.write("more.yaml", "machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n");
    guide.patch("more.yaml");
    guide.done(&["talhelper", "genconfig", "--offline-mode"]);
    let (code, shown) = guide.run(&dry);
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("net.core.somaxconn"), "{shown}");
    guide.done(&[&apply[..], &["--mode", "no-reboot"]].concat());
    assert_eq!(guide.run(&dry).0, 0);

    let well = guide.done(&["health", "--wait", "2m"]);
    assert!(well.contains("kube-controller-manager"), "{well}");
    let upgrade = guide.done(&["node", "upgrade", "--dry-run", "-n", &machine.name]);
    assert!(upgrade.ends_with(":v1.13.9\n"), "{upgrade}");
    // A machine that is stuck: nobody leaves etcd, which could not be without its only member.
    let stuck = ["--graceful=false", "--reboot", "--wait=false", "--yes"];
    let stuck = [&stuck[..], &["--override", "quorum.tolerance", "--reason", "stuck"]].concat();
    guide.done(&[&["node", "reset", "-n", &address][..], &stuck].concat());
}

/// A directory that `ichor init --talhelper` began.
struct Guide {
    directory: TempDir,
    network: String,
}

impl Guide {
    fn new(machine: &Machine) -> Self {
        let site = machine.site();
        let guide = Self {
            directory: tempfile::tempdir().expect("a directory"),
            network: format!("--net={}", site.network.display()),
        };
        // Secrets are encrypted from the first moment, and opened without the program that does that elsewhere.
        guide.write(".sops.yaml", &format!("creation_rules:\n  - age: {}\n", line("age1")));
        let (name, address) = (&machine.name, machine.address);
        guide.done(&[
            "init",
            "guide",
            "--talhelper",
            "--endpoint",
            &format!("https://{address}:6443"),
            "--control-plane",
            &format!("{name}={address}"),
            "--talos",
            "v1.13.9",
            "--kubernetes",
            "v1.36.3",
        ]);
        assert!(guide.read("talsecret.sops.yaml").contains("ENC["));
        let talconfig = guide.read("talconfig.yaml");
        guide.write("talconfig.yaml", &format!("{talconfig}patches:\n"));
        for (name, role) in [("own.yaml", Role::ControlPlane), ("site.yaml", Role::Worker)] {
            guide.write(name, &site.patch_without_name(role));
            guide.patch(name);
        }
        guide
    }

    /// Adds a patch for all machines.
    fn patch(&self, name: &str) {
        let talconfig = self.read("talconfig.yaml");
        self.write("talconfig.yaml", &format!("{talconfig}  - \"@./{name}\"\n"));
    }

    fn write(&self, name: &str, text: &str) {
        fs_err::write(self.directory.path().join(name), text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.directory.path().join(name)).expect("a file")
    }

    fn mode(&self, name: &str) -> u32 {
        let metadata = fs_err::metadata(self.directory.path().join(name)).expect("a file");
        metadata.permissions().mode() & 0o777
    }

    /// Status and what was said.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.inside(env!("CARGO_BIN_EXE_ichor")).args(arguments).output();
        let output = output.expect("ichor");
        let code = output.status.code().expect("no signal");
        (code, format!("{}{}", text(&output), errors(&output)))
    }

    fn done(&self, arguments: &[&str]) -> String {
        let (code, shown) = self.run(arguments);
        assert_eq!(code, 0, "{arguments:?}: {shown}");
        shown
    }

    fn until_done(&self, arguments: &[&str]) {
        wait_until(&format!("{arguments:?}"), || self.run(arguments).0 == 0);
    }

    fn kubectl(&self, arguments: &[&str]) -> String {
        let program = peers::program("kubectl");
        let mut command = self.inside(&program.to_string_lossy());
        text(
            &command
                .args(["--kubeconfig", "kubeconfig"])
                .args(arguments)
                .output()
                .expect("kubectl"),
        )
    }

    /// A program in the network of the machine, which finds no other program.
    fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("/usr/bin/nsenter");
        command.args([&self.network, program]).current_dir(self.directory.path());
        command.env_clear().env("PATH", "").env("HOME", self.directory.path());
        command
            .env("SOPS_AGE_KEY", line("AGE-SECRET-KEY"))
            .env("TALOSCONFIG", "clusterconfig/talosconfig");
        command.stdin(Stdio::null());
        command
    }
}

fn wait_until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..300 {
        if holds() {
            return;
        }
        pause();
    }
    panic!("never: {what}");
}

#[expect(clippy::disallowed_methods, reason = "a test waits for another process")]
fn pause() {
    thread::sleep(Duration::from_secs(1));
}

/// The word that begins so in a key that is made for tests.
fn line(begin: &str) -> &'static str {
    let key = include_str!("../talhelper/throw-away-secrets/age.key");
    key.split_whitespace().find(|word| word.starts_with(begin)).expect("a key")
}
