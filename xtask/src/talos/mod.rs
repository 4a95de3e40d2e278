//! `cargo xtask talos`: real Talos nodes on this machine, for tests of level `talos` and for people.
//!
//! A node is the real machined as the first process of its own namespaces, in what Talos calls container mode. All of
//! it lives under one process ([`serve`]); how the parts fit together is in docs/dev/talos-harness.md.

mod cgroup;
mod cluster;
mod forward;
mod image;
mod init;
mod parts;
mod registry;
mod serve;
mod site;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use nix::sched::{CloneFlags, setns};
use serde::Serialize;
use testkit::peers;
use testkit::talos::{Connection, Error, Request, Site, Size, ask, ask_at, directory, homes};

use crate::output;
use parts::Parts;

pub(crate) use parts::PROGRAMS;

#[derive(Subcommand)]
pub(crate) enum Args {
    /// Build the programs that nodes are made of, and what they share
    Build,
    /// Start a cluster, which runs until `stop`
    Up {
        /// How many control planes
        control_planes: u8,
        /// How many workers
        #[arg(default_value_t = 0)]
        workers: u8,
    },
    /// Start machines in maintenance, which run until `stop`
    Maintenance {
        /// How many
        #[arg(default_value_t = 1)]
        count: u8,
    },
    /// Run a program, or a peer by its name, in the network of the largest cluster, with its credentials
    Exec {
        /// The program and its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<OsString>,
    },
    /// Show what runs
    Status,
    /// End everything and remove it
    Stop,
    /// The process that all nodes live under
    #[command(hide = true)]
    Serve {
        directory: PathBuf,
        /// End with standard input
        #[arg(long)]
        tied: bool,
    },
    /// The process that a node lives under
    #[command(hide = true)]
    Keep { boot: String },
    /// The first process of a node
    #[command(hide = true)]
    Init { boot: String },
    /// A program that ends with its parent
    #[command(hide = true)]
    Tied {
        parent: i32,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<OsString>,
    },
}

