//! The two processes under a node. [`keep`] goes into fresh namespaces and waits; [`init`] is the first process there,
//! makes the file system that a node sees, and becomes Talos. The machine under the nodes is not changed: mounts are
//! made in the node's own mount namespace, and what Talos sets in the kernel for a whole machine goes to files.

use std::fs::Permissions;
use std::io::{BufRead, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::sys::stat::{Mode, SFlag, makedev, mknod, umask};
use nix::unistd::{Pid, getppid, pivot_root, sethostname};
use serde::{Deserialize, Serialize};

use super::cgroup;
use crate::output;

/// All that a node is started with; handed from process to process as an argument.
#[derive(Deserialize, Serialize)]
pub(super) struct Boot {
    pub(super) name: String,
    pub(super) number: u8,
    pub(super) address: Ipv4Addr,
    pub(super) gateway: Ipv4Addr,
    /// The root file system that all nodes share.
    pub(super) root: PathBuf,
    /// The node's own files: its disk, and what is made anew at each start.
    pub(super) directory: PathBuf,
    pub(super) groups: Vec<PathBuf>,
    /// Who must live for the node to live.
    pub(super) parent: i32,
}

/// The word that the first process of a node waits for on its standard input, until its network is there.
pub(super) const GO: &[u8] = b"go\n";

/// A file beside the disk of a node: its next start finds the disk empty.
pub(super) const WIPE: &str = "wipe";

/// Runs the first process of a node in namespaces of its own, says its process id, and ends as it ended: with 128
/// and the signal, as shells do.
pub(super) fn keep(mut boot: Boot) -> Result<u8> {
    die_with(boot.parent)?;
    for group in &boot.groups {
        cgroup::join(group, 0)?;
    }
    unshare(
        CloneFlags::CLONE_NEWCGROUP
            | CloneFlags::CLONE_NEWIPC
            | CloneFlags::CLONE_NEWNET
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWPID
            | CloneFlags::CLONE_NEWUTS,
    )
    .context("cannot make namespaces")?;
    // Seen from the new namespace, the parent is outside.
    boot.parent = 0;
    let console = std::io::stderr().as_fd().try_clone_to_owned()?;
    let mut init = super::own("init", &boot)?.stdout(Stdio::from(console)).spawn()?;
    output::data(&init.id().to_string());
    let status = init.wait()?;
    let code = status.signal().map_or(status.code().unwrap_or(1), |signal| 128 + signal);
    Ok(u8::try_from(code)?)
}

/// Becomes Talos; it comes back only when that fails.
pub(super) fn init(boot: &Boot) -> Result<()> {
    die_with(boot.parent)?;
    let mut word = Vec::new();
    std::io::stdin().lock().read_until(b'\n', &mut word)?;
    if word != GO {
        bail!("the harness ended");
    }
    configure_network(boot)?;
    sethostname(&boot.name)?;
    let root = Root::mount(boot)?;
    root.devices()?;
    root.cgroups()?;
    root.sysctls()?;
    root.writable(boot)?;
    root.pivot()?;
    let error = Command::new("/sbin/init")
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("PLATFORM", "container")
        .env("TALOSSKU", "2CPU-4096RAM")
        .exec();
    Err(error).context("cannot start Talos")
}

/// Lets the kernel end this process when its parent ends, however that happens.
pub(super) fn die_with(parent: i32) -> Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    // It may have ended before the kernel knew.
    if getppid() != Pid::from_raw(parent) {
        bail!("the process that started this one is gone");
    }
    Ok(())
}

/// Runs lines of the program `ip` in the network that the caller is in.
pub(super) fn ip(lines: &str) -> Result<()> {
    let mut ip = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .context("cannot run `ip` of the Debian package iproute2")?;
    ip.stdin.take().context("a pipe to `ip`")?.write_all(lines.as_bytes())?;
    let status = ip.wait()?;
    if !status.success() {
        bail!("`ip` failed ({status}): {lines}");
    }
    Ok(())
}

fn configure_network(boot: &Boot) -> Result<()> {
    let Boot { address, gateway, .. } = boot;
    ip(&format!(
        "link set lo up\naddr add {address}/24 dev eth0\nlink set eth0 up\nroute add default via {gateway}\n"
    ))
}

