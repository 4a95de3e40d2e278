//! Arguments of `ichor node reset`.

use clap::{Args, ValueEnum};

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs, MaintenanceArgs};

/// Wipe configuration and data of machines
///
/// Each machine leaves etcd and is wiped; waits until it is off or, with --reboot, back. A control plane is
/// refused if etcd would lose its quorum, or its last member.
///
///   ichor node reset -n 10.0.0.21
///   ichor node reset -n 10.0.0.21 --reboot --system-labels-to-wipe STATE,EPHEMERAL
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct ResetArgs {
    /// Drain the node and leave etcd first; --graceful=false skips both
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub graceful: bool,

    /// Reboot afterwards instead of shutting down
    #[arg(long)]
    pub reboot: bool,

    /// Wipe only these partitions of the system disk
    #[arg(long, value_delimiter = ',', value_name = "LABEL")]
    pub system_labels_to_wipe: Vec<String>,

    /// Also wipe these disks, as in /dev/sdb
    #[arg(long, value_delimiter = ',', value_name = "DEVICE")]
    pub user_disks_to_wipe: Vec<String>,

    /// Choose the disks to wipe
    #[arg(long, value_enum, default_value_t)]
    pub wipe_mode: WipeMode,

    #[command(flatten)]
    pub wait: WaitArgs,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Disks that a reset wipes.
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
