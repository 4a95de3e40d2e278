//! Arguments of `ichor history`.

use clap::Args;

use crate::args::{ClusterDirArgs, OutputArgs};

/// Show past plans and actions
#[derive(Clone, Debug, Args)]
pub struct HistoryArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Verify that journal and audit log are unmodified, instead of showing them
    #[arg(long)]
    pub verify: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}
