//! Arguments of `ichor approve`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ClusterDirArgs;

/// Approve a plan
///
/// Records the approval of exactly this plan, by its hash, in the journal. `ichor apply PLAN` does not ask again.
#[derive(Clone, Debug, Args)]
pub struct ApproveArgs {
    /// Plan file that `ichor plan --out FILE` wrote
    pub plan: PathBuf,

    /// Record this name as the approver; by default yours
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,
}
