//! Arguments of `ichor node wipe`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use crate::args::values::duration;
use crate::args::{ConfirmArgs, ConnectionArgs, MaintenanceArgs};

/// What `ichor node wipe` wipes.
#[derive(Clone, Debug, Subcommand)]
pub enum NodeWipeCommand {
    Disk(WipeDiskArgs),
}

/// Wipe disks or partitions that nothing uses
///
///   ichor node wipe disk sdb sdc1 -n 10.0.0.21
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct WipeDiskArgs {
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
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
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
