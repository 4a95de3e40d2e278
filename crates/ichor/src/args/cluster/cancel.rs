//! Arguments of `ichor cancel`.

use clap::Args;

use crate::args::ClusterDirArgs;

/// Abandon an unfinished plan; a running one is stopped first
#[derive(Clone, Debug, Args)]
pub struct CancelArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,
}
