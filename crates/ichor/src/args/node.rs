//! Commands that act on machines directly.

mod etcd;
mod power;

pub use etcd::{
    Alarms, Defragment, ForfeitLeadership, LeaveEtcd, NodeEtcd, Overrides, RecoverEtcd,
    RemoveMember, Rule,
};
pub use power::{Reboot, RebootMode, Reset, Rollback, Shutdown, Upgrade, Wait, WipeMode};

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::connection::duration;
use super::{ImageNamespace, Maintenance, Reach, Shown, Sure};

/// One of them.
#[derive(Clone, Subcommand)]
pub enum NodeCommand {
    /// Give machines a configuration
    ///
    /// It is checked before it is sent. A machine without configuration takes it with --insecure and
    /// becomes part of the cluster; one that has a configuration shows with --dry-run what would
    /// change, secrets hidden, and the command ends with 2 then. Machines before Talos 1.14 may have
    /// to reboot for it: you are asked first. Encrypted files are opened with your keys.
    ///
    ///   ichor node apply-config -n 10.0.0.11 -f controlplane.yaml --insecure
    ///   ichor node apply-config -n 10.0.0.11 -f cp-1.yaml -p @patches/cp-1.yaml --dry-run
    ///   ichor node apply-config -n 10.0.0.11 -f cp-1.yaml --mode try --timeout 2m
    #[command(verbatim_doc_comment, visible_alias = "apply")]
    ApplyConfig(ApplyConfig),

    /// Patch the configuration that machines have
    ///
    /// Shows what changes, secrets hidden, and applies it. What is patched is the configuration that
    /// the machine would boot with, one that is staged included.
    ///
    ///   ichor node patch -n 10.0.0.11 -p '{"machine": {"sysctls": {"vm.swappiness": "10"}}}'
    ///   ichor node patch -n 10.0.0.11 --patch-file new.yaml --dry-run
    #[command(verbatim_doc_comment)]
    Patch(PatchConfig),

    /// Begin a cluster: make etcd of one control plane, which the others then join
    ///
    /// A cluster is bootstrapped once in its life, on one machine. The other control planes of the
    /// directory are asked first: refused where one of them runs etcd already, or does not answer.
    /// Beginning with a snapshot brings a lost cluster back: the machines must have no data of etcd
    /// any more.
    ///
    ///   ichor node bootstrap -n 10.0.0.11
    ///   ichor node bootstrap -n 10.0.0.11 --recover-from etcd.snapshot
    #[command(verbatim_doc_comment)]
    Bootstrap(Bootstrap),

    /// Reboot machines, one after the other
    ///
    /// Each is followed until it is back with another boot id and as ready as it was, before the next one is touched.
    /// A control plane is refused while etcd would lose its majority without it.
    Reboot(Reboot),

    /// Switch machines off, one after the other
    ///
    /// Each is followed until it no longer answers. Pods are moved away first unless --force is given. A control
    /// plane is refused while etcd would lose its majority without it.
    Shutdown(Shutdown),

    /// Make machines forget their configuration and their data
    ///
    /// Each leaves etcd, is wiped, and is followed until it is off or, with --reboot, back. A control plane is
    /// refused where etcd would lose its majority, or its last member.
    ///
    ///   ichor node reset -n 10.0.0.21
    ///   ichor node reset -n 10.0.0.21 --reboot --system-labels-to-wipe STATE,EPHEMERAL
    #[command(verbatim_doc_comment)]
    Reset(Reset),

    /// Install another image on machines, one after the other
    ///
    /// The image is pulled, installed beside the one that runs, and booted; the machine goes back to
    /// the old one by itself when the new one does not come up, which is told as an error. Machines
    /// before Talos 1.13 do all of it by themselves.
    ///
    /// Without --image a machine gets the installer that its cluster's directory gives it: in a talconfig
    /// the talosImageURL with the talosVersion, else that of its schematic.
    ///
    ///   ichor node upgrade -n cp-1
    ///   ichor node upgrade -n 10.0.0.11 --image factory.talos.dev/metal-installer/…:v1.14.1
    #[command(verbatim_doc_comment)]
    Upgrade(Upgrade),

    /// Boot what machines ran before their last upgrade
    Rollback(Rollback),

    /// Wipe disks
    Wipe {
        #[command(subcommand)]
        what: Wipe,
    },

    /// Start, stop or restart a service
    ///
    /// Talos lets the kubelet be started and restarted, and the services of extensions (ext-…) be
    /// stopped, too.
    ///
    ///   ichor node service kubelet restart -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Service(ServiceControl),

    /// Manage the container images of machines
    Image {
        #[command(subcommand)]
        what: Image,
    },

    /// Write and delete values that a machine keeps outside of its configuration
    Meta {
        #[command(subcommand)]
        what: Meta,
    },

    /// Act on members of etcd
    Etcd {
        #[command(subcommand)]
        what: NodeEtcd,
    },
}

/// Arguments of `ichor node apply-config`. A patch may hold a secret, so it has no `Debug`.
#[derive(Args, Clone)]
pub struct ApplyConfig {
    /// The configuration; `-` is stdin
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,

    /// A patch for it: @FILE, FILE, or its text; repeat it for several
    #[arg(short = 'p', long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch: Vec<String>,