/// The file system of a node while it is made.
struct Root {
    path: PathBuf,
    /// Files of this start alone.
    fresh: PathBuf,
}

impl Root {
    fn mount(boot: &Boot) -> Result<Self> {
        let root = Self { path: boot.directory.join("root"), fresh: boot.directory.join("fresh") };
        // From here on, nothing that is mounted is seen outside.
        mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
        fs_err::create_dir_all(&root.path)?;
        fs_err::create_dir_all(&root.fresh)?;
        bind(&boot.root, &root.path)?;
        read_only(&root.path)?;
        Ok(root)
    }

    fn devices(&self) -> Result<()> {
        umask(Mode::empty());
        self.fresh_mount("proc", "proc", "")?;
        self.fresh_mount("sysfs", "sys", "")?;
        self.fresh_mount("tmpfs", "dev", "mode=755,size=64k")?;
        for folder in ["dev/mqueue", "dev/net", "dev/pts", "dev/shm"] {
            fs_err::create_dir(self.path.join(folder))?;
        }
        for (name, major, minor, mode) in [
            ("null", 1, 3, 0o666),
            ("zero", 1, 5, 0o666),
            ("full", 1, 7, 0o666),
            ("random", 1, 8, 0o666),
            ("urandom", 1, 9, 0o666),
            ("kmsg", 1, 11, 0o600),
            ("tty", 5, 0, 0o666),
            ("net/tun", 10, 200, 0o666),
        ] {
            let path = self.path.join("dev").join(name);
            mknod(&path, SFlag::S_IFCHR, Mode::from_bits_truncate(mode), makedev(major, minor))
                .with_context(|| format!("cannot make the device {name}"))?;
        }
        for (link, target) in [
            ("fd", "/proc/self/fd"),
            ("ptmx", "pts/ptmx"),
            ("stderr", "/proc/self/fd/2"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
        ] {
            symlink(target, self.path.join("dev").join(link))?;
        }
        self.fresh_mount("devpts", "dev/pts", "newinstance,ptmxmode=0666,mode=620,gid=5")?;
        self.fresh_mount("tmpfs", "dev/shm", "mode=1777,size=64m")?;
        self.fresh_mount("mqueue", "dev/mqueue", "")
    }

    /// The hierarchies of control groups, which begin at the node's own group in its namespace.
    fn cgroups(&self) -> Result<()> {
        if cgroup::unified() {
            return self.fresh_mount("cgroup2", "sys/fs/cgroup", "");
        }
        let hierarchies = cgroup::hierarchies()?;
        self.fresh_mount("tmpfs", "sys/fs/cgroup", "mode=755,size=64k")?;
        for hierarchy in hierarchies {
            let folder = format!("sys/fs/cgroup/{}", cgroup::folder(&hierarchy));
            fs_err::create_dir(self.path.join(&folder))?;
            let named = hierarchy.starts_with("name=");
            let options = if named { format!("none,{hierarchy}") } else { hierarchy.clone() };
            self.fresh_mount("cgroup", &folder, &options)?;
            for controller in hierarchy.split(',').filter(|one| !named && *one != hierarchy) {
                symlink(&hierarchy, self.path.join("sys/fs/cgroup").join(controller))?;
            }
        }
        Ok(())
    }

    /// Settings of the kernel: those of the network are the node's own, those that Talos sets for a whole machine are
    /// files, the others can only be read.
    fn sysctls(&self) -> Result<()> {
        let sysctls = self.path.join("proc/sys");
        let aside = self.fresh.join("net");
        fs_err::create_dir_all(&aside)?;
        bind(&sysctls.join("net"), &aside)?;
        bind(&sysctls, &sysctls)?;
        read_only(&sysctls)?;
        bind(&aside, &sysctls.join("net"))?;
        umount2(&aside, MntFlags::MNT_DETACH)?;
        for name in [
            "fs/aio-max-nr",
            "fs/inotify/max_user_instances",
            "kernel/panic",
            "kernel/panic_on_oops",
            "kernel/pid_max",
            "vm/overcommit_memory",
            "vm/panic_on_oom",
        ] {
            self.file(&format!("proc/sys/{name}"), &fs_err::read(sysctls.join(name))?)?;
        }
        // Every start is a boot.
        let boot = fs_err::read(sysctls.join("kernel/random/uuid"))?;
        self.file("proc/sys/kernel/random/boot_id", &boot)
    }

    /// What can be written: memory, and the folders that are the node's disk.
    fn writable(&self, boot: &Boot) -> Result<()> {
        self.fresh_mount("tmpfs", "run", "mode=755")?;
        self.fresh_mount("tmpfs", "system", "mode=755")?;
        self.fresh_mount("tmpfs", "tmp", "mode=1777")?;
        fs_err::create_dir(self.path.join("system/state"))?;
        let disk = boot.directory.join("disk");
        let wipe = boot.directory.join(WIPE);
        if let Ok(folder) = fs_err::read_to_string(&wipe) {
            let folder = disk.join(folder);
            if folder.exists() {
                // A rename empties the disk in one step. Removing what is left may fail on a busy machine; then `remove` does it
                // with the node.
                let wiped =
                    tempfile::Builder::new().prefix("wiped-").tempdir_in(&boot.directory)?;
                fs_err::rename(&folder, wiped.path().join("disk"))?;
            }
            fs_err::remove_file(&wipe)?;
        }
        let plugins = disk.join("opt/cni/bin");
        let networks = disk.join("cni/net.d");
        for folder in [&plugins, &networks] {
            fs_err::create_dir_all(folder)?;
        }
        for name in ["bridge", "host-local", "loopback"] {
            fs_err::copy(boot.root.join("usr/lib/cni").join(name), plugins.join(name))?;
        }
        // A network of pods that ends at the node: enough for the node to be ready.
        let network = serde_json::json!({
            "cniVersion": "1.0.0",
            "name": "node",
            "plugins": [{
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": true,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{ "subnet": format!("10.244.{}.0/24", boot.number) }]],
                    "routes": [{ "dst": "0.0.0.0/0" }],
                },
            }],
        });
        fs_err::write(networks.join("10-node.conflist"), network.to_string())?;
        for (folder, target) in [
            ("cni", "etc/cni"),
            ("kubernetes", "etc/kubernetes"),
            ("libexec", "usr/libexec/kubernetes"),
            ("opt", "opt"),
            ("state", "system/state"),
            ("var", "var"),
        ] {
            fs_err::create_dir_all(disk.join(folder))?;
            fs_err::set_permissions(disk.join(folder), Permissions::from_mode(0o755))?;
            bind(&disk.join(folder), &self.path.join(target))?;
        }
        self.file("etc/hostname", format!("{}\n", boot.name).as_bytes())?;
        self.file("etc/hosts", b"127.0.0.1 localhost\n")?;
        self.file("etc/resolv.conf", format!("nameserver {}\n", boot.gateway).as_bytes())
    }

