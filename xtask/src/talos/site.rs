//! A site: one network namespace with a bridge, on it the nodes, the registry of images and the discovery service, and
//! the loopback addresses through which the nodes are reached from outside.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, mpsc};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow, bail};
use fs_err::File;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testkit::peers;
use testkit::talos::{self, Role, Size};

use super::cgroup::Groups;
use super::init::{self, Boot};
use super::parts::Parts;
use super::{forward, registry};
use crate::output;

pub(super) struct Site {
    pub(super) size: Size,
    pub(super) directory: PathBuf,
    /// Held by whoever uses the cluster: shared, or alone.
    pub(super) users: RwLock<()>,
    /// Whether the cluster was made, or why it could not.
    pub(super) made: Mutex<Option<Result<(), String>>>,
    parts: Parts,
    groups: Arc<Groups>,
    network: Arc<File>,
    /// The third number of the loopback addresses.
    block: u8,
    discovery: Process,
    nodes: Mutex<BTreeMap<u8, Node>>,
}

struct Node {
    role: Role,
    process: Process,
}

impl Site {
    pub(super) fn start(
        size: Size,
        home: &Path,
        parts: Parts,
        groups: Arc<Groups>,
    ) -> Result<Self> {
        let directory = home.join(size.to_string());
        fs_err::create_dir_all(&directory)?;
        let (block, listeners) = lease()?;
        let (network, images, inside) = in_thread(move || {
            unshare(CloneFlags::CLONE_NEWNET)?;
            init::ip(&format!(
                "link set lo up\nlink add br0 type bridge\naddr add {GATEWAY}/24 dev br0\nlink set br0 up\n"
            ))?;
            let network = File::open("/proc/thread-self/ns/net")?;
            Ok((network, TcpListener::bind((GATEWAY, REGISTRY_PORT))?, listen(block)?))
        })?;
        let network = Arc::new(network);
        registry::serve(images, parts.registry());
        // The same addresses work on both sides, so that one set of credentials does.
        for (listener, node) in listeners.into_iter().chain(inside) {
            forward::serve(listener, Arc::clone(&network), node);
        }
        let log = File::create(directory.join("discovery.log"))?;
        let discovery = Process::start(&network, move |run| {
            let mut command = super::own("tied", &std::process::id())?;
            command
                .arg(peers::program("discovery-service"))
                .args(["-addr", &format!("{GATEWAY}:{DISCOVERY_PORT}")])
                .args(["-landing-addr=", "-metrics-addr=", "-snapshots-enabled=false"])
                .stdin(Stdio::null())
                .stdout(log.file().try_clone()?)
                .stderr(log.into_parts().0);
            run.child(command.spawn()?)?;
            Ok(())
        })?;
        Ok(Self {
            size,
            directory,
            users: RwLock::default(),
            made: Mutex::default(),
            parts,
            groups,
            network,
            block,
            discovery,
            nodes: Mutex::default(),
        })
    }

    /// Adds a node without configuration and starts it.
    pub(super) fn add(&self, role: Role) -> Result<talos::Node> {
        let mut nodes = self.nodes();
        let number = (1..=NODES).find(|number| !nodes.contains_key(number));
        let number = number.with_context(|| format!("there are {NODES} nodes at most"))?;
        let process = self.boot(number)?;
        let node = nodes.entry(number).insert_entry(Node { role, process });
        Ok(self.describe(number, node.get()))
    }

    /// Ends a node and forgets it with its disk.
    pub(super) fn remove(&self, name: &str) -> Result<()> {
        // Held to the end: the next node may get the number, and must not find anything of this one.
        let mut nodes = self.nodes();
        let number = self.find(&nodes, name)?;
        let node = nodes.remove(&number).context("a node that was just found")?;
        node.process.stop();
        fs_err::remove_dir_all(self.directory_of(number))?;
        Ok(())
    }

    pub(super) fn power(&self, name: &str, on: bool) -> Result<()> {
        let mut nodes = self.nodes();
        let number = self.find(&nodes, name)?;
        let node = nodes.get_mut(&number).context("a node that was just found")?;
        if !on {
            node.process.stop();
        } else if node.process.running().is_none() {
            node.process = self.boot(number)?;
        }
        Ok(())
    }

