//! Arguments of `ichor history`.

use clap::Args;

use crate::args::{ClusterDirArgs, OutputArgs};

/// Show past plans and actions
#[derive(Clone, Debug, Args)]
pub struct HistoryArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Check that neither the journal nor the audit log was changed, instead of showing them
    #[arg(long)]
    pub verify: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}
