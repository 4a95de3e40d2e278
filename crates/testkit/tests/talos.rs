//! Level `talos`: the harness of real Talos nodes does what tests build on.

#![expect(clippy::disallowed_methods, reason = "tests of processes: they wait for real ones")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use testkit::peers;
use testkit::talos::{self, Cluster, Node, Role, Size};

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn a_cluster_answers_on_its_loopback_address() {
    let cluster = talos::cluster(Size::ONE);
    let [node] = cluster.nodes.as_slice() else { panic!("not one node: {:?}", cluster.nodes) };
    assert_eq!(node.role, Role::ControlPlane);
    assert!(node.endpoint.is_loopback());

    let said = text(&talosctl(&cluster, &["version", "--short"]));
    assert!(said.matches("v1.13.9").count() >= 2, "client and server: {said}");
    assert_eq!(members(&cluster, node), [node.name.as_str()]);
    assert!(cluster.secrets().is_file());

    assert_eq!(kubernetes(&cluster), BTreeMap::from([(node.name.clone(), Kubernetes::WELL)]));
}

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn three_control_planes_and_a_worker_are_one_cluster() {
    let cluster = talos::cluster(Size::FOUR);
    let names = |wanted: &[Role]| -> Vec<String> {
        let nodes = cluster.nodes.iter().filter(|node| wanted.contains(&node.role));
        nodes.map(|node| node.name.clone()).collect()
    };
    let (all, leaders) = (names(&[Role::ControlPlane, Role::Worker]), names(&[Role::ControlPlane]));
    assert_eq!((all.len(), leaders.len()), (4, 3));

    for node in &cluster.nodes {
        assert_eq!(members(&cluster, node), all, "as {} sees it", node.name);
    }
    let voters = voters(&cluster, &cluster.nodes[0]);
    assert_eq!(voters.into_keys().collect::<Vec<_>>(), leaders);
    let seen = kubernetes(&cluster);
    assert_eq!(seen, all.into_iter().map(|name| (name, Kubernetes::WELL)).collect());
    let selected = ["--selector", "node-role.kubernetes.io/control-plane"];
    let labelled =
        kubectl(&cluster, &[&["get", "nodes", "--output", "name"], &selected[..]].concat());
    assert_eq!(labelled.replace("node/", "").lines().collect::<Vec<_>>(), leaders);
}

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn a_control_plane_that_reboots_stays_the_member_of_etcd_that_it_was() {
    let cluster = talos::cluster_alone(Size::FOUR);
    let node = &cluster.nodes[1];
    let before = (voters(&cluster, node), boot_id(&cluster, node));
    // It watches until the node is up again.
    text(&talosctl(&cluster, &directly(node, &["reboot"])));
    assert_ne!(boot_id(&cluster, node), before.1);
    assert_eq!(voters(&cluster, node), before.0);
    assert!(cluster.is_on(node));
}

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn a_machine_joins_as_a_worker_and_leaves_the_cluster_as_it_was() {
    let cluster = talos::cluster_alone(Size::ONE);
    let before = (kubernetes(&cluster), members(&cluster, &cluster.nodes[0]));
    let machine = talos::machine(Size::ONE);
    let stranger = talosctl(&cluster, &directly(&machine, &["version"]));
    assert!(!stranger.status.success(), "it has a certificate of the cluster already");
    join(&cluster, &machine);

    let boot = boot_id(&cluster, &machine);
    text(&talosctl(&cluster, &directly(&machine, &["reboot"])));
    assert_ne!(boot_id(&cluster, &machine), boot);
    wait_until_well(&cluster, &machine);

    machine.power_off();
    kubectl(&cluster, &["delete", "node", &machine.name]);
    assert_eq!((kubernetes(&cluster), members(&cluster, &cluster.nodes[0])), before);
}

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn a_node_that_shuts_down_is_off_until_it_is_switched_on() {
    let cluster = talos::cluster_alone(Size::ONE);
    let machine = talos::machine(Size::ONE);
    join(&cluster, &machine);
    let boot = boot_id(&cluster, &machine);
    // Watching it may take talosctl half an hour: when the node is off before it said that it stops.
    text(&talosctl(&cluster, &directly(&machine, &["shutdown", "--wait=false"])));
    eventually("it is off", || !machine.is_on());
    assert!(!talosctl(&cluster, &directly(&machine, &["version"])).status.success());

    machine.power_on();
    // Talos also undoes what shutting down begins with: that nothing new may run there.
    wait_until_well(&cluster, &machine);
    assert_ne!(boot_id(&cluster, &machine), boot);

    machine.power_off();
    kubectl(&cluster, &["delete", "node", &machine.name]);
}

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn a_machine_is_in_maintenance_and_gone_when_dropped() {
    let machine = talos::machine(Size::NONE);
    let address = machine.endpoint.to_string();
    let stage = || {
        Command::new(peers::program("talosctl-1.13.9"))
            .args(["get", "machinestatus", "--insecure", "--nodes", &address])
            .args(["--output", "jsonpath={.spec.stage}"])
            .output()
            .expect("a program that runs")
    };
    assert_eq!(text(&stage()).trim(), "maintenance");
    let name = machine.name.clone();
    drop(machine);

    // The harness sees the end of the connection at once, and then needs a moment to end the node.
    let there = || {
        let (sites, _) = talos::ask(&talos::Request::Status).expect("a harness that answers");
        let empty =
            sites.iter().find(|site| site.size == Size::NONE).expect("the site of machines");
        empty.nodes.iter().any(|node| node.name == name && node.address.to_string() == address)
    };
    for _ in 0..100 {
        if !there() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{name} is still there");
}

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn a_control_plane_comes_back_with_its_disk_after_a_power_cut() {
    let cluster = talos::cluster_alone(Size::FOUR);
    let node = &cluster.nodes[2];
    let before = voters(&cluster, node);
    cluster.power_off(node);
    assert!(!cluster.is_on(node));
    assert!(!talosctl(&cluster, &directly(node, &["version"])).status.success());
    cluster.power_on(node);
    let members = directly(node, &["etcd", "members"]);
    eventually("etcd answers", || talosctl(&cluster, &members).status.success());
    assert_eq!(voters(&cluster, node), before);
}

/// Makes a worker of a machine in maintenance, as somebody does who has the secrets of the cluster alone.
fn join(cluster: &Cluster, machine: &Node) {
    let files = tempfile::tempdir().expect("a directory");
    let config = files.path().join("worker.yaml").to_string_lossy().into_owned();
    let leader = format!("https://{}:6443", cluster.nodes[0].address);
    let secrets = cluster.secrets().to_string_lossy().into_owned();
    let patch = format!("@{}", cluster.patch(Role::Worker).display());
    let generate = ["gen", "config", "ichor-test", &leader, "--with-secrets", &secrets];
    let worker = ["--output-types", "worker", "--output", &config, "--config-patch", &patch];
    // In container mode Talos does not tell the discovery service that a node leaves: it would be a member for
    // half an hour.
    let unseen = ["--config-patch", "cluster: {discovery: {enabled: false}}"];
    text(&talosctl(cluster, &[&generate[..], &worker, &unseen].concat()));
    let endpoint = machine.endpoint.to_string();
    let apply = ["apply-config", "--insecure", "--nodes", &endpoint, "--file", &config];
    text(&talosctl(cluster, &apply));
    wait_until_well(cluster, machine);
}

/// Waits until a node answers with the certificates of the cluster, and Kubernetes may use it.
fn wait_until_well(cluster: &Cluster, node: &Node) {
    let version = directly(node, &["version"]);
    eventually("it is well", || {
        talosctl(cluster, &version).status.success()
            && kubernetes(cluster).get(&node.name) == Some(&Kubernetes::WELL)
    });
}

/// The members of the cluster, as a node sees it.
fn members(cluster: &Cluster, node: &Node) -> Vec<String> {
    let get = ["get", "members", "--output", "jsonpath={.metadata.id}", "--nodes"];
    let said = text(&talosctl(cluster, &[&get[..], &[&node.address.to_string()]].concat()));
    said.lines().map(str::to_owned).collect()
}

/// What Kubernetes thinks of its nodes.
fn kubernetes(cluster: &Cluster) -> BTreeMap<String, Kubernetes> {
    let columns = "custom-columns=NAME:.metadata.name,\
                   READY:.status.conditions[?(@.type==\"Ready\")].status,CLOSED:.spec.unschedulable";
    let said = kubectl(cluster, &["get", "nodes", "--no-headers", "--output", columns]);
    let nodes = said.lines().map(|line| {
        let [name, ready, closed] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("not three columns: {line}");
        };
        (name.to_owned(), Kubernetes { ready: ready == "True", closed: closed == "true" })
    });
    nodes.collect()
}

