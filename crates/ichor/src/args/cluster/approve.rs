//! Arguments of `ichor approve`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ClusterDirArgs;

/// Approve a plan
///
/// The approval is for exactly this plan, by its hash, and is written into the journal. `ichor apply PLAN` does not ask
/// then.
#[derive(Clone, Debug, Args)]
pub struct ApproveArgs {
    /// The file that `ichor plan --out FILE` wrote
    pub plan: PathBuf,

    /// Who approves; you when left out
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,
}
