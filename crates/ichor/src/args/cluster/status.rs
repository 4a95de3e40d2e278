//! Arguments of `ichor status`.

use clap::Args;

use crate::args::{ClusterDirArgs, OutputArgs};

/// Show the machines of the cluster and their state
#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Refresh until Ctrl-C
    #[arg(short, long)]
    pub watch: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}
