//! A whole cluster from its directory: made, changed, interrupted and left alone, on real machines.

use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use testkit::peers;
use testkit::talos::{self, Machine, Role, Size};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_cluster_is_made_changed_and_protected() {
    let machine = talos::machine(Size::NONE);
    let mut home = Home::new("first", &machine);

    let planned = home.ichor(&["plan"]).expect(2);
    assert!(planned.stdout.contains("bootstrap etcd"), "{planned:?}");
    home.ichor(&["health"]).expect(1);
    let mut first = home.start(&["apply", "--yes"]);
    // While one is at work no other is let in.
    home.wait_for_history("begun by");
    let refused = home.ichor(&["apply", "--yes"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(first.wait().expect("an end").success());
    let history = home.ichor(&["history"]).expect(0).stdout;
    assert_eq!(history.matches("begun by").count(), 1, "{history}");

    home.ichor(&["plan"]).expect(0);
    home.ichor(&["health"]).expect(0);
    let nodes = home.kubectl(&["get", "nodes", "--no-headers"]);
    assert_eq!(nodes.split_whitespace().take(2).collect::<Vec<_>>(), [&*machine.name, "Ready"]);
    let leases =
        home.kubectl(&["get", "lease", "-n", "kube-system", "ichor", "--ignore-not-found"]);
    assert!(!leases.contains("Error"), "{leases}");

    // Without a reboot.
    home.patch("sysctl.yaml", "machine:\n  sysctls:\n    net.core.somaxconn: \"65535\"\n");
    let planned = home.ichor(&["plan"]).expect(2);
    assert!(planned.stdout.contains("change config") && !planned.stdout.contains("reboot"));
    home.ichor(&["apply", "--yes"]).expect(0);
    home.ichor(&["plan"]).expect(0);

    // With a reboot, which would take the only voter away.
    home.patch("environment.yaml", "machine:\n  env:\n    COLOUR: bronze\n");
    let refused = home.ichor(&["plan"]).expect(4);
    assert!(refused.stderr.contains("quorum.only-voter"), "{refused:?}");
    let overriding = ["--override", "quorum.only-voter", "--reason", "a test"];
    let planned = home.ichor(&[&["plan", "--out", "reboot.plan"][..], &overriding].concat());
    assert!(planned.expect(2).stdout.contains("reboot"));
    home.ichor(&["approve", "reboot.plan"]).expect(0);
    // It was approved, so nobody is asked.
    home.ichor(&["apply", "reboot.plan"]).expect(0);
    home.ichor(&["plan"]).expect(0);

    // A plan that was edited is none.
    let path = home.directory.path().join("reboot.plan");
    let edited = fs_err::read_to_string(&path).expect("a plan").replace("a test", "no reason");
    fs_err::write(&path, edited).expect("a file");
    assert!(home.ichor(&["show", "reboot.plan"]).expect(3).stderr.contains("plan.edited"));

    // The machine is this cluster's, and no other's.
    let other = Home::new("second", &machine);
    let refused = other.ichor(&["plan"]);
    assert!(refused.code == 4 && refused.stderr.contains("identity.foreign"), "{refused:?}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn killed_anywhere_it_finishes_and_bootstraps_once() {
    let machine = talos::machine(Size::NONE);
    let home = Home::new("killed", &machine);
    let mut seed: u64 = 20_261_116;
    for _ in 0..10 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut running = home.start(&["apply", "--yes"]);
        pause(Duration::from_millis(200 + (seed >> 33) % 4000));
        running.kill().expect("killed");
        running.wait().expect("an end");
    }
    home.ichor(&["resume", "--yes"]).expect(0);
    home.ichor(&["plan"]).expect(0);
    let history = home.ichor(&["history"]).expect(0).stdout;
    let bootstrapped = history.lines().filter(|line| line.contains(": bootstrap etcd")).count();
    assert!(bootstrapped >= 1, "{history}");
    let members = home.ichor_on_machine(&["etcd", "members", "-o", "json"]);
    assert_eq!(members.matches("\"hostname\"").count(), 1, "{members}");
}

/// A cluster's directory, and programs that are run in the network of its machine.
struct Home {
    directory: TempDir,
    network: String,
    address: String,
    patches: Vec<String>,
    head: String,
}

#[derive(Debug)]
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Said {
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl Home {
    fn new(cluster: &str, machine: &Machine) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let site = machine.site();
        let (name, address) = (&machine.name, machine.address);
        let mut home = Self {
            directory,
            network: format!("--net={}", site.network.display()),
            address: address.to_string(),
            patches: Vec::new(),
            head: String::new(),
        };
        let endpoint = format!("https://{address}:6443");
        let control_plane = format!("{name}={address}");
        home.ichor(&["init", cluster, "--endpoint", &endpoint, "--control-plane", &control_plane])
            .expect(0);
        home.head =
            fs_err::read_to_string(home.directory.path().join("ichor.yaml")).expect("a spec");
        for role in [Role::Worker, Role::ControlPlane] {
            let patch = fs_err::read_to_string(site.patch(role)).expect("a patch");
            // The harness leaves names to machines; a cluster gives them.
            let patch = patch.split("\n---\n").next().expect("a document").to_owned();
            home.patch(&format!("{role:?}.yaml"), &patch);
        }
        home
    }

    fn patch(&mut self, name: &str, text: &str) {
        fs_err::write(self.directory.path().join(name), text).expect("a file");
        self.patches.push(name.to_owned());
        let spec = format!("{}patches: [{}]\n", self.head, self.patches.join(", "));
        fs_err::write(self.directory.path().join("ichor.yaml"), spec).expect("a file");
    }

    fn ichor(&self, arguments: &[&str]) -> Said {
        said(&self.inside(env!("CARGO_BIN_EXE_ichor")).args(arguments).output().expect("ichor"))
    }

    /// One of the commands that look at a machine, with credentials of the cluster's secrets.
    fn ichor_on_machine(&self, arguments: &[&str]) -> String {
        let path = self.directory.path().join("talosconfig");
        if !path.exists() {
            self.ichor(&["gen", "talosconfig", "killed", "-o", "talosconfig"]).expect(0);
        }
        let reach = ["--talosconfig", "talosconfig", "-e", &self.address, "-n", &self.address];
        self.ichor(&[arguments, &reach].concat()).expect(0).stdout
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.inside(env!("CARGO_BIN_EXE_ichor"));
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("ichor")
    }

    fn kubectl(&self, arguments: &[&str]) -> String {
        let program = peers::program("kubectl");
        let mut command = self.inside(&program.to_string_lossy());
        let output = command.args(["--kubeconfig", "kubeconfig"]).args(arguments).output();
        said(&output.expect("kubectl")).expect(0).stdout
    }

    fn wait_for_history(&self, text: &str) {
        for _ in 0..100 {
            if self.ichor(&["history"]).expect(0).stdout.contains(text) {
                return;
            }
            pause(Duration::from_millis(100));
        }
        panic!("{text:?} never happened");
    }

    /// A program in the network of the machine. The one that is started becomes it, so that killing it kills it.
    fn inside(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args([&self.network, program]).current_dir(self.directory.path());
        command.env("USER", "tester").env("NO_COLOR", "1").env_remove("SUDO_USER");
        command.stdin(Stdio::null());
        command
    }
}

fn said(output: &Output) -> Said {
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[expect(clippy::disallowed_methods, reason = "a test waits for another process")]
fn pause(duration: Duration) {
    thread::sleep(duration);
}
