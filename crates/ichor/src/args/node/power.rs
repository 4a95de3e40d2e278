//! What ends the run of a machine.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::Overrides;
use crate::args::connection::duration;
use crate::args::{Maintenance, Reach, Sure};

/// Whether to wait for the end of what was begun.
#[derive(Args, Clone, Copy, Debug)]
pub struct Wait {
    /// Wait until it is done; --wait=false does not
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub wait: bool,

    /// How long to wait for one machine
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,
}

/// Arguments of `ichor node reboot`.
#[derive(Args, Clone, Debug)]
pub struct Reboot {
    /// How to reboot
    #[arg(short, long, value_enum, default_value_t)]
    pub mode: RebootMode,

    #[command(flatten)]
    pub wait: Wait,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub reach: Reach,
}

/// Ways to reboot.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum RebootMode {
    /// Stop everything, then start the kernel anew
    #[default]
    Default,
    /// Stop everything, then go through the firmware
    Powercycle,
    /// Stop nothing first; Talos 1.12 and later
    Force,
}

/// Arguments of `ichor node shutdown`.
#[derive(Args, Clone, Debug)]
pub struct Shutdown {
    /// Do not move pods away first
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub wait: Wait,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor node reset`.
#[derive(Args, Clone, Debug)]
pub struct Reset {
    /// Move pods away and leave etcd first; --graceful=false does not
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub graceful: bool,

    /// Boot again afterwards instead of switching off
    #[arg(long)]
    pub reboot: bool,

    /// Wipe only these partitions of the system disk
    #[arg(long, value_delimiter = ',', value_name = "LABEL")]
    pub system_labels_to_wipe: Vec<String>,

    /// Wipe these disks, too: as in /dev/sdb
    #[arg(long, value_delimiter = ',', value_name = "DEVICE")]
    pub user_disks_to_wipe: Vec<String>,

    /// Which disks are wiped
    #[arg(long, value_enum, default_value_t)]
    pub wipe_mode: WipeMode,

    #[command(flatten)]
    pub wait: Wait,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub maintenance: Maintenance,

    #[command(flatten)]
    pub reach: Reach,
}

/// Which disks a reset wipes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum WipeMode {
    /// The system disk, and the named user disks
    #[default]
    All,
    /// The system disk
    SystemDisk,
    /// The named user disks
    UserDisks,
}

/// Arguments of `ichor node upgrade`.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of talosctl")]
#[derive(Args, Clone, Debug)]
pub struct Upgrade {
    /// The installer, with the extensions that the machine shall have; else the one that the cluster's directory gives it
    #[arg(short, long)]
    pub image: Option<String>,

    /// Only tell which machine would get which image
    #[arg(long)]
    pub dry_run: bool,

    /// How to reboot
    #[arg(short = 'm', long, value_enum, default_value_t, value_name = "MODE")]
    pub reboot_mode: RebootMode,

    /// Install, and leave the reboot for later; Talos 1.13 and later
    #[arg(long, conflicts_with_all = ["legacy", "stage"])]
    pub no_reboot: bool,

    /// Let the machine do all of it by itself, as before Talos 1.13
    #[arg(long)]
    pub legacy: bool,

    /// Install at the next boot, before anything uses the disk; before Talos 1.13, or with --legacy
    #[arg(long)]
    pub stage: bool,

    /// Keep the data of a machine before Talos 1.8, which loses it otherwise
    #[arg(long)]
    pub preserve: bool,

    /// Do not ask whether etcd can spare the machine; before Talos 1.13, or with --legacy
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub wait: Wait,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub reach: Reach,
}

/// Arguments of `ichor node rollback`.
#[derive(Args, Clone, Debug)]
pub struct Rollback {
    #[command(flatten)]
    pub wait: Wait,

    #[command(flatten)]
    pub overrides: Overrides,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub reach: Reach,
}
