//! What all nodes share: the root file system that they read, and the container images that they pull. Both are made
//! once of the programs in the cache of peers, and kept beside it.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err::File;
use sha2::{Digest, Sha256};
use testkit::peers;
use testkit::talos::{NODES_KUBERNETES, NODES_TALOS};

use super::image::{Image, hex};
use crate::output;

/// Where the parts are.
#[derive(Clone)]
pub(super) struct Parts {
    folder: PathBuf,
}

impl Parts {
    /// Finds the parts, and makes them where they are missing.
    pub(super) fn ensure() -> Result<Self> {
        crate::peers::ensure(PROGRAMS)?;
        let folder = peers::cache().join("talos").join(format!("parts-{}", key()));
        fs_err::create_dir_all(folder.with_file_name(""))?;
        // Others may want the same parts at the same time.
        let making = File::create(folder.with_added_extension("lock"))?;
        making.file().lock()?;
        if !folder.exists() {
            output::progress("making the root file system and the images of the nodes");
            let scratch = tempfile::Builder::new().prefix("making-").tempdir_in(peers::cache())?;
            crate::tools::unpack_package("busybox-static", &scratch.path().join("busybox"))?;
            write_root(&scratch.path().join("root"))?;
            write_images(scratch.path())?;
            fs_err::rename(scratch.keep(), &folder)?;
        }
        Ok(Self { folder })
    }

    /// The root file system, which nodes mount read-only.
    pub(super) fn root(&self) -> PathBuf {
        self.folder.join("root")
    }

    /// The folder that the registry serves.
    pub(super) fn registry(&self) -> PathBuf {
        self.folder.join("registry")
    }
}

/// The programs that nodes are made of, the one that the harness runs, and kubectl for `talos exec`.
pub(crate) const PROGRAMS: &[&str] = &[
    "bridge",
    "containerd",
    "containerd-shim-runc-v2",
    "discovery-service",
    "etcd",
    "host-local",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kubelet",
    "loopback",
    "machined",
    "node-image",
    "runc",
    TALOSCTL,
];

/// The client that the harness uses itself: that of the release that the nodes run.
pub(super) const TALOSCTL: &str = "talosctl-1.13.9";

/// The release of the pin `etcd`, as Talos' configuration names it.
pub(super) const ETCD: &str = "v3.6.6";

/// Covers every program and the recipe: a change of any of them gives other parts.
fn key() -> String {
    let mut hash = Sha256::new();
    for name in PROGRAMS {
        hash.update(peers::program(name).as_os_str().as_encoded_bytes());
    }
    hash.update(include_str!("parts.rs"));
    hash.update(include_str!("image.rs"));
    hex(&hash.finalize()[..8])
}

fn write_root(root: &Path) -> Result<()> {
    for folder in FOLDERS {
        fs_err::create_dir_all(root.join(folder))?;
    }
    for file in EMPTY_FILES {
        fs_err::write(root.join(file), "")?;
    }
    for (link, target) in LINKS {
        symlink(target, root.join(link))?;
    }
    // One program under the names by which it knows what to be.
    let init = root.join("usr/bin/init");
    install(&peers::program("machined"), &init)?;
    for name in ["dashboard", "poweroff", "reboot", "sandboxd", "shutdown"] {
        fs_err::hard_link(&init, init.with_file_name(name))?;
    }
    for name in ["containerd", "containerd-shim-runc-v2", "runc"] {
        install(&peers::program(name), &root.join("usr/bin").join(name))?;
    }
    for name in ["bridge", "host-local", "loopback"] {
        install(&peers::program(name), &root.join("usr/lib/cni").join(name))?;
    }
    let talos = peers::module("talos-node", "github.com/siderolabs/talos").join("hack");
    for (from, to) in [
        ("containerd.toml", "etc/containerd/config.toml"),
        ("cri-containerd.toml", "etc/cri/containerd.toml"),
        ("nfsmount.conf", "etc/nfsmount.conf"),
        ("zoneinfo/Etc/UTC", "usr/share/zoneinfo/Etc/UTC"),
    ] {
        fs_err::write(root.join(to), fs_err::read(talos.join(from))?)?;
    }
    // Pods cannot lower their score either where root lacks a capability; see the pin.
    let plugin = fs_err::read_to_string(talos.join("cri-plugin.part"))?;
    let section = "[plugins.\"io.containerd.cri.v1.runtime\"]\n";
    let changed = plugin.replace(section, &format!("{section}  restrict_oom_score_adj = true\n"));
    fs_err::write(root.join("etc/cri/conf.d/00-base.part"), changed)?;
    let release = format!(
        "NAME=\"Talos\"\nID=talos\nVERSION_ID={NODES_TALOS}\nPRETTY_NAME=\"Talos ({NODES_TALOS})\"\n"
    );
    fs_err::write(root.join("etc/os-release"), release)?;
    Ok(())
}

fn install(from: &Path, to: &Path) -> Result<()> {
    fs_err::copy(from, to)?;
    fs_err::set_permissions(to, PermissionsExt::from_mode(0o755))?;
    Ok(())
}