    pub(super) fn stop(&self) {
        for node in self.nodes().values() {
            node.process.stop();
        }
        self.discovery.stop();
    }

    /// What tests are told.
    pub(super) fn status(&self) -> talos::Site {
        talos::Site {
            size: self.size,
            directory: self.directory.clone(),
            network: PathBuf::from(format!(
                "/proc/{}/fd/{}",
                std::process::id(),
                self.network.as_raw_fd()
            )),
            nodes: self.nodes().iter().map(|(number, node)| self.describe(*number, node)).collect(),
        }
    }

    /// Lets a node start with an empty folder of its disk the next time.
    pub(super) fn wipe(&self, wanted: &str, folder: &str) -> Result<()> {
        let number = self.find(&self.nodes(), wanted)?;
        fs_err::write(self.directory_of(number).join(init::WIPE), folder)?;
        Ok(())
    }

    /// The loopback addresses of all nodes that there can be.
    pub(super) fn endpoints(&self) -> Vec<Ipv4Addr> {
        (1..=NODES).map(|number| endpoint(self.block, number)).collect()
    }

    fn describe(&self, number: u8, node: &Node) -> talos::Node {
        talos::Node {
            name: name(number),
            role: node.role,
            address: address(number),
            endpoint: endpoint(self.block, number),
            running: node.process.running().is_some(),
            memory: self.groups.memory(&self.group(number)),
        }
    }

    /// Starts a node, and starts it again whenever it asks for that.
    fn boot(&self, number: u8) -> Result<Process> {
        let directory = self.directory_of(number);
        fs_err::create_dir_all(&directory)?;
        let log = directory.join("console.log");
        let console = fs_err::OpenOptions::new().create(true).append(true).open(&log)?;
        let group = self.group(number);
        let boot = Boot {
            name: name(number),
            number,
            address: address(number),
            gateway: GATEWAY,
            root: self.parts.root(),
            directory,
            groups: self.groups.add(&group)?,
            parent: std::process::id().cast_signed(),
        };
        let groups = Arc::clone(&self.groups);
        Process::start(&self.network, move |run| {
            loop {
                groups.add(&group)?;
                let ended = boot_once(&boot, &console, &groups, run);
                groups.remove(&group);
                match ended?.code() {
                    Some(RESTART) => {}
                    Some(NOT_STARTED) => bail!("{} did not start: {}", boot.name, last_lines(&log)),
                    _ => return Ok(()),
                }
            }
        })
    }

    fn find(&self, nodes: &BTreeMap<u8, Node>, wanted: &str) -> Result<u8> {
        let number = nodes.keys().copied().find(|number| name(*number) == wanted);
        number.with_context(|| format!("no node of {} is called {wanted:?}", self.size))
    }

    fn nodes(&self) -> MutexGuard<'_, BTreeMap<u8, Node>> {
        self.nodes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn directory_of(&self, number: u8) -> PathBuf {
        self.directory.join(name(number))
    }

    fn group(&self, number: u8) -> String {
        format!("{}-{}", self.size, name(number))
    }
}

/// One start of a node, from its first process to its last.
fn boot_once(boot: &Boot, console: &File, groups: &Groups, run: &Run) -> Result<ExitStatus> {
    let mut keeper = super::own("keep", boot)?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(console.file().try_clone()?)
        .spawn()?;
    let mut first = String::new();
    BufReader::new(keeper.stdout.take().context("a pipe from the keeper")?)
        .read_line(&mut first)?;
    let Ok(first) = first.trim().parse() else {
        bail!("the keeper of {} ended: {}", boot.name, keeper.wait()?);
    };
    groups.keep(keeper.id())?;
    // The kernel takes the end of an earlier start away when it finds time.
    let end = format!("v{}", boot.number);
    Command::new("ip").args(["link", "del", &end]).stderr(Stdio::null()).status()?;
    init::ip(&format!(
        "link add {end} type veth peer name eth0 netns {first}\nlink set {end} master br0 up\n"
    ))?;
    keeper.stdin.take().context("a pipe to the node")?.write_all(init::GO)?;
    run.wait(keeper, first)
}

