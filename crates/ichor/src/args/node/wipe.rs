//! Arguments of `ichor node wipe`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::values::duration;
use crate::args::{ConfirmArgs, ConnectionArgs, MaintenanceArgs};

/// Verbs of `ichor node wipe`.
#[derive(Clone, Debug, Subcommand)]
pub enum NodeWipeCommand {
    Disk(WipeDiskArgs),
}

/// Wipe unused disks or partitions
///
///   ichor node wipe disk sdb sdc1 -n 10.0.0.21
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct WipeDiskArgs {
    /// Disks and partitions, as in vda or sda5
    #[arg(required = true, value_name = "DEVICE")]
    pub devices: Vec<String>,

    /// Choose what is wiped
    #[arg(long, value_enum, default_value_t, ignore_case = true)]
    pub method: WipeMethod,

    /// Also remove partitions from the partition table; Talos 1.10 and later
    #[arg(long)]
    pub drop_partition: bool,

    /// Stop waiting for one machine after this time
    #[arg(long, default_value = "24h", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Methods of wiping.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum WipeMethod {
    /// Signatures of file systems and partition tables
    #[default]
    Fast,
    /// Everything
    Zeroes,
}
