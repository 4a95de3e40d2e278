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
    // What cannot be written down is not done.
    let full = home.ichor_with_a_full_disk(&["apply", "--yes"]).expect(1);
    assert!(
        full.stderr.contains("No space left") && full.stderr.contains("free disk space"),
        "{full:?}"
    );
    assert!(home.ichor(&["status"]).expect(0).stdout.contains("in maintenance"));
    let unasked = home.ichor(&["apply"]).expect(3);
    assert!(unasked.stderr.contains("confirm.unasked") && unasked.stderr.contains("--yes"));
    let mut first = home.start(&["apply", "--yes"]);
    // While one is at work no other is let in.
    home.wait_for_history("started by");
    let refused = home.ichor(&["apply", "--yes"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(first.wait().expect("an end").success());
    let history = home.ichor(&["history"]).expect(0).stdout;
    assert_eq!(history.matches("started by").count(), 1, "{history}");

    home.ichor(&["plan"]).expect(0);
    home.ichor(&["health", "--wait", "2m"]).expect(0);
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
    let bootstrapped = history.lines().filter(|line| line.contains(": bootstrap-etcd")).count();
    assert!(bootstrapped >= 1, "{history}");
    assert_eq!(home.members(), 1);
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn three_control_planes_and_a_worker_are_made_changed_and_ended() {
    let machines: Vec<Machine> = (0..4).map(|_| talos::machine(Size::NONE)).collect();
    let (control_planes, workers) = machines.split_at(3);
    let mut home = Home::of("large", control_planes, workers);
    let made = home.ichor(&["apply", "--yes", "--metrics", "metrics.prom"]).expect(0);
    home.ichor(&["plan"]).expect(0);
    home.ichor(&["diff"]).expect(0);
    home.ichor(&["health", "--wait", "2m"]).expect(0);
    let nodes = home.kubectl(&["get", "nodes", "--no-headers"]);
    assert_eq!(nodes.matches(" Ready ").count(), 4, "{nodes}");
    assert_eq!(home.members(), 3);
    assert!(made.stderr.contains(" left"), "nobody said how long it takes: {made:?}");
    let metrics = home.file("metrics.prom");
    let bootstraps =
        "ichor_steps_total{cluster=\"large\",action=\"bootstrap-etcd\",outcome=\"done\"} 1";
    assert!(metrics.contains(bootstraps), "{metrics}");

    home.kubectl(&["create", "configmap", "proof", "--from-literal=metal=bronze"]);

    // A change on one machine only.
    let worker = &workers[0];
    let patch = "machine:\n  sysctls:\n    net.core.somaxconn: \"4096\"\n";
    home.patch_machine(worker, patch);
    let shown = home.ichor(&["diff"]).expect(2).stdout;
    assert!(shown.starts_with(&worker.name) && shown.contains("somaxconn"), "{shown}");
    assert!(home.ichor(&["diff", "-n", &control_planes[0].name]).expect(0).stdout.is_empty());
    let planned = home.ichor(&["plan"]).expect(2).stdout;
    for other in control_planes {
        assert!(!planned.contains(&other.name), "{planned}");
    }
    let said = home.ichor(&["apply", "--yes", "-o", "json"]).expect(0).stdout;
    let done = said.lines().filter(|line| line.contains("\"event\":\"step-done\""));
    assert_eq!(done.count(), 2, "{said}");
    home.ichor(&["plan"]).expect(0);

    // With a reboot of every machine: one control plane at a time, and etcd keeps its majority.
    // Arguments of etcd reach its process only so.
    let quota = "cluster:\n  etcd:\n    extraArgs:\n      quota-backend-bytes: \"4000000001\"\n";
    fs_err::write(home.directory.path().join("quota.yaml"), quota).expect("a file");
    home.head = home.head.replace("patches: [own.yaml]", "patches: [own.yaml, quota.yaml]");
    home.patch("environment.yaml", "machine:\n  env:\n    COLOUR: bronze\n");
    let planned = home.ichor(&["plan"]).expect(2).stdout;
    assert_eq!(planned.matches("reboot").count(), 4, "{planned}");
    assert!(planned.contains("hand over lead") && planned.contains("2 of 3 voters healthy"));
    home.ichor(&["apply", "--yes"]).expect(0);
    home.ichor(&["plan"]).expect(0);
    home.ichor(&["health", "--wait", "2m"]).expect(0);
    assert_eq!(home.members(), 3);
    assert_eq!(processes_with("--quota-backend-bytes=4000000001"), 3);

    let kept = home.kubectl(&["get", "configmap", "proof", "-o", "jsonpath={.data.metal}"]);
    assert_eq!(kept, "bronze");

    // Another laptop with the same files is kept out while the first one is at work.
    let first = &control_planes[0];
    let backlog = "machine:\n  sysctls:\n    net.core.netdev_max_backlog: \"5000\"\n";
    home.patch_machine(first, backlog);
    let laptop = home.copy();
    let mut running = home.start(&["apply", "--yes"]);
    home.wait_for_lease();
    let second = laptop.ichor(&["apply", "--yes"]);
    assert!(running.wait().expect("an end").success());
    // It saw that the other one is alive, or came after it and found nothing left to do.
    assert!(
        second.stderr.contains("lease.held") || second.stderr.contains("nothing to do"),
        "{second:?}"
    );
    assert!(!second.stderr.contains(" done in "), "it carried out a step: {second:?}");

    // A dead machine does not hold up the others.
    worker.power_off();
    for machine in [first, worker] {
        home.patch_machine(machine, "machine:\n  sysctls:\n    net.core.netdev_budget: \"600\"\n");
    }
    let planned = home.ichor(&["plan"]).expect(2).stdout;
    assert!(planned.contains(&format!("skipped   {}", worker.name)), "{planned}");
    home.ichor(&["apply", "--yes"]).expect(1);
    let shown = home.ichor(&["diff"]).expect(1);
    assert!(shown.stdout.is_empty() && shown.stderr.contains(&worker.name), "{shown:?}");
    worker.power_on();
    home.wait_until("the worker answers", |home| home.ichor(&["diff"]).code == 2);
    home.ichor(&["apply", "--yes"]).expect(0);
    home.ichor(&["plan"]).expect(0);

    // The end, and a new beginning with the same machines.
    let planned = home.ichor(&["plan", "--destroy"]).expect(2).stdout;
    assert_eq!(planned.matches("  reset  ").count(), 4, "{planned}");
    let unasked = home.ichor(&["destroy", "--reason", "the test is over"]).expect(3);
    assert!(unasked.stderr.contains("confirm.unasked") && unasked.stderr.contains("--yes"));
    for machine in &machines {
        machine.wipe_at_next_start();
    }
    let mut ending = home.start(&["destroy", "--yes", "--reason", "the test is over"]);
    // In container mode a reset ends with a machine that is off.
    let ended = loop {
        if let Some(ended) = ending.try_wait().expect("a process") {
            break ended;
        }
        for machine in machines.iter().filter(|machine| !machine.is_on()) {
            machine.power_on();
        }
        pause(Duration::from_millis(500));
    };
    assert!(ended.success(), "{}", home.ichor(&["history"]).stdout);
    home.ichor(&["destroy", "--yes", "--reason", "the test is over"]).expect(0);
    let audit = home.file(".ichor/audit.jsonl");
    assert!(audit.contains("quorum.destroy because: the test is over"), "{audit}");
    let status = home.ichor(&["status"]).expect(0).stdout;
    assert_eq!(status.matches("in maintenance").count(), 4, "{status}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_change_that_breaks_the_scheduler_stops_at_the_first_control_plane() {
    let control_planes: Vec<Machine> = (0..3).map(|_| talos::machine(Size::NONE)).collect();
    let mut home = Home::of("broken", &control_planes, &[]);
    home.head.push_str("policy: {healsWithin: 1m}\n");
    home.write();
    home.ichor(&["apply", "--yes"]).expect(0);
    home.ichor(&["health", "--wait", "4m"]).expect(0);
    home.head = home.head.replace("patches: [own.yaml]", "patches: [own.yaml, scheduler.yaml]");
    let scheduler = |home: &Home, argument: &str| {
        let patch = format!("cluster:\n  scheduler:\n    extraArgs:\n      {argument}\n");
        fs_err::write(home.directory.path().join("scheduler.yaml"), patch).expect("a file");
        home.write();
    };

    // Nodes stay ready, and etcd votes; only the pod of the scheduler fails.
    scheduler(&home, "nonsense: \"1\"");
    let failed = home.ichor(&["apply", "--yes"]).expect(1);
    assert!(failed.stderr.contains("machine.unhealthy"), "{failed:?}");
    assert!(failed.stderr.contains("kube-scheduler"), "{failed:?}");
    let has_it = |machine: &&Machine| home.ichor(&["diff", "-n", &machine.name]).code == 0;
    let changed: Vec<&Machine> = control_planes.iter().filter(has_it).collect();
    assert_eq!(changed.len(), 1, "{failed:?}");
    let nodes = home.kubectl(&["get", "nodes", "--no-headers"]);
    assert_eq!(nodes.matches(" Ready ").count(), 3, "{nodes}");

    // A later plan waits for that one before it touches another.
    let planned = home.ichor(&["plan"]).expect(2).stdout;
    let first: Vec<&str> = planned.lines().skip(1).take(2).collect();
    assert!(first.iter().all(|line| line.contains(&changed[0].name)), "{planned}");
    assert!(first[0].contains("await voter") && first[1].contains("await ready node"), "{planned}");

    // The cure goes to it first, and then to the others.
    scheduler(&home, "v: \"2\"");
    let planned = home.ichor(&["plan"]).expect(2).stdout;
    let first = planned.lines().nth(1).unwrap_or_default();
    assert!(first.contains("change config") && first.contains(&changed[0].name), "{planned}");
    home.ichor(&["apply", "--yes"]).expect(0);
    home.ichor(&["plan"]).expect(0);
    home.ichor(&["health"]).expect(0);
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_dead_control_plane_stops_a_bootstrap_and_a_dead_worker_does_not() {
    let machines: Vec<Machine> = (0..2).map(|_| talos::machine(Size::NONE)).collect();
    let home = Home::of("partly", &machines[..1], &machines[1..]);
    machines[0].power_off();
    let refused = home.ichor(&["apply", "--yes"]);
    assert!(refused.code != 0 && refused.stderr.contains("unreachable"), "{refused:?}");
    machines[1].power_off();
    assert_eq!(home.ichor(&["plan"]).code, 5);
    machines[0].power_on();
    home.wait_until("the machine answers", |home| home.ichor(&["plan"]).code == 2);
    let applied = home.ichor(&["apply", "--yes"]).expect(1);
    assert!(applied.stderr.contains(&format!("skipped: {}", machines[1].name)), "{applied:?}");
    let nodes = home.kubectl(&["get", "nodes", "--no-headers"]);
    assert_eq!(nodes.matches(" Ready ").count(), 1, "{nodes}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_second_etcd_is_not_begun_where_one_was() {
    let machines: Vec<Machine> = (0..2).map(|_| talos::machine(Size::NONE)).collect();
    let mut home = Home::new("once", &machines[0]);
    // Kubernetes may call the node otherwise than the spec calls the machine.
    let hostname = "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: odd-name\n";
    home.patch_machine(&machines[0], hostname);
    home.ichor(&["apply", "--yes"]).expect(0);
    home.ichor(&["plan"]).expect(0);
    let nodes = home.kubectl(&["get", "nodes", "--no-headers"]);
    assert!(nodes.starts_with("odd-name "), "{nodes}");

    // The only control plane is exchanged in the spec while the old cluster runs.
    let spec = home.file("ichor.yaml");
    let (old, new) = (&machines[0], &machines[1]);
    let exchanged = spec
        .replace(&format!("name: {}", old.name), &format!("name: {}", new.name))
        .replace(&format!("address: {}", old.address), &format!("address: {}", new.address));
    fs_err::write(home.directory.path().join("ichor.yaml"), exchanged).expect("a file");
    let refused = home.ichor(&["apply", "--yes"]).expect(4);
    assert!(refused.stderr.contains("bootstrap.again"), "{refused:?}");
    assert!(refused.stderr.contains("put the old control planes back"), "{refused:?}");
    assert!(home.ichor(&["status"]).expect(0).stdout.contains("in maintenance"));

    // It loses the data of etcd and keeps its configuration.
    fs_err::write(home.directory.path().join("ichor.yaml"), spec).expect("a file");
    home.ichor(&["plan"]).expect(0);
    old.power_off();
    old.lose_etcd_at_next_start();
    old.power_on();
    home.wait_until("it answers without its etcd", |home| {
        let planned = home.ichor(&["plan"]);
        planned.code == 4 && planned.stderr.contains("bootstrap.again")
    });
    let refused = home.ichor(&["apply", "--yes"]).expect(4);
    assert!(refused.stderr.contains("restore a snapshot"), "{refused:?}");
    let began = home.ichor(&["etcd", "members", "-n", &old.name]);
    assert_ne!(began.code, 0, "{began:?}");

    // It loses everything that it had, and says that it is in maintenance.
    old.power_off();
    old.wipe_at_next_start();
    old.power_on();
    home.wait_until("it is in maintenance", |home| {
        home.ichor(&["status"]).stdout.contains("in maintenance")
    });
    let refused = home.ichor(&["apply", "--yes"]).expect(4);
    assert!(refused.stderr.contains("identity.maintenance"), "{refused:?}");
    let overriding = format!("identity.maintenance={}", old.name);
    let overriding = ["apply", "--yes", "--override", &overriding, "--reason", "a test"];
    let refused = home.ichor(&overriding).expect(4);
    assert!(refused.stderr.contains("bootstrap.again"), "{refused:?}");
    assert!(home.ichor(&["status"]).expect(0).stdout.contains("in maintenance"));
    home.ichor(&["history", "--verify"]).expect(0);
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn ten_kills_on_three_control_planes_and_a_worker() {
    let machines: Vec<Machine> = (0..4).map(|_| talos::machine(Size::NONE)).collect();
    let home = Home::of("kills", &machines[..3], &machines[3..]);
    let mut seed: u64 = 20_261_118;
    for _ in 0..10 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut running = home.start(&["apply", "--yes"]);
        pause(Duration::from_millis(500 + (seed >> 33) % 9000));
        running.kill().expect("killed");
        running.wait().expect("an end");
    }
    home.ichor(&["resume", "--yes"]).expect(0);
    home.ichor(&["plan"]).expect(0);
    assert_eq!(home.members(), 3);

    // A worker that was installed anew stops no other machine.
    let worker = &machines[3];
    worker.power_off();
    worker.wipe_at_next_start();
    worker.power_on();
    home.wait_until("the worker is in maintenance", |home| {
        home.ichor(&["status"]).stdout.contains("in maintenance")
    });
    let mut home = home;
    home.patch("sysctl.yaml", "machine:\n  sysctls:\n    net.core.somaxconn: \"4096\"\n");
    let applied = home.ichor(&["apply", "--yes"]).expect(1);
    let skipped = format!("skipped: {} ({}): identity.maintenance", worker.name, worker.address);
    assert!(applied.stderr.contains(&skipped), "{applied:?}");
    for control_plane in &machines[..3] {
        home.ichor(&["diff", "-n", &control_plane.name]).expect(0);
    }
    let overriding = format!("identity.maintenance={}", worker.name);
    home.ichor(&["apply", "--yes", "--override", &overriding, "--reason", "new disk"]).expect(0);
    // What was overridden is recorded, so that it need not be again.
    home.ichor(&["plan"]).expect(0);
}

/// The process is killed while its machine is off, in the middle of its first boot.
#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn killed_while_a_control_plane_boots_resume_finishes() {
    let machine = talos::machine(Size::NONE);
    let home = Home::new("boots", &machine);
    let mut running = home.start(&["apply", "--yes"]);
    // Before it has booted, which takes a container a second or two.
    let journal = home.directory.path().join(".ichor/journal");
    while !fs_err::read_to_string(&journal).is_ok_and(|text| text.contains("machineConfiguring")) {
        pause(Duration::from_millis(20));
    }
    machine.power_off();
    running.kill().expect("killed");
    running.wait().expect("an end");
    let mut resumes = home.start(&["resume", "--yes"]);
    pause(Duration::from_secs(20));
    assert_eq!(resumes.try_wait().expect("a state"), None, "it does not wait");
    machine.power_on();
    assert!(resumes.wait().expect("an end").success());
    home.ichor(&["plan"]).expect(0);
    assert_eq!(home.members(), 1);
}

/// How many processes of all nodes have an argument.
fn processes_with(argument: &str) -> usize {
    let processes = fs_err::read_dir("/proc").expect("processes");
    let arguments = processes.filter_map(|process| {
        fs_err::read(process.expect("a process").path().join("cmdline")).ok()
    });
    let has = |arguments: &Vec<u8>| {
        arguments.split(|byte| *byte == 0).any(|given| given == argument.as_bytes())
    };
    arguments.filter(has).count()
}

/// A cluster's directory, and programs that are run in the network of its machine.
pub(crate) struct Home {
    pub(crate) directory: TempDir,
    network: String,
    cluster: String,
    address: String,
    patches: Vec<String>,
    head: String,
}

#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

impl Home {
    fn new(cluster: &str, machine: &Machine) -> Self {
        Self::of(cluster, std::slice::from_ref(machine), &[])
    }

    /// A directory with nothing in it.
    pub(crate) fn empty(cluster: &str, machine: &Machine) -> Self {
        Self {
            directory: tempfile::tempdir().expect("a directory"),
            network: format!("--net={}", machine.site().network.display()),
            cluster: cluster.to_owned(),
            address: machine.address.to_string(),
            patches: Vec::new(),
            head: String::new(),
        }
    }

    fn of(cluster: &str, control_planes: &[Machine], workers: &[Machine]) -> Self {
        let site = control_planes[0].site();
        let address = control_planes[0].address;
        let mut home = Self::empty(cluster, &control_planes[0]);
        let mut arguments = vec!["init".to_owned(), cluster.to_owned()];
        arguments.extend(["--endpoint".to_owned(), format!("https://{address}:6443")]);
        for (flag, machines) in [("--control-plane", control_planes), ("--worker", workers)] {
            for machine in machines {
                arguments
                    .extend([flag.to_owned(), format!("{}={}", machine.name, machine.address)]);
            }
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        home.ichor(&arguments).expect(0);
        home.head = home.file("ichor.yaml");
        let own = site.patch_without_name(Role::ControlPlane);
        fs_err::write(home.directory.path().join("own.yaml"), own).expect("a file");
        home.head = home.head.replace("controlPlane:\n", "controlPlane:\n  patches: [own.yaml]\n");
        home.patch("site.yaml", &site.patch_without_name(Role::Worker));
        home
    }

    /// A patch for one machine, in place of an earlier one.
    fn patch_machine(&mut self, machine: &Machine, text: &str) {
        let (name, address) = (&machine.name, machine.address);
        let entry = format!("name: {name}, address: {address}");
        assert!(self.head.contains(&entry), "{}", self.head);
        let patched = format!("{entry}, patches: [{name}.yaml]");
        if !self.head.contains(&patched) {
            self.head = self.head.replace(&entry, &patched);
        }
        fs_err::write(self.directory.path().join(format!("{name}.yaml")), text).expect("a file");
        self.write();
    }

    fn write(&self) {
        let spec = format!("{}patches: [{}]\n", self.head, self.patches.join(", "));
        fs_err::write(self.directory.path().join("ichor.yaml"), spec).expect("a file");
    }

    fn file(&self, name: &str) -> String {
        fs_err::read_to_string(self.directory.path().join(name)).expect("a file")
    }

    /// The same files elsewhere, without what was done so far.
    fn copy(&self) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        for entry in fs_err::read_dir(self.directory.path()).expect("files") {
            let path = entry.expect("a file").path();
            if path.is_file() {
                let name = path.file_name().expect("a name");
                fs_err::copy(&path, directory.path().join(name)).expect("a copy");
            }
        }
        let Self { network, cluster, address, patches, head, .. } = self;
        Self {
            directory,
            network: network.clone(),
            cluster: cluster.clone(),
            address: address.clone(),
            patches: patches.clone(),
            head: head.clone(),
        }
    }

    fn members(&self) -> usize {
        self.ichor_on_machine(&["etcd", "members", "-o", "json"]).matches("\"hostname\"").count()
    }

    fn wait_for_lease(&self) {
        let holder = ["get", "lease", "-n", "kube-system", "ichor", "--ignore-not-found"];
        let holder = [&holder[..], &["-o", "jsonpath={.spec.holderIdentity}"]].concat();
        self.wait_until("the lease is taken", |home| !home.kubectl(&holder).is_empty());
    }

    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..600 {
            if holds(self) {
                return;
            }
            pause(Duration::from_millis(100));
        }
        panic!("never: {what}");
    }

    fn patch(&mut self, name: &str, text: &str) {
        fs_err::write(self.directory.path().join(name), text).expect("a file");
        self.patches.push(name.to_owned());
        self.write();
    }

    pub(crate) fn ichor(&self, arguments: &[&str]) -> Said {
        said(&self.inside(env!("CARGO_BIN_EXE_ichor")).args(arguments).output().expect("ichor"))
    }

    /// The same while nothing can be written to what the directory keeps for itself.
    fn ichor_with_a_full_disk(&self, arguments: &[&str]) -> Said {
        let script = "mkdir -p .ichor && mount -t tmpfs -o size=4k none .ichor && \
                      head -c 4096 /dev/zero > .ichor/full && exec \"$@\"";
        let mut command = self.inside("unshare");
        command.args(["--mount", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_ichor")]);
        said(&command.args(arguments).output().expect("ichor"))
    }

    /// One of the commands that look at a machine, with credentials of the cluster's secrets.
    fn ichor_on_machine(&self, arguments: &[&str]) -> String {
        let path = self.directory.path().join("talosconfig");
        if !path.exists() {
            self.ichor(&["gen", "talosconfig", &self.cluster, "-o", "talosconfig"]).expect(0);
        }
        let reach = ["--talosconfig", "talosconfig", "-e", &self.address, "-n", &self.address];
        self.ichor(&[arguments, &reach].concat()).expect(0).stdout
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.inside(env!("CARGO_BIN_EXE_ichor"));
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("ichor")
    }

    pub(crate) fn kubectl(&self, arguments: &[&str]) -> String {
        let program = peers::program("kubectl");
        let mut command = self.inside(&program.to_string_lossy());
        let output = command.args(["--kubeconfig", "kubeconfig"]).args(arguments).output();
        said(&output.expect("kubectl")).expect(0).stdout
    }

    fn wait_for_history(&self, text: &str) {
        self.wait_until(text, |home| home.ichor(&["history"]).expect(0).stdout.contains(text));
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
