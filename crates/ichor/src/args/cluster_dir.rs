//! The directory of the cluster.

use std::path::PathBuf;

use clap::Args;

/// Cluster directory.
#[derive(Clone, Debug, Args)]
pub struct ClusterDirArgs {
    /// Use this cluster directory; by default the nearest one upward with an ichor.yaml or a talconfig.yaml
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
