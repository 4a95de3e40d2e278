//! Arguments of `ichor version`.

use clap::Args;

use crate::args::{ConnectionArgs, MaintenanceArgs, OutputArgs};

/// Show the version of this program and of machines
///
/// Machines are supported over their API, and configuration is written for every version contract
/// in the range. The range is what this program is built for, whatever is installed elsewhere.
/// Machines are asked only when some are named.
///
///   ichor version
///   ichor version -n 10.0.0.11,10.0.0.12
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct VersionArgs {
    /// Ask no machine
    #[arg(long)]
    pub client: bool,

    /// Show this program in one line
    #[arg(long)]
    pub short: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
