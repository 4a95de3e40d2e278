//! Arguments of `ichor version`.

use clap::Args;

use crate::args::{ConnectionArgs, MaintenanceArgs, OutputArgs};

/// Show the version of this program and of machines
///
/// Prints the range of Talos releases whose machines this program manages, and the range of version
/// contracts that it writes configuration for. Connects to machines only if some are named.
///
///   ichor version
///   ichor version -n 10.0.0.11,10.0.0.12
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct VersionArgs {
    /// Show only this program, without connecting to machines
    #[arg(long)]
    pub client: bool,

    /// Print one line
    #[arg(long)]
    pub short: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