fn write_images(scratch: &Path) -> Result<()> {
    let registry = scratch.join("registry");
    let busybox = scratch.join("busybox/bin/busybox");
    let [passwd, group] = ["passwd", "group"].map(|name| scratch.join(name));
    fs_err::write(&passwd, "root:x:0:0:root:/root:/bin/sh\n")?;
    fs_err::write(&group, "root:x:0:\n")?;
    let applets = ["cat", "ip", "ls", "mkdir", "mount", "nsenter", "ps", "sh", "sleep", "umount"]
        .map(|applet| format!("bin/{applet}"));
    let applets: Vec<(&str, &str)> =
        applets.iter().map(|applet| (applet.as_str(), "busybox")).collect();
    let shell = [("bin/busybox", busybox), ("etc/group", group), ("etc/passwd", passwd)].to_vec();

    Image {
        reference: &format!("etcd:{ETCD}"),
        entrypoint: Some("/usr/local/bin/etcd"),
        folders: &["tmp", "var/lib/etcd", "etc"],
        files: &[("usr/local/bin/etcd", peers::program("etcd"))],
        links: &[],
    }
    .write(&registry)?;
    let kubelet = [
        ("usr/local/bin/kubelet", peers::program("node-image")),
        ("usr/local/bin/kubelet.real", peers::program("kubelet")),
    ];
    Image {
        reference: &format!("siderolabs/kubelet:{NODES_KUBERNETES}"),
        entrypoint: Some("/usr/local/bin/kubelet"),
        folders: &["dev", "etc", "lib", "proc", "run", "sys", "tmp", "usr/libexec", "var/lib"],
        files: &[kubelet.as_slice(), &shell].concat(),
        links: &[&[("var/run", "/run")], applets.as_slice()].concat(),
    }
    .write(&registry)?;
    for name in ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] {
        Image {
            reference: &format!("{name}:{NODES_KUBERNETES}"),
            entrypoint: None,
            folders: &["etc", "tmp"],
            files: &[(&format!("usr/local/bin/{name}"), peers::program(name))],
            links: &[],
        }
        .write(&registry)?;
    }
    Image {
        // The one that containerd 2.2 asks for.
        reference: "pause:3.10.1",
        entrypoint: Some("/pause"),
        folders: &[],
        files: &[("pause", peers::program("node-image"))],
        links: &[],
    }
    .write(&registry)?;
    // For pods of tests.
    Image {
        reference: "library/busybox:latest",
        entrypoint: Some("/bin/sh"),
        folders: &["dev", "proc", "root", "sys", "tmp"],
        files: &shell,
        links: &applets,
    }
    .write(&registry)
}

/// As in Talos' own image, where something of it is mounted over or written to.
const FOLDERS: &[&str] = &[
    ".extra",
    "boot/EFI",
    "dev",
    "etc/cni",
    "etc/containerd",
    "etc/cri/conf.d/hosts",
    "etc/iscsi",
    "etc/kubernetes",
    "etc/lvm",
    "etc/nvme",
    "etc/selinux/targeted/contexts/files",
    "etc/ssl/certs",
    "mnt",
    "opt",
    "proc",
    "run",
    "sys",
    "system",
    "tmp",
    "usr/bin",
    "usr/etc",
    "usr/lib/cni",
    "usr/lib/firmware",
    "usr/lib/modules",
    "usr/lib/systemd/network",
    "usr/lib/udev/rules.d",
    "usr/libexec/kubernetes",
    "usr/local/bin",
    "usr/local/lib/kubelet/credentialproviders",
    "usr/local/share",
    "usr/share/spdx",
    "usr/share/zoneinfo/Etc",
    "var",
];

const EMPTY_FILES: &[&str] = &[
    "etc/cri/conf.d/01-registries.part",
    "etc/cri/conf.d/20-customization.part",
    "etc/cri/conf.d/base-spec.json",
    "etc/cri/conf.d/cri.toml",
    "etc/extensions.yaml",
    "etc/hostname",
    "etc/hosts",
    "etc/iscsi/initiatorname.iscsi",
    "etc/machine-id",
    "etc/nvme/hostid",
    "etc/nvme/hostnqn",
    "etc/resolv.conf",
    "etc/selinux/targeted/contexts/files/file_contexts",
    "etc/ssl/certs/ca-certificates.crt",
    // What tells Talos that it is in a container.
    "usr/etc/in-container",
];

const LINKS: &[(&str, &str)] = &[
    ("bin", "usr/bin"),
    ("etc/ca-certificates", "/etc/ssl"),
    ("etc/localtime", "/usr/share/zoneinfo/Etc/UTC"),
    ("etc/pki", "/etc/ssl"),
    ("etc/ssl/certs/ca-certificates", "ca-certificates.crt"),
    ("lib", "usr/lib"),
    ("lib64", "usr/lib"),
    ("sbin", "usr/bin"),
    ("usr/sbin", "bin"),
];
