//! Arguments of `ichor containers`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the containers of machines
#[derive(Clone, Debug, Args)]
pub struct ContainersArgs {
    /// Show the containers of Kubernetes instead of those of Talos
    #[arg(short, long)]
    pub kubernetes: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
