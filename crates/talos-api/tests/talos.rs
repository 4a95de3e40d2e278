//! Level `talos`: the client before real nodes, beside what talosctl says about the same nodes.

use std::future::Future;
use std::process::Command;
use std::time::Duration;

use talos_api::proto::machine::ResetRequest;
use talos_api::{Client, Fingerprint, Node, NodeError, Reason, each_node};
use talos_config::{Context, Source, Talosconfig};
use testkit::peers;
use testkit::talos::{self, Cluster, Size};

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn versions_are_what_talosctl_says() {
    let cluster = talos::cluster(Size::ONE);
    let ours = run(async {
        let nodes = nodes(&client(&cluster), &cluster);
        each_node(nodes, 4, |node| async move { version(&node).await }).await
    });
    assert_eq!(ours.len(), cluster.nodes.len());
    for (node, version) in cluster.nodes.iter().zip(ours) {
        let address = node.address.to_string();
        let said = talosctl(&cluster, &["--nodes", &address, "version"]);
        let (_, server) = said.split_once("Server:").expect("the server's part");
        let version = version.expect("a version");
        assert!(
            server.lines().any(|line| line.trim() == format!("Tag:         {version}")),
            "{said}"
        );
    }
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn resources_are_those_that_talosctl_gets() {
    let cluster = talos::cluster(Size::ONE);
    let address = cluster.nodes[0].address.to_string();
    for (namespace, kind) in [
        ("runtime", "Services.v1alpha1.talos.dev"),
        ("network", "AddressStatuses.net.talos.dev"),
        ("network", "HostnameStatuses.net.talos.dev"),
        ("meta", "Namespaces.meta.cosi.dev"),
        ("meta", "ResourceDefinitions.meta.cosi.dev"),
    ] {
        let form = ["--output", "jsonpath={.metadata.id}"];
        let get = ["--nodes", &address, "get", "--namespace", namespace, kind];
        let said = talosctl(&cluster, &[&get[..], &form].concat());
        let mut theirs: Vec<&str> = said.lines().collect();
        theirs.sort_unstable();
        let listed = run(async {
            let node = nodes(&client(&cluster), &cluster).remove(0);
            node.list_resources(namespace, kind).await
        });
        let ids = listed.expect("resources").into_iter();
        let mut ours: Vec<String> =
            ids.map(|resource| resource.metadata.expect("metadata").id).collect();
        ours.sort_unstable();
        assert_eq!(ours, theirs, "{kind}");
        assert!(!ours.is_empty(), "{kind}");
    }
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn the_next_endpoint_is_tried() {
    let cluster = talos::cluster(Size::ONE);
    let mut context = context(&cluster);
    context.endpoints.insert(0, "127.0.0.1:1".to_owned());
    run(async {
        let client = Client::new(&context).expect("a client");
        let node = client.node(&cluster.nodes[0].address.to_string(), DEADLINE).expect("a node");
        for _ in 0..3 {
            version(&node).await.expect("a version");
        }
    });
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn every_failure_has_its_reason() {
    let cluster = talos::cluster(Size::ONE);
    let address = cluster.nodes[0].address.to_string();
    let right = context(&cluster);

    let nobody = Context { endpoints: vec!["127.0.0.1:1".to_owned()], ..right.clone() };
    let nobody = reason(&nobody, &address);
    assert!(matches!(nobody, Reason::Unreachable(_)), "{nobody:?}");

    // Somebody else's authority, and somebody else's certificate.
    let other = other_cluster();
    let foreign = reason(&Context { ca: other.ca.clone(), ..right.clone() }, &address);
    assert!(matches!(foreign, Reason::Untrusted(_)), "{foreign:?}");
    let stranger = Context { ca: right.ca.clone(), endpoints: right.endpoints.clone(), ..other };
    let stranger = reason(&stranger, &address);
    assert!(matches!(stranger, Reason::Untrusted(_)), "{stranger:?}");

    let elsewhere = reason(&right, "127.99.99.99");
    assert!(matches!(elsewhere, Reason::Unreachable(_) | Reason::TimedOut(_)), "{elsewhere:?}");

    let missing = run(async {
        let node = nodes(&client(&cluster), &cluster).remove(0);
        node.list_resources("runtime", "Nothing.example.org").await.expect_err("no such type")
    });
    assert!(matches!(missing.reason, Reason::Denied(_)), "{missing}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_machine_in_maintenance_is_known_by_its_fingerprint() {
    let machine = talos::machine(Size::NONE);
    let endpoint = format!("{}:50000", machine.endpoint);
    let here = |fingerprints| {
        let client = Client::maintenance(&endpoint, fingerprints).expect("a client");
        client.here(&endpoint, DEADLINE)
    };
    let wrong =
        Fingerprint::parse("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").expect("32 bytes");
    run(async {
        let version_there = version(&here(Vec::new())).await.expect("a version");
        assert!(version_there.starts_with('v'), "{version_there}");
        let refused = version(&here(vec![wrong])).await.expect_err("another machine");
        assert!(matches!(refused.reason, Reason::Untrusted(_)), "{refused}");
        let node = here(Vec::new());
        let reset = node.call(node.machine().reset(ResetRequest::default())).await;
        let denied = reset.expect_err("not for everybody");
        assert!(matches!(denied.reason, Reason::Denied(_)), "{denied}");
    });
}

async fn version(node: &Node) -> Result<String, NodeError> {
    let mut machine = node.machine();
    let response = node.call(machine.version(())).await?;
    let version = response.messages.into_iter().next().and_then(|message| message.version);
    Ok(version.unwrap_or_default().tag)
}

fn reason(context: &Context, node: &str) -> Reason {
    run(async {
        let client = Client::new(context).expect("a client");
        let node = client.node(node, DEADLINE).expect("a node");
        version(&node).await.expect_err("a failure").reason
    })
}

fn client(cluster: &Cluster) -> Client {
    Client::new(&context(cluster)).expect("a client")
}

fn nodes(client: &Client, cluster: &Cluster) -> Vec<Node> {
    let addresses = cluster.nodes.iter().map(|node| node.address.to_string());
    addresses.map(|address| client.node(&address, DEADLINE).expect("a node")).collect()
}

fn context(cluster: &Cluster) -> Context {
    let text = fs_err::read_to_string(cluster.talosconfig()).expect("a talosconfig");
    current(&text)
}

/// A context of a cluster that does not exist.
fn other_cluster() -> Context {
    let directory = tempfile::tempdir().expect("a directory");
    let status = Command::new(peers::program("talosctl-1.13.9"))
        .args(["gen", "config", "other", "https://127.0.0.1:6443", "--output-types", "talosconfig"])
        .args(["--output", "talosconfig"])
        .current_dir(directory.path())
        .output()
        .expect("talosctl")
        .status;
    assert!(status.success());
    current(&fs_err::read_to_string(directory.path().join("talosconfig")).expect("a talosconfig"))
}

fn current(text: &str) -> Context {
    let config = Talosconfig::parse(text, Source(1)).expect("a talosconfig");
    config.context(config.current()).expect("a context")
}

fn talosctl(cluster: &Cluster, arguments: &[&str]) -> String {
    let output = Command::new(peers::program("talosctl-1.13.9"))
        .arg("--talosconfig")
        .arg(cluster.talosconfig())
        .args(arguments)
        .output()
        .expect("talosctl");
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "talosctl {arguments:?}: {complained}");
    String::from_utf8(output.stdout).expect("text")
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

const DEADLINE: Duration = Duration::from_secs(10);
