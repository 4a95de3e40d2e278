//! Arguments of `ichor node reset`.

use clap::{Args, ValueEnum};

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs, MaintenanceArgs};

/// Make machines forget their configuration and their data
///
/// Each leaves etcd, is wiped, and is followed until it is off or, with --reboot, back. A control plane is
/// refused where etcd would lose its majority, or its last member.
///
///   ichor node reset -n 10.0.0.21
///   ichor node reset -n 10.0.0.21 --reboot --system-labels-to-wipe STATE,EPHEMERAL
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct ResetArgs {
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