    fn pivot(&self) -> Result<()> {
        std::env::set_current_dir(&self.path)?;
        // The old root lands on top of the new one, from where it is taken away.
        pivot_root(".", ".")?;
        umount2(".", MntFlags::MNT_DETACH)?;
        std::env::set_current_dir("/")?;
        Ok(())
    }

    /// Puts a file of this start over one that is there.
    fn file(&self, path: &str, content: &[u8]) -> Result<()> {
        let file = self.fresh.join(path.replace('/', "_"));
        fs_err::write(&file, content)?;
        bind(&file, &self.path.join(path))
    }

    fn fresh_mount(&self, kind: &str, path: &str, options: &str) -> Result<()> {
        mount(Some(kind), &self.path.join(path), Some(kind), MsFlags::empty(), Some(options))
            .with_context(|| format!("cannot mount {kind} on /{path}"))
    }
}

fn bind(from: &Path, to: &Path) -> Result<()> {
    mount(Some(from), to, NOTHING, MsFlags::MS_BIND, NOTHING)
        .with_context(|| format!("cannot mount {} on {}", from.display(), to.display()))
}

fn read_only(path: &Path) -> Result<()> {
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_BIND;
    mount(NOTHING, path, NOTHING, flags, NOTHING)
        .with_context(|| format!("cannot make {} read-only", path.display()))
}

const NOTHING: Option<&str> = None;
