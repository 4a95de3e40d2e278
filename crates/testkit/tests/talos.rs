//! Level `talos`: the harness of real Talos nodes does what tests build on.

#![expect(clippy::disallowed_methods, reason = "tests of processes: they wait for real ones")]

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use testkit::peers;
use testkit::talos::{self, Role, Size};

#[test]
#[ignore = "level talos: needs real Talos nodes (cargo xtask test)"]
fn a_cluster_answers_on_its_loopback_address() {
    let cluster = talos::cluster(Size::ONE);
    let [node] = cluster.nodes.as_slice() else { panic!("not one node: {:?}", cluster.nodes) };
    assert_eq!(node.role, Role::ControlPlane);
    assert!(node.endpoint.is_loopback());

    let said = text(&talosctl(&cluster, &["version", "--short"]));
    assert!(said.matches("v1.13.9").count() >= 2, "client and server: {said}");
    let members =
        text(&talosctl(&cluster, &["get", "members", "--output", "jsonpath={.metadata.id}"]));
    assert_eq!(members.trim(), node.name);
    assert!(cluster.secrets().is_file());

    let kubectl = Command::new(peers::program("kubectl"))
        .arg("--kubeconfig")
        .arg(cluster.kubeconfig())
        .args(["get", "nodes", "--output", "jsonpath={.items[*].metadata.name}"])
        .output()
        .expect("a program that runs");
    assert_eq!(text(&kubectl), node.name);
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
fn a_node_comes_back_with_its_disk_after_a_power_cut() {
    let cluster = talos::cluster_alone(Size::ONE);
    let node = &cluster.nodes[0];
    let members = || talosctl(&cluster, &["etcd", "members", "--nodes", &node.address.to_string()]);
    let before = text(&members());
    cluster.power_off(node);
    assert!(!talosctl(&cluster, &["version", "--short"]).status.success());
    cluster.power_on(node);

    let end = Instant::now() + Duration::from_mins(3);
    let mut now = members();
    while !now.status.success() && Instant::now() < end {
        std::thread::sleep(Duration::from_secs(1));
        now = members();
    }
    assert_eq!(text(&now), before);
}

fn talosctl(cluster: &talos::Cluster, arguments: &[&str]) -> Output {
    Command::new(peers::program("talosctl-1.13.9"))
        .env("TALOSCONFIG", cluster.talosconfig())
        .args(arguments)
        .output()
        .expect("a program that runs")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