pub(crate) fn run(args: Args) -> Result<ExitCode> {
    match args {
        Args::Build => {
            Parts::ensure()?;
        }
        Args::Up { control_planes, workers } => {
            let size = Size { control_planes, workers };
            show(&ask_or_start(&Request::Cluster { size, alone: false })?.0);
        }
        Args::Maintenance { count } => {
            for _ in 0..count {
                show(&ask_or_start(&Request::Machine { size: Size::NONE, keep: true })?.0);
            }
        }
        Args::Exec { command } => return Err(exec(&command)?),
        Args::Status => {
            let sites = match ask(&Request::Status) {
                Err(Error::NoHarness(_)) => Vec::new(),
                other => other?.0,
            };
            show(&sites);
        }
        Args::Stop => {
            match ask(&Request::Stop) {
                // It ends without an answer.
                Ok(_) | Err(Error::Refused(_)) => {}
                Err(Error::NoHarness(_)) => output::progress("no nodes are running"),
            }
            serve::remove_leftovers()?;
        }
        Args::Serve { directory, tied } => serve::run(&directory, tied)?,
        Args::Keep { boot } => return Ok(init::keep(serde_json::from_str(&boot)?)?.into()),
        Args::Init { boot } => init::init(&serde_json::from_str(&boot)?)?,
        Args::Tied { parent, command } => {
            init::die_with(parent)?;
            let (program, arguments) = command.split_first().context("a program")?;
            return Err(Command::new(program).args(arguments).exec().into());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Gets what nodes need; an error is the reason why they cannot run here.
pub(crate) fn prepare() -> Result<()> {
    possible()?;
    Parts::ensure()?;
    Ok(())
}

/// Looks at the machine, before anything is built for long; an error is the reason why nodes cannot run here.
pub(crate) fn possible() -> Result<()> {
    if !nix::unistd::geteuid().is_root() {
        bail!("Talos nodes need root");
    }
    cgroup::parents()?;
    let file_systems = fs_err::read_to_string("/proc/filesystems")?;
    if !file_systems.lines().any(|line| line.ends_with("\toverlay")) {
        bail!("Talos nodes need overlayfs in the kernel (modprobe overlay)");
    }
    // In a thread, so that we stay where we are.
    let unshared = thread::spawn(|| {
        nix::sched::unshare(
            CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID,
        )
    });
    match unshared.join() {
        Ok(Ok(())) => Ok(()),
        _ => bail!("Talos nodes need namespaces, and the kernel refuses them"),
    }
}

/// The nodes of one test run. Dropping it ends them; so does the end of this process, whatever ended it.
pub(crate) struct Harness {
    child: Child,
    pub(crate) directory: PathBuf,
}

impl Harness {
    pub(crate) fn start() -> Result<Self> {
        let directory = homes().join(format!("test-{}", std::process::id()));
        let mut command = serve_command(&directory)?;
        let child = command.arg("--tied").stdin(Stdio::piped()).spawn()?;
        let mut harness = Self { child, directory };
        wait_for(&mut harness.child, &harness.directory)?;
        Ok(harness)
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // However it ended: the next one that starts removes what it left.
        self.child.wait().ok();
    }
}

/// Asks the harness that a test would ask, and starts it where none is.
fn ask_or_start(request: &Request) -> Result<(Vec<Site>, Connection)> {
    match ask(request) {
        Err(Error::NoHarness(_)) => {
            prepare()?;
            let home = directory();
            let name = home.file_name().context("a harness needs a folder of its own")?;
            // It lives on, and must not hold on to what this command writes to.
            let log = homes().with_file_name(name).with_added_extension("log");
            let output = fs_err::File::create(&log)?.into_parts().0;
            let mut command = serve_command(&home)?;
            let mut child = command.stdin(Stdio::null()).stderr(output).spawn()?;
            wait_for(&mut child, &home)
                .with_context(|| format!("it may have said why in {}", log.display()))?;
            Ok(ask(request)?)
        }
        other => Ok(other?),
    }
}

fn serve_command(directory: &Path) -> Result<Command> {
    let mut command = own("serve", &directory)?;
    // A group of its own: what ends a person's command with a key does not end it before it has cleaned up.
    command.process_group(0).stdout(Stdio::null());
    Ok(command)
}

/// Waits until a harness listens.
fn wait_for(child: &mut Child, directory: &Path) -> Result<()> {
    // Leftovers may have to be removed first.
    let end = Instant::now() + Duration::from_mins(1);
    while ask_at(directory, &Request::Status).is_err() {
        if let Some(status) = child.try_wait()? {
            bail!("the harness did not start ({status})");
        }
        if Instant::now() > end {
            bail!("the harness does not answer in {}", directory.display());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// Becomes a program in the network of the largest cluster that runs.
fn exec(command: &[OsString]) -> Result<anyhow::Error> {
    let (sites, _) = ask(&Request::Status)?;
    let site = sites.last().context("no nodes are running")?;
    setns(fs_err::File::open(&site.network)?, CloneFlags::CLONE_NEWNET)?;
    let (program, arguments) = command.split_first().context("a program")?;
    let peer = program.to_str().filter(|name| peers::find(name).is_ok()).map(peers::program);
    let mut command = Command::new(peer.unwrap_or_else(|| program.into()));
    command
        .args(arguments)
        .env("TALOSCONFIG", site.talosconfig())
        .env("KUBECONFIG", site.kubeconfig());
    Ok(anyhow::Error::from(command.exec()).context("cannot start it"))
}

/// This program again, also when its file was replaced meanwhile, with a hidden command and its argument.
fn own(command: &str, argument: &impl Serialize) -> Result<Command> {
    let mut program = Command::new("/proc/self/exe");
    let argument = match serde_json::to_value(argument)? {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    program.args(["talos", command]).arg(argument);
    Ok(program)
}

fn show(sites: &[Site]) {
    for site in sites {
        output::data(&format!("{}  files in {}", site.size, site.directory.display()));
        for node in &site.nodes {
            let state = if node.running { "on" } else { "off" };
            let role = format!("{:?}", node.role).to_lowercase();
            output::data(&format!(
                "  {:<8} {role:<13} {state:<4} {} from here {}  {} MB",
                node.name,
                node.address,
                node.endpoint,
                node.memory / 1_000_000
            ));
        }
    }
}