    #[command(flatten)]
    pub how: ApplyHow,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub maintenance: Maintenance,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor node patch`. A patch may hold a secret, so it has no `Debug`.
#[derive(Args, Clone)]
pub struct PatchConfig {
    /// What is patched: as talosctl takes it
    #[arg(value_parser = ["machineconfig", "machineconfigs", "mc"], default_value = "machineconfig", hide = true)]
    pub what: String,

    /// A patch: @FILE, FILE, or its text; repeat it for several
    #[arg(
        short,
        long = "patch",
        value_name = "PATCH",
        allow_hyphen_values = true,
        required_unless_present = "patch_file"
    )]
    pub patches: Vec<String>,

    /// A file with a patch
    #[arg(long, value_name = "FILE")]
    pub patch_file: Option<PathBuf>,

    #[command(flatten)]
    pub how: ApplyHow,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub reach: Reach,
}

/// How a configuration is applied.
#[derive(Args, Clone, Copy, Debug)]
pub struct ApplyHow {
    /// When it takes effect
    #[arg(short, long, value_enum, default_value_t)]
    pub mode: ApplyMode,

    /// Only show what would change; ends with 2 if anything would
    #[arg(long)]
    pub dry_run: bool,

    /// With --mode try: when the machine goes back
    #[arg(long, default_value = "1m", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,

    /// Wait until a machine that reboots is back
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub wait: bool,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub shown: Shown,
}

/// When a configuration takes effect.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ApplyMode {
    /// At once, with a reboot where Talos before 1.14 needs one
    #[default]
    Auto,
    /// At once, or not at all
    NoReboot,
    /// With a reboot
    Reboot,
    /// With the next reboot, whenever that is
    Staged,
    /// At once, until the time is over or it is applied again in another mode
    Try,
}

impl ApplyMode {
    /// As it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::NoReboot => "no-reboot",
            Self::Reboot => "reboot",
            Self::Staged => "staged",
            Self::Try => "try",
        }
    }
}

/// Arguments of `ichor node bootstrap`.
#[derive(Args, Clone, Debug)]
pub struct Bootstrap {
    /// Begin with what is in this snapshot of etcd
    #[arg(long, value_name = "FILE")]
    pub recover_from: Option<PathBuf>,

    /// The snapshot is a copy of a member's database file, which has no digest in it
    #[arg(long, requires = "recover_from")]
    pub recover_skip_hash_check: bool,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub wait: Wait,

    #[command(flatten)]
    pub reach: Reach,
}

/// What `ichor node wipe` wipes.
#[derive(Clone, Debug, Subcommand)]
pub enum Wipe {
    /// Wipe disks or partitions that nothing uses
    ///
    ///   ichor node wipe disk sdb sdc1 -n 10.0.0.21
    #[command(verbatim_doc_comment)]
    Disk(WipeDisk),
}

/// Arguments of `ichor node wipe disk`.
#[derive(Args, Clone, Debug)]
pub struct WipeDisk {
    /// The disks and partitions, as in vda or sda5
    #[arg(required = true, value_name = "DEVICE")]
    pub devices: Vec<String>,

    /// What is wiped of them
    #[arg(long, value_enum, default_value_t, ignore_case = true)]
    pub method: WipeMethod,

    /// Take partitions out of their table, too; Talos 1.10 and later
    #[arg(long)]
    pub drop_partition: bool,

    /// How long it may take
    #[arg(long, default_value = "24h", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub maintenance: Maintenance,

    #[command(flatten)]
    pub reach: Reach,
}

/// Ways to wipe.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum WipeMethod {
    /// The places by which file systems and tables are recognised
    #[default]
    Fast,
    /// Everything
    Zeroes,
}

/// Arguments of `ichor node service`.
#[derive(Args, Clone, Debug)]
pub struct ServiceControl {
    /// The service
    pub id: String,

    /// What to do with it
    #[arg(value_enum)]
    pub action: ServiceAction,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub reach: Reach,
}

/// What can be done with a service.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ServiceAction {
    /// Start it, if it does not run
    Start,
    /// Stop it, if it runs
    Stop,
    /// Stop and start it
    Restart,
}

/// What `ichor node image` does.
#[derive(Clone, Debug, Subcommand)]
pub enum Image {
    /// Pull an image, so that it is there when it is needed
    ///
    ///   ichor node image pull registry.k8s.io/kube-apiserver:v1.36.3 -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Pull(ImagePull),
}

/// Arguments of `ichor node image pull`.
#[derive(Args, Clone, Debug)]
pub struct ImagePull {
    /// The image
    pub reference: String,

    /// For whom it is
    #[arg(long, value_enum, default_value_t = ImageNamespace::Cri)]
    pub namespace: ImageNamespace,

    /// Stop waiting for one machine after this time
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub reach: Reach,
}

/// What `ichor node meta` does.
#[derive(Clone, Subcommand)]
pub enum Meta {
    /// Write a value
    ///
    ///   ichor node meta write 0x0a "$(cat network.yaml)" -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Write {
        /// The number of the value: 10 or 0x0a
        #[arg(value_parser = meta_key)]
        key: u8,

        /// The value
        #[arg(allow_hyphen_values = true)]
        value: String,

        #[command(flatten)]
        maintenance: Maintenance,

        #[command(flatten)]
        reach: Reach,
    },

    /// Delete a value
    Delete {
        /// The number of the value: 10 or 0x0a
        #[arg(value_parser = meta_key)]
        key: u8,

        #[command(flatten)]
        maintenance: Maintenance,

        #[command(flatten)]
        reach: Reach,
    },
}

/// Decimal, or hexadecimal behind `0x`.
fn meta_key(text: &str) -> Result<u8, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "write it as 10 or 0x0a, up to 255".to_owned())
}
