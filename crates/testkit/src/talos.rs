//! Real Talos nodes for tests of level `talos`.
//!
//! The nodes are run by a harness outside of the tests, which `cargo xtask test` starts for the level and
//! `cargo xtask talos up` for a person; one of its clusters serves all tests of a run. This is how a test asks for
//! them. What it was given it has until the value is dropped, or until the test is killed: the harness sees the
//! connection end. How the nodes are made is in docs/dev/talos-harness.md.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::net::Ipv4Addr;
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::peers;

pub use crate::peers::{NODES_KUBERNETES, NODES_TALOS};

/// How many nodes a cluster has. There is one cluster of each size at most.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Size {
    /// Nodes that run etcd and the control plane of Kubernetes.
    pub control_planes: u8,
    /// Nodes that do not.
    pub workers: u8,
}

impl Size {
    /// A network without a cluster, for machines of its own.
    pub const NONE: Self = Self { control_planes: 0, workers: 0 };
    /// The smallest cluster.
    pub const ONE: Self = Self { control_planes: 1, workers: 0 };
    /// The smallest cluster that can lose a node, and a worker.
    pub const FOUR: Self = Self { control_planes: 3, workers: 1 };
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.control_planes, self.workers)
    }
}

/// Nodes in one network, and what belongs to their cluster.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Site {
    /// The size of the cluster, without machines that were added.
    pub size: Size,
    /// Where its files are.
    pub directory: PathBuf,
    /// Its network namespace, to be entered by root.
    pub network: PathBuf,
    /// Its nodes: first the control planes, then the workers, then machines that were added.
    pub nodes: Vec<Node>,
}

impl Site {
    /// The client's configuration of an administrator; its endpoints are loopback addresses.
    pub fn talosconfig(&self) -> PathBuf {
        self.directory.join("talosconfig")
    }

    /// Kubernetes' counterpart, with a loopback address too.
    pub fn kubeconfig(&self) -> PathBuf {
        self.directory.join("kubeconfig")
    }

    /// The secrets that the cluster was made from, as `talosctl gen secrets` writes them.
    pub fn secrets(&self) -> PathBuf {
        self.directory.join("secrets.yaml")
    }

    /// The machine configuration for a role, as `talosctl gen config` wrote it for this cluster.
    ///
    /// # Panics
    /// For a machine in maintenance: it has none.
    pub fn config(&self, role: Role) -> PathBuf {
        match role {
            Role::ControlPlane => self.directory.join("controlplane.yaml"),
            Role::Worker => self.directory.join("worker.yaml"),
            Role::Machine => panic!("a machine in maintenance has no configuration"),
        }
    }

    /// What a configuration must also say for nodes of the harness: where images and peers are, and what is not there.
    /// Those of a worker apply to all nodes, those of a control plane come on top.
    ///
    /// # Panics
    /// For a machine in maintenance: it has none.
    pub fn patch(&self, role: Role) -> PathBuf {
        match role {
            Role::ControlPlane => self.directory.join("patch-control-plane.yaml"),
            Role::Worker => self.directory.join("patch.yaml"),
            Role::Machine => panic!("a machine in maintenance has no configuration"),
        }
    }

    /// The text of the patch for a cluster that names its machines itself: the harness leaves names to them.
    ///
    /// # Panics
    /// As [`patch`](Self::patch) does, and when the file cannot be read.
    pub fn patch_without_name(&self, role: Role) -> String {
        let text = fs_err::read_to_string(self.patch(role)).expect("a patch of the harness");
        text.split("\n---\n").next().unwrap_or_default().to_owned()
    }
}

/// One real Talos node.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Node {
    /// Its host name.
    pub name: String,
    /// What it was made for.
    pub role: Role,
    /// Its address in the network of the site: what `--nodes` takes.
    pub address: Ipv4Addr,
    /// The address on which it is reached from here, with the ports of Talos (50000) and of Kubernetes (6443). A
    /// connection to a node that is off is accepted and ended.
    pub endpoint: Ipv4Addr,
    /// Whether it is on.
    pub running: bool,
    /// How many bytes its processes use, pages of files left out.
    pub memory: u64,
}