/// The end of a node's console, as one line.
fn last_lines(log: &Path) -> String {
    let text = fs_err::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().rev().take(5).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" | ")
}

/// A process that is watched over by a thread of its own, in the network of a site. The kernel ends it with that thread.
struct Process {
    running: Arc<Mutex<Option<Pid>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the watching thread has in hand.
struct Run {
    running: Arc<Mutex<Option<Pid>>>,
    started: mpsc::Sender<Result<()>>,
}

impl Process {
    /// Starts it, and gives it back once it runs.
    fn start(
        network: &Arc<File>,
        work: impl FnOnce(&Run) -> Result<()> + Send + 'static,
    ) -> Result<Self> {
        let running = Arc::new(Mutex::new(None));
        let (sender, started) = mpsc::channel();
        let run = Run { running: Arc::clone(&running), started: sender };
        let network = Arc::clone(network);
        let thread = thread::spawn(move || {
            let done = setns(&*network, CloneFlags::CLONE_NEWNET)
                .map_err(anyhow::Error::from)
                .and_then(|()| work(&run));
            // Once it has started nothing receives a failure any more: tests see a node that is off, so the reason is printed.
            if let Err(error) = &done {
                output::progress(&format!("harness: {error:#}"));
            }
            run.started.send(done).ok();
        });
        started.recv()??;
        Ok(Self { running, thread: Mutex::new(Some(thread)) })
    }

    /// Ends it and waits until it has ended.
    fn stop(&self) {
        if let Some(pid) = self.running() {
            // It may have ended by itself.
            kill(pid, Signal::SIGKILL).ok();
        }
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            thread.join().ok();
        }
    }

    fn running(&self) -> Option<Pid> {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    fn child(&self, child: Child) -> Result<ExitStatus> {
        let pid = child.id().cast_signed();
        self.wait(child, pid)
    }

    /// Waits for a child, while another process under it is the one to end.
    fn wait(&self, mut child: Child, first: i32) -> Result<ExitStatus> {
        self.set(Some(Pid::from_raw(first)));
        self.started.send(Ok(())).ok();
        let status = child.wait();
        self.set(None);
        Ok(status?)
    }

    fn set(&self, pid: Option<Pid>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }
}

/// Runs a function in a thread that ends, and with it the namespaces that it went into.
fn in_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    thread::spawn(work).join().map_err(|_| anyhow!("a thread of the harness panicked"))?
}

/// Takes the first block of loopback addresses that is free, by listening on all of its addresses.
fn lease() -> Result<(u8, Vec<Forward>)> {
    for block in 0..=u8::MAX {
        match listen(block) {
            Err(error) if error.kind() == ErrorKind::AddrInUse => {}
            other => return Ok((block, other?)),
        }
    }
    bail!("all loopback addresses of the harness are in use")
}

fn listen(block: u8) -> std::io::Result<Vec<Forward>> {
    let ports = (1..=NODES).flat_map(|number| FORWARDED.map(|port| (number, port)));
    let forward = |(number, port)| {
        let listener = TcpListener::bind((endpoint(block, number), port))?;
        Ok((listener, SocketAddr::from((address(number), port))))
    };
    ports.map(forward).collect()
}

/// A listener, and where its connections go.
type Forward = (TcpListener, SocketAddr);

fn name(number: u8) -> String {
    format!("talos-{number}")
}

fn address(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 77, 0, 10 + number)
}

fn endpoint(block: u8, number: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 77, block, 10 + number)
}

/// How a keeper ends when its node asked for a restart: the kernel ends the first process of a namespace with SIGHUP then.
const RESTART: i32 = 128 + Signal::SIGHUP as i32;

/// The exit code of our own program, which is the first process of a node until Talos replaces it.
const NOT_STARTED: i32 = 1;

/// More than a cluster of 3+1 and machines to play with; each has listeners that wait.
const NODES: u8 = 9;

/// The ports of Talos' and of Kubernetes' API.
const FORWARDED: [u16; 2] = [50_000, 6443];

/// The site's own address, where what serves the nodes listens.
pub(super) const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
pub(super) const REGISTRY_PORT: u16 = 5000;
pub(super) const DISCOVERY_PORT: u16 = 3000;
