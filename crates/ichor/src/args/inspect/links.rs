//! Arguments of `ichor links`.

use clap::Args;

use crate::args::{ConnectionArgs, MaintenanceArgs, OutputArgs};

/// Show the network links of machines and their addresses
#[derive(Clone, Debug, Args)]
pub struct LinksArgs {
    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