#[derive(Debug, Eq, PartialEq)]
struct Kubernetes {
    ready: bool,
    /// Nothing new may run there.
    closed: bool,
}

impl Kubernetes {
    const WELL: Self = Self { ready: true, closed: false };
}

/// The members of etcd that vote, as the etcd of a node sees it: their names and ids.
fn voters(cluster: &Cluster, node: &Node) -> BTreeMap<String, String> {
    let said = text(&talosctl(cluster, &directly(node, &["etcd", "members"])));
    let members = said.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let voters = members.filter(|columns| columns.last() == Some(&"false"));
    voters.map(|columns| (columns[2].to_owned(), columns[1].to_owned())).collect()
}

fn boot_id(cluster: &Cluster, node: &Node) -> String {
    text(&talosctl(cluster, &directly(node, &["read", "/proc/sys/kernel/random/boot_id"])))
}

/// Arguments for a node that is asked itself.
fn directly(node: &Node, arguments: &[&str]) -> Vec<String> {
    let [endpoint, address] = [node.endpoint, node.address].map(|address| address.to_string());
    let own = ["--endpoints".to_owned(), endpoint, "--nodes".to_owned(), address];
    arguments.iter().map(|argument| (*argument).to_owned()).chain(own).collect()
}

fn kubectl(cluster: &Cluster, arguments: &[&str]) -> String {
    let output = Command::new(peers::program("kubectl"))
        .arg("--kubeconfig")
        .arg(cluster.kubeconfig())
        .args(arguments)
        .output();
    text(&output.expect("a program that runs"))
}

fn talosctl(cluster: &Cluster, arguments: &[impl AsRef<OsStr>]) -> Output {
    Command::new(peers::program("talosctl-1.13.9"))
        .env("TALOSCONFIG", cluster.talosconfig())
        .args(arguments)
        .output()
        .expect("a program that runs")
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    // Several times what the slowest takes on a machine with two busy processors.
    let end = Instant::now() + Duration::from_mins(3);
    while !holds() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(500));
    }
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