/// What a node was made for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Role {
    /// Part of the cluster, with etcd.
    ControlPlane,
    /// Part of the cluster.
    Worker,
    /// Without a configuration, to do with as one likes.
    Machine,
}

/// A running cluster, for as long as this lives.
#[derive(Debug)]
pub struct Cluster {
    site: Site,
    _connection: Connection,
}

impl Cluster {
    /// Ends a node at once, as a power cut would.
    ///
    /// # Panics
    /// When the harness cannot.
    pub fn power_off(&self, node: &Node) {
        power(self.size, node, false);
    }

    /// Starts a node that is off, with what is on its disk.
    ///
    /// # Panics
    /// When the harness cannot.
    pub fn power_on(&self, node: &Node) {
        power(self.size, node, true);
    }

    /// Whether a node is on now. One that reboots is off for a moment.
    ///
    /// # Panics
    /// When the harness does not know.
    pub fn is_on(&self, node: &Node) -> bool {
        is_on(self.size, node)
    }
}

impl Deref for Cluster {
    type Target = Site;

    fn deref(&self) -> &Site {
        &self.site
    }
}

/// A fresh node in maintenance. It is taken away with everything on its disk when this is dropped.
#[derive(Debug)]
pub struct Machine {
    node: Node,
    /// The network that it is in, without other nodes.
    site: Site,
    _connection: Connection,
}

impl Machine {
    /// The network that it is in, and what a configuration must say there.
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Ends it at once, as a power cut would.
    ///
    /// # Panics
    /// When the harness cannot.
    pub fn power_off(&self) {
        power(self.site.size, self, false);
    }

    /// Starts it when it is off, with what is on its disk.
    ///
    /// # Panics
    /// When the harness cannot.
    pub fn power_on(&self) {
        power(self.site.size, self, true);
    }

    /// Lets it start with an empty disk the next time: what a reset does to a machine, and container mode leaves out.
    ///
    /// # Panics
    /// When the harness cannot.
    pub fn wipe_at_next_start(&self) {
        self.wipe("");
    }

    /// Lets it start without the data of its etcd the next time, and with everything else.
    ///
    /// # Panics
    /// When the harness cannot.
    pub fn lose_etcd_at_next_start(&self) {
        self.wipe("var/lib/etcd");
    }

    fn wipe(&self, folder: &str) {
        let (size, node, folder) = (self.site.size, self.name.clone(), folder.to_owned());
        let request = Request::Wipe { size, node, folder };
        ask(&request).unwrap_or_else(|error| panic!("{}: {error}", self.name));
    }

    /// Whether it is on now. While it reboots it is off for a moment.
    ///
    /// # Panics
    /// When the harness does not know.
    pub fn is_on(&self) -> bool {
        is_on(self.site.size, self)
    }
}

impl Deref for Machine {
    type Target = Node;

    fn deref(&self) -> &Node {
        &self.node
    }
}

/// A running cluster that other tests use at the same time: for tests that leave it as it is.
///
/// # Panics
/// When there is no harness, saying how to start one, or when the cluster could not be made.
pub fn cluster(size: Size) -> Cluster {
    get_cluster(size, false)
}

/// A running cluster that no other test uses meanwhile. Its nodes may be restarted or off afterwards: whoever gets it next
/// waits until they are well. What makes it another cluster has to be undone.
///
/// # Panics
/// As [`cluster`] does.
pub fn cluster_alone(size: Size) -> Cluster {
    get_cluster(size, true)
}

/// A machine in maintenance, in the network of the cluster of that size, so that it can join it.
///
/// # Panics
/// When there is no harness, saying how to start one, or when the machine did not start.
pub fn machine(size: Size) -> Machine {
    let (mut site, connection) = expect(&Request::Machine { size, keep: false });
    Machine { node: site.nodes.remove(0), site, _connection: connection }
}

fn power(size: Size, node: &Node, on: bool) {
    let request = Request::Power { size, node: node.name.clone(), on };
    ask(&request).unwrap_or_else(|error| panic!("{}: {error}", node.name));
}

