//! The process that all nodes live under. It answers on a socket in its directory, and ends when it is asked to or when
//! whoever started it has ended; then nothing is left. When it is killed itself, the kernel ends all that is below it,
//! and what remains on disk and of control groups is removed by the next one that starts.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use anyhow::{Context, Result, bail};
use fs_err::File;
use testkit::talos::{self, Request, Role, Size};

use super::cgroup::{self, Groups};
use super::cluster;
use super::parts::Parts;
use super::site::Site;

/// Serves from a directory until it is over; `tied` means that the end of standard input is the end of all.
pub(super) fn run(directory: &Path, tied: bool) -> Result<()> {
    let parts = Parts::ensure()?;
    let _lock = claim(directory)?;
    let (ending, end) = mpsc::channel();
    let harness = Arc::new(Harness {
        directory: directory.to_owned(),
        parts,
        groups: Arc::new(Groups::create(directory)?),
        sites: Mutex::default(),
        ending,
    });
    let listener = UnixListener::bind(talos::socket(directory))?;
    let clients = Arc::clone(&harness);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let harness = Arc::clone(&clients);
            thread::spawn(move || harness.answer(stream));
        }
    });
    if tied {
        let ending = harness.ending.clone();
        thread::spawn(move || {
            std::io::stdin().read_to_end(&mut Vec::new()).ok();
            ending.send(()).ok();
        });
    }
    end.recv()?;
    for site in harness.sites().values() {
        site.stop();
    }
    harness.groups.remove_all();
    // Whoever looks for leftovers meanwhile would take a folder without its lock for one.
    let _starting = starting()?;
    fs_err::remove_dir_all(directory)?;
    Ok(())
}

/// Removes what is left of every harness that was killed. What this returns keeps others from starting meanwhile.
pub(super) fn remove_leftovers() -> Result<File> {
    let starting = starting()?;
    for entry in fs_err::read_dir(talos::homes())? {
        let home = entry?.path();
        // Whoever has the lock lives.
        if let Some(_lock) = lock(&home)? {
            cgroup::remove_leftovers(&home);
            fs_err::remove_dir_all(home)?;
        }
    }
    Ok(starting)
}

/// Waits until no other harness comes or goes, and keeps it so for as long as what is returned lives.
fn starting() -> Result<File> {
    let homes = talos::homes();
    fs_err::create_dir_all(&homes)?;
    let starting = File::create(homes.with_file_name("lock"))?;
    starting.file().lock()?;
    Ok(starting)
}

/// Makes a directory that is ours alone, for as long as what is returned lives.
fn claim(directory: &Path) -> Result<File> {
    // Where others look for what a killed harness left, and where nothing else is that could be removed.
    if directory.parent() != Some(&talos::homes()) {
        bail!("a harness lives in a folder in {}", talos::homes().display());
    }
    let _starting = remove_leftovers()?;
    fs_err::create_dir_all(directory)?;
    lock(directory)?.context("another harness lives there")
}

/// Takes a directory for oneself, unless somebody has it. The kernel lets go of it when the process ends.
fn lock(directory: &Path) -> std::io::Result<Option<File>> {
    let file = File::create(directory.join("lock"))?;
    match file.file().try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

struct Harness {
    directory: PathBuf,
    parts: Parts,
    groups: Arc<Groups>,
    sites: Mutex<BTreeMap<Size, Arc<Site>>>,
    ending: mpsc::Sender<()>,
}

impl Harness {
    /// Answers one request, and holds what it gave until the client is gone.
    fn answer(&self, stream: UnixStream) {
        let mut connection = BufReader::new(stream);
        let mut line = String::new();
        if connection.read_line(&mut line).is_err() {
            return;
        }
        if let Err(error) = self.handle(&line, &mut connection) {
            reply(&mut connection, &Err(format!("{error:#}")));
        }
    }

    fn handle(&self, line: &str, connection: &mut talos::Connection) -> Result<()> {
        match serde_json::from_str(line)? {
            Request::Cluster { size, alone } => {
                let site = self.cluster(size)?;
                // Whoever panicked while it had the cluster has let go of it all the same.
                if alone {
                    let _use = site.users.write().unwrap_or_else(PoisonError::into_inner);
                    cluster::ready(&site)?;
                    give(connection, site.status());
                } else {
                    let _use = site.users.read().unwrap_or_else(PoisonError::into_inner);
                    cluster::ready(&site)?;
                    give(connection, site.status());
                }
            }
            Request::Machine { size, keep } => {
                let site = if size == Size::NONE { self.site(size)? } else { self.cluster(size)? };
                let node = site.add(Role::Machine)?;
                let name = node.name.clone();
                let answered = cluster::answers(&site, &node);
                if answered.is_ok() {
                    let found = talos::Site { nodes: vec![node], ..site.status() };
                    if keep {
                        reply(connection, &Ok(vec![found]));
                        return Ok(());
                    }
                    give(connection, found);
                }
                site.remove(&name)?;
                answered?;
            }
            Request::Power { size, node, on } => {
                let site = self.sites().get(&size).cloned();
                site.with_context(|| format!("there is no cluster {size}"))?.power(&node, on)?;
                reply(connection, &Ok(Vec::new()));
            }
            Request::Wipe { size, node, folder } => {
                let site = self.sites().get(&size).cloned();
                site.with_context(|| format!("there is no cluster {size}"))?
                    .wipe(&node, &folder)?;
                reply(connection, &Ok(Vec::new()));
            }
            Request::Status => {
                let sites = self.sites().values().map(|site| site.status()).collect();
                reply(connection, &Ok(sites));
            }
            // The answer is that the connection ends, and it ends with this process.
            Request::Stop => {
                self.ending.send(())?;
                connection.read_to_end(&mut Vec::new())?;
            }
        }
        Ok(())
    }

    /// The site of a size, with its cluster made.
    fn cluster(&self, size: Size) -> Result<Arc<Site>> {
        if size.control_planes == 0 {
            bail!("a cluster has at least one control plane");
        }
        let site = self.site(size)?;
        let mut made = site.made.lock().unwrap_or_else(PoisonError::into_inner);
        // A failure is kept: trying again would take just as long for everybody who asks.
        let result = made.get_or_insert_with(|| {
            cluster::make(&site)
                .map_err(|error| format!("{error:#}; logs are in {}", site.directory.display()))
        });
        if let Err(error) = result {
            bail!("{error}");
        }
        drop(made);
        Ok(site)
    }

    fn site(&self, size: Size) -> Result<Arc<Site>> {
        let mut sites = self.sites();
        if let Some(site) = sites.get(&size) {
            return Ok(Arc::clone(site));
        }
        let site =
            Site::start(size, &self.directory, self.parts.clone(), Arc::clone(&self.groups))?;
        let site = Arc::new(site);
        cluster::write_patches(&site)?;
        sites.insert(size, Arc::clone(&site));
        Ok(site)
    }

    fn sites(&self) -> std::sync::MutexGuard<'_, BTreeMap<Size, Arc<Site>>> {
        self.sites.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a site to a client and waits until it is gone.
fn give(connection: &mut talos::Connection, site: talos::Site) {
    reply(connection, &Ok(vec![site]));
    connection.read_to_end(&mut Vec::new()).ok();
}

/// Answers; a client that is gone needs no answer.
fn reply(connection: &mut talos::Connection, answer: &talos::Answer) {
    if let Ok(line) = serde_json::to_string(answer) {
        connection.get_mut().write_all((line + "\n").as_bytes()).ok();
    }
}
