//! The directory of the cluster.

use std::path::PathBuf;

use clap::Args;

/// Which cluster.
#[derive(Clone, Debug, Args)]
pub struct ClusterDirArgs {
    /// The directory of the cluster; else the nearest one upward with an ichor.yaml or a talconfig.yaml
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
