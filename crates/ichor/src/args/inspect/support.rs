//! Arguments of `ichor support`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::ConnectionArgs;
use crate::args::values::{duration, size};

/// Collect logs and the state of machines into one file
///
/// For each machine: logs of the kernel, of services and of kube-system, resources, processes, mounts,
/// PCI devices, disk statistics, controllers and the release. The specs of resources that Talos calls
/// sensitive are left out, and so is the machine configuration; read the logs before you pass them on.
/// Missing parts are listed in the file errors.txt.
///
///   ichor support -n 10.0.0.11,10.0.0.12
///   ichor support -n cp-1 -O cp-1.tar.gz
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct SupportArgs {
    /// Write to this file (.tar.gz)
    #[arg(short = 'O', long, value_name = "FILE", default_value = "support.tar.gz")]
    pub output: PathBuf,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,

    /// Cut each log after this; as 500MB or 1GiB
    #[arg(long, value_name = "SIZE", default_value = "32MiB", value_parser = size)]
    pub max_log_size: u64,

    /// Stop asking a machine after this time
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration)]
    pub timeout: Duration,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
