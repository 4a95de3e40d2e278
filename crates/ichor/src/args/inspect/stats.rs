//! Arguments of `ichor stats`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show CPU and memory use of containers
#[derive(Clone, Debug, Args)]
pub struct StatsArgs {
    /// Show the containers of Kubernetes instead of those of Talos
    #[arg(short, long)]
    pub kubernetes: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
