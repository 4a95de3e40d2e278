//! Arguments of `ichor disks`.

use clap::Args;

use crate::args::{ConnectionArgs, MaintenanceArgs, OutputArgs};

/// Show the disks of machines
///
///   ichor disks -n 10.0.0.11
///   ichor disks -n 10.0.0.13 --insecure
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct DisksArgs {
    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
