//! Arguments of `ichor cancel`.

use clap::Args;

use crate::args::ClusterDirArgs;

/// Stop and abandon an unfinished plan
#[derive(Clone, Debug, Args)]
pub struct CancelArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,
}
