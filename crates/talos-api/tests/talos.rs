//! Level `talos`: the client before real nodes, beside what talosctl says about the same nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use talos_api::proto::cosi::Resource;
use talos_api::proto::definitions::v1alpha1::ServiceSpec;
use talos_api::proto::machine::machine_status_event::MachineStage;
use talos_api::proto::machine::{Event, RebootRequest, ResetRequest, sequence_event};
use talos_api::resource::Spec;
use talos_api::{
    CallError, Client, EventPayload, Fingerprint, Node, NodeError, Selection, Since, StreamEvent,
    WatchEvent, each_node,
};
use talos_config::{Context, SourceId, Talosconfig};
use testkit::peers;
use testkit::talos::{self, Cluster, Size};
use tokio::sync::mpsc;
use tokio::time::timeout;

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
    assert!(matches!(nobody, CallError::Unreachable(_)), "{nobody:?}");

    // Somebody else's authority, and somebody else's certificate.
    let other = other_cluster();
    let foreign = reason(&Context { ca: other.ca.clone(), ..right.clone() }, &address);
    assert!(matches!(foreign, CallError::Untrusted(_)), "{foreign:?}");
    let stranger = Context { ca: right.ca.clone(), endpoints: right.endpoints.clone(), ..other };
    // The machine says why and hangs up; now and then the connection is gone before that is read.
    let reasons: Vec<CallError> = (0..5).map(|_| reason(&stranger, &address)).collect();
    assert!(reasons.iter().any(|reason| matches!(reason, CallError::Untrusted(_))), "{reasons:?}");
    assert!(
        reasons
            .iter()
            .all(|reason| matches!(reason, CallError::Untrusted(_) | CallError::Unreachable(_))),
        "{reasons:?}"
    );

    let elsewhere = reason(&right, "127.99.99.99");
    assert!(
        matches!(elsewhere, CallError::Unreachable(_) | CallError::TimedOut(_)),
        "{elsewhere:?}"
    );

    let missing = run(async {
        let node = nodes(&client(&cluster), &cluster).remove(0);
        node.list_resources("runtime", "Nothing.example.org").await.expect_err("no such type")
    });
    assert!(matches!(missing.reason, CallError::Unsupported(_)), "{missing}");
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn a_machine_in_maintenance_is_known_by_its_fingerprint() {
    let machine = talos::machine(Size::NONE);
    let endpoint = format!("{}:50000", machine.endpoint);
    let here = |fingerprints| {
        let client = Client::maintenance(&endpoint, fingerprints).expect("a client");
        client.direct(&endpoint, DEADLINE)
    };
    let wrong =
        Fingerprint::parse("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").expect("32 bytes");
    run(async {
        let version_there = version(&here(Vec::new())).await.expect("a version");
        assert!(version_there.starts_with('v'), "{version_there}");
        let refused = version(&here(vec![wrong])).await.expect_err("another machine");
        assert_eq!(refused.reason, CallError::OtherFingerprint, "{refused}");
        let node = here(Vec::new());
        let reset = node.call(node.machine().reset(ResetRequest::default())).await;
        let denied = reset.expect_err("not for everybody");
        assert!(matches!(denied.reason, CallError::Denied(_)), "{denied}");
    });
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn watches_and_events_go_on_after_a_reboot() {
    let cluster = talos::cluster_alone(Size::ONE);
    run(async {
        let node = nodes(&client(&cluster), &cluster).remove(0);
        let boot = node.boot_id().await.expect("a boot id");
        let mut told = follow(&node);
        let (mut services, mut history) = (Services::default(), History::default());
        // Both streams have begun when each has told what there is.
        while services.settled == 0 || history.ids.is_empty() {
            take(&mut told, &mut services, &mut history).await;
        }
        assert_eq!(services.known, states(&node).await);

        node.call(node.machine().reboot(RebootRequest::default())).await.expect("a reboot");
        while !history.is_running {
            take(&mut told, &mut services, &mut history).await;
        }
        assert_ne!(node.boot_id().await.expect("a boot id"), boot);
        assert!(services.interrupted > 0 && history.interrupted > 0);
        assert!(history.has_rebooted && history.has_booted);
        assert!(services.settled > 1 && services.is_new);

        // Nothing of what the machine remembers of this boot was missed.
        for id in remembered(&node).await {
            while !history.ids.contains(&id) {
                take(&mut told, &mut services, &mut history).await;
            }
        }
        // Nor is anything known of services that is not so. They may still change while they are looked at.
        while services.known != states(&node).await {
            take(&mut told, &mut services, &mut history).await;
        }
    });
}

#[test]
#[ignore = "level talos: needs real nodes (cargo xtask test)"]
fn nothing_is_told_again_when_a_connection_is_cut() {
    let cluster = talos::cluster(Size::ONE);
    let line = Line::to((cluster.nodes[0].endpoint, 50000).into());
    let context = Context { endpoints: vec![line.address.to_string()], ..context(&cluster) };
    run(async {
        let client = Client::new(&context).expect("a client");
        let node = client.node(&cluster.nodes[0].address.to_string(), DEADLINE).expect("a node");
        let mut told = follow(&node);
        let (mut services, mut history) = (Services::default(), History::default());
        while services.settled == 0 || history.ids.is_empty() {
            take(&mut told, &mut services, &mut history).await;
        }
        for cuts in 1..=3 {
            line.cut();
            while services.settled <= cuts || history.interrupted < cuts {
                take(&mut told, &mut services, &mut history).await;
            }
            assert_eq!(services.interrupted, cuts);
        }
        // What would be told again is told at once.
        while let Ok(what) = timeout(Duration::from_secs(3), told.recv()).await {
            match what.expect("a stream") {
                Told::Change(change) => services.take(change),
                Told::Event(event) => history.take(event),
            }
        }
        assert_eq!(services.known, states(&node).await);
        assert!(!services.is_new);
    });
}

/// A way to a machine that can be cut.
struct Line {
    address: SocketAddr,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Line {
    fn to(machine: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let connections = Arc::new(Mutex::new(Vec::new()));
        let open = Arc::clone(&connections);
        thread::spawn(move || {
            for near in listener.incoming() {
                let near = near.expect("a connection");
                let far = TcpStream::connect(machine).expect("the machine");
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let mut from = from.try_clone().expect("a connection");
                    let mut to = to.try_clone().expect("a connection");
                    thread::spawn(move || {
                        // Whichever side ends, the other one has to know.
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
                open.lock().expect("no panic").extend([near, far]);
            }
        });
        Self { address, connections }
    }

    fn cut(&self) {
        for connection in self.connections.lock().expect("no panic").drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

/// Something that one of the two streams told.
enum Told {
    Change(WatchEvent),
    Event(StreamEvent),
}

/// Follows services and events at the same time.
fn follow(node: &Node) -> mpsc::Receiver<Told> {
    let (sender, told) = mpsc::channel(1000);
    let mut watch = node.watch(Selection {
        namespace: ServiceSpec::NAMESPACE.to_owned(),
        kind: ServiceSpec::TYPE.to_owned(),
        id: None,
    });
    let changes = sender.clone();
    tokio::spawn(async move {
        loop {
            let change = watch.next().await.expect("a change");
            if changes.send(Told::Change(change)).await.is_err() {
                return;
            }
        }
    });
    let mut events = node.events(Since::Last(1), "");
    tokio::spawn(async move {
        loop {
            let event = events.next().await.expect("an event");
            if sender.send(Told::Event(event)).await.is_err() {
                return;
            }
        }
    });
    told
}

async fn take(told: &mut mpsc::Receiver<Told>, services: &mut Services, history: &mut History) {
    match timeout(REBOOT, told.recv()).await.expect("something happens").expect("a stream") {
        Told::Change(change) => services.take(change),
        Told::Event(event) => history.take(event),
    }
}

/// What a listener knows of services, by what it was told.
#[derive(Default)]
struct Services {
    known: BTreeMap<String, State>,
    interrupted: usize,
    settled: usize,
    /// Whether something of another boot is known.
    is_new: bool,
}

/// A version, and when the resource was created and updated.
type State = (String, Option<(i64, i32)>, Option<(i64, i32)>);

impl Services {
    /// Fails when something is told twice, or not told before.
    fn take(&mut self, change: WatchEvent) {
        match change {
            WatchEvent::Created(resource) => {
                let (id, state) = state(&resource);
                assert!(self.known.insert(id.clone(), state).is_none(), "{id} was there");
            }
            WatchEvent::Updated(resource) => {
                let (id, state) = state(&resource);
                let before = self.known.insert(id.clone(), state.clone());
                let before = before.unwrap_or_else(|| panic!("{id} was not there"));
                assert_ne!(before, state, "{id} has not changed");
                self.is_new |= self.interrupted > 0 && before.1 != state.1;
            }
            WatchEvent::Destroyed(resource) => {
                let id = resource.metadata.unwrap_or_default().id;
                assert!(self.known.remove(&id).is_some(), "{id} was not there");
            }
            WatchEvent::Bootstrapped => self.settled += 1,
            WatchEvent::Interrupted(_) => self.interrupted += 1,
        }
    }
}

/// What a listener knows of events.
#[derive(Default)]
struct History {
    ids: BTreeSet<String>,
    interrupted: usize,
    has_rebooted: bool,
    has_booted: bool,
    is_running: bool,
}

impl History {
    /// Fails when an event is told twice.
    fn take(&mut self, followed: StreamEvent) {
        let Event { id, data, .. } = match followed {
            StreamEvent::Event(event) => event,
            StreamEvent::Interrupted(_) => {
                self.interrupted += 1;
                return;
            }
        };
        assert!(self.ids.insert(id.clone()), "{id} was told before");
        let began = |event: &talos_api::proto::machine::SequenceEvent, name: &str| {
            event.sequence == name && event.action() == sequence_event::Action::Start
        };
        match EventPayload::decode(&data.expect("data")).expect("no greeting") {
            EventPayload::Sequence(event) if self.interrupted == 0 => {
                self.has_rebooted |= began(&event, "reboot");
            }
            EventPayload::Sequence(event) => self.has_booted |= began(&event, "boot"),
            EventPayload::MachineStatus(event) if self.interrupted > 0 => {
                let is_ready = event.status.as_ref().is_some_and(|status| status.ready);
                self.is_running = event.stage() == MachineStage::Running && is_ready;
            }
            _ => {}
        }
    }
}

/// The services as they are.
async fn states(node: &Node) -> BTreeMap<String, State> {
    let listed = node.list_resources(ServiceSpec::NAMESPACE, ServiceSpec::TYPE).await;
    listed.expect("services").iter().map(state).collect()
}

fn state(resource: &Resource) -> (String, State) {
    let metadata = resource.metadata.clone().expect("metadata");
    let created = metadata.created.map(|at| (at.seconds, at.nanos));
    let updated = metadata.updated.map(|at| (at.seconds, at.nanos));
    (metadata.id, (metadata.version, created, updated))
}

/// The ids of the events that the machine remembers.
async fn remembered(node: &Node) -> Vec<String> {
    let mut events = node.events(Since::Last(-1), "");
    let mut ids = Vec::new();
    // It tells them at once, and then what comes.
    while let Ok(followed) = timeout(Duration::from_secs(2), events.next()).await {
        match followed.expect("an event") {
            StreamEvent::Event(event) => ids.push(event.id),
            StreamEvent::Interrupted(error) => panic!("{error}"),
        }
    }
    assert!(!ids.is_empty());
    ids
}

async fn version(node: &Node) -> Result<String, NodeError> {
    let mut machine = node.machine();
    let response = node.call(machine.version(())).await?;
    let version = response.messages.into_iter().next().and_then(|message| message.version);
    Ok(version.unwrap_or_default().tag)
}

fn reason(context: &Context, node: &str) -> CallError {
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
    let config = Talosconfig::parse(text, SourceId(1)).expect("a talosconfig");
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
/// In which a machine that reboots says something again.
const REBOOT: Duration = Duration::from_mins(2);
