//! Arguments of `ichor status`.

use clap::Args;

use crate::args::{ClusterDirArgs, OutputArgs};

/// Show the machines of the cluster and their state
#[derive(Clone, Debug, Args)]
pub struct StatusArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Show only these machines, by name or address
    #[arg(short = 'n', long = "nodes", value_name = "NAME", value_delimiter = ',')]
    pub names: Vec<String>,

    /// Refresh until Ctrl-C
    #[arg(short, long)]
    pub watch: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}
