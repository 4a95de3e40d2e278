//! Control groups of the harness: one group below our own in each hierarchy of version 1, or one group of version 2,
//! and below it one for each node. Their paths are written down first, so that a later run can remove them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// The groups of one harness, in each hierarchy.
pub(super) struct Groups {
    roots: Vec<PathBuf>,
}

impl Groups {
    pub(super) fn create(home: &Path) -> Result<Self> {
        let name = format!("ichor-talos-{}", std::process::id());
        let roots: Vec<PathBuf> = parents()?.iter().map(|parent| parent.join(&name)).collect();
        let lines: Vec<_> = roots.iter().map(|root| root.to_string_lossy()).collect();
        fs_err::write(home.join(RECORD), lines.join("\n"))?;
        for root in &roots {
            create(root)?;
            if unified() {
                let controllers = fs_err::read_to_string(root.join("cgroup.controllers"))?;
                for controller in controllers.split_whitespace() {
                    fs_err::write(root.join("cgroup.subtree_control"), format!("+{controller}"))?;
                }
            }
        }
        let groups = Self { roots };
        for group in groups.of(KEEPER) {
            create(&group)?;
        }
        Ok(groups)
    }

    /// Makes the groups of a node.
    pub(super) fn add(&self, node: &str) -> Result<Vec<PathBuf>> {
        let groups = self.of(node);
        groups.iter().try_for_each(|group| create(group))?;
        Ok(groups)
    }

    /// Removes the groups of a node, whose processes have ended.
    pub(super) fn remove(&self, node: &str) {
        self.of(node).iter().for_each(|group| remove(group));
    }

    /// Takes a process out of a node's groups. With version 2, a node can divide its group only when no process of
    /// ours is left in it.
    pub(super) fn keep(&self, process: u32) -> Result<()> {
        self.of(KEEPER).iter().try_for_each(|group| join(group, process))
    }

    /// How many bytes the processes of a node use, pages of files left out.
    pub(super) fn memory(&self, node: &str) -> u64 {
        let used = |group: PathBuf| {
            let statistics = fs_err::read_to_string(group.join("memory.stat")).ok()?;
            let value = |name: &str| {
                let line =
                    statistics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
                line?.parse::<u64>().ok()
            };
            value("total_rss").or_else(|| value("anon"))
        };
        self.of(node).into_iter().find_map(used).unwrap_or_default()
    }

    /// Removes all of them.
    pub(super) fn remove_all(&self) {
        self.roots.iter().for_each(|root| remove(root));
    }

    fn of(&self, name: &str) -> Vec<PathBuf> {
        self.roots.iter().map(|root| root.join(name)).collect()
    }
}

/// Removes what a harness left that lived in this directory.
pub(super) fn remove_leftovers(home: &Path) {
    let record = fs_err::read_to_string(home.join(RECORD)).unwrap_or_default();
    // The record is ours, but what it names is removed: nothing without our name is touched.
    let groups = record.lines().map(Path::new).filter(|group| {
        let name = group.file_name().unwrap_or_default().to_string_lossy();
        group.starts_with(MOUNT) && name.starts_with("ichor-talos-")
    });
    groups.for_each(remove);
}

/// Puts a process into a group; 0 is the process that asks.
pub(super) fn join(group: &Path, process: u32) -> Result<()> {
    Ok(fs_err::write(group.join("cgroup.procs"), process.to_string())?)
}

/// Whether this machine has version 2 alone.
pub(super) fn unified() -> bool {
    Path::new(MOUNT).join("cgroup.controllers").exists()
}

/// The hierarchies of version 1 that are mounted where they are expected, by what their mount option says: controllers
/// that belong together, or the name of a hierarchy without any.
pub(super) fn hierarchies() -> Result<Vec<String>> {
    Ok(own_groups()?.into_iter().map(|(controllers, _)| controllers).collect())
}

/// The folder name of a hierarchy.
pub(super) fn folder(hierarchy: &str) -> &str {
    hierarchy.strip_prefix("name=").unwrap_or(hierarchy)
}

/// Where the groups of a harness are put, or why they cannot.
pub(super) fn parents() -> Result<Vec<PathBuf>> {
    if unified() {
        // The root alone may hold processes and groups that control resources. What it hands down is the machine's
        // choice, and is not changed.
        let root = PathBuf::from(MOUNT);
        let handed_down = fs_err::read_to_string(root.join("cgroup.subtree_control"))?;
        for wanted in ["cpu", "cpuset", "io", "memory", "pids"] {
            if !handed_down.split_whitespace().any(|controller| controller == wanted) {
                bail!("the root cgroup does not hand down the controller {wanted}");
            }
        }
        return Ok(vec![root]);
    }
    let own = own_groups()?;
    for wanted in ["blkio", "cpu", "cpuacct", "cpuset", "devices", "freezer", "memory", "pids"] {
        if !own.iter().any(|(controllers, _)| controllers.split(',').any(|one| one == wanted)) {
            bail!("the cgroup controller {wanted} is not mounted below {MOUNT}");
        }
    }
    Ok(own.into_iter().map(|(_, group)| group).collect())
}

/// Our own group in each mounted hierarchy of version 1.
fn own_groups() -> Result<Vec<(String, PathBuf)>> {
    let text = fs_err::read_to_string("/proc/self/cgroup")?;
    let mut found = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next().context("controllers in /proc/self/cgroup")?;
        let path = fields.next().context("a path in /proc/self/cgroup")?;
        let group = Path::new(MOUNT).join(folder(controllers)).join(path.trim_start_matches('/'));
        if !controllers.is_empty() && group.join("cgroup.procs").exists() {
            found.push((controllers.to_owned(), group));
        }
    }
    Ok(found)
}

fn create(group: &Path) -> Result<()> {
    match fs_err::create_dir(group) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        other => other?,
    }
    // In version 1, a group without processors and memory takes no process.
    for file in ["cpuset.mems", "cpuset.cpus"] {
        let parent = group.with_file_name(file);
        if !unified() && parent.exists() {
            fs_err::write(group.join(file), fs_err::read(parent)?)?;
        }
    }
    Ok(())
}

/// Removes a group with all below it, as soon as their last processes are gone.
fn remove(group: &Path) {
    for _ in 0..100 {
        if remove_once(group).is_ok() {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

fn remove_once(group: &Path) -> std::io::Result<()> {
    let entries = match fs_err::read_dir(group) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_once(&entry.path())?;
        }
    }
    fs_err::remove_dir(group)
}

const MOUNT: &str = "/sys/fs/cgroup";

/// The file with the paths of the groups.
const RECORD: &str = "cgroups";

/// The group of the processes that watch over nodes.
const KEEPER: &str = "keeper";