fn is_on(size: Size, node: &Node) -> bool {
    let (sites, _) = ask(&Request::Status).unwrap_or_else(|error| panic!("{error}"));
    let nodes = sites.into_iter().filter(|site| site.size == size).flat_map(|site| site.nodes);
    let found = nodes.into_iter().find(|known| known.name == node.name);
    found.unwrap_or_else(|| panic!("{} has no node {}", size, node.name)).running
}

fn get_cluster(size: Size, alone: bool) -> Cluster {
    let (site, connection) = expect(&Request::Cluster { size, alone });
    Cluster { site, _connection: connection }
}

fn expect(request: &Request) -> (Site, Connection) {
    match ask(request) {
        Ok((mut sites, connection)) => (sites.remove(0), connection),
        Err(error) => panic!("{error}"),
    }
}

/// What the harness is asked, as one line of JSON.
#[derive(Debug, Deserialize, Serialize)]
pub enum Request {
    /// A running cluster until the connection ends; made when there is none of that size.
    Cluster {
        /// Its size.
        size: Size,
        /// Whether nobody else may use it meanwhile.
        alone: bool,
    },
    /// A fresh machine in maintenance.
    Machine {
        /// The cluster in whose network it is to be.
        size: Size,
        /// Whether it stays when the connection ends.
        keep: bool,
    },
    /// Switches a node on or off.
    Power {
        /// The cluster that it belongs to.
        size: Size,
        /// Its name.
        node: String,
        /// Which of the two.
        on: bool,
    },
    /// Lets a node start with an empty folder of its disk the next time.
    Wipe {
        /// The cluster that it belongs to.
        size: Size,
        /// Its name.
        node: String,
        /// Relative to the disk; empty for all of it.
        folder: String,
    },
    /// What there is.
    Status,
    /// Ends everything.
    Stop,
}

/// What the harness answers, as one line of JSON: the sites that the request was about.
pub type Answer = Result<Vec<Site>, String>;

/// An open connection to the harness, which holds what was asked for.
pub type Connection = BufReader<UnixStream>;

/// Why the harness did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nobody listens.
    #[error(
        "no Talos nodes are running ({0}); `cargo xtask test --only talos` starts them, \
         or `cargo xtask talos up 1 0` for a while"
    )]
    NoHarness(io::Error),
    /// It tried and failed.
    #[error("the harness of Talos nodes: {0}")]
    Refused(String),
}

/// Asks the harness, and waits for as long as it takes.
pub fn ask(request: &Request) -> Result<(Vec<Site>, Connection), Error> {
    ask_at(&directory(), request)
}

/// Asks the harness that lives in a directory.
pub fn ask_at(directory: &Path, request: &Request) -> Result<(Vec<Site>, Connection), Error> {
    let stream = UnixStream::connect(socket(directory)).map_err(Error::NoHarness)?;
    let mut connection = BufReader::new(stream);
    let answer: Answer =
        exchange(&mut connection, request).map_err(|error| Error::Refused(error.to_string()))?;
    answer.map(|sites| (sites, connection)).map_err(Error::Refused)
}

fn exchange(connection: &mut Connection, request: &Request) -> io::Result<Answer> {
    let line = serde_json::to_string(request)? + "\n";
    connection.get_mut().write_all(line.as_bytes())?;
    let mut line = String::new();
    connection.read_line(&mut line)?;
    if line.is_empty() {
        return Err(io::Error::other("it ended before it answered"));
    }
    Ok(serde_json::from_str(&line)?)
}

/// Where a harness listens that lives in a directory.
pub fn socket(directory: &Path) -> PathBuf {
    directory.join("socket")
}

/// The variable that tells where the harness lives that is asked: a folder in [`homes`].
pub const VARIABLE: &str = "ICHOR_TALOS";

/// Where the harness lives that is asked: that of the test run, one that was chosen, or a person's.
pub fn directory() -> PathBuf {
    std::env::var_os(VARIABLE).map_or_else(|| homes().join("person"), PathBuf::from)
}

/// Where all of them live.
pub fn homes() -> PathBuf {
    peers::cache().join("talos/run")
}
