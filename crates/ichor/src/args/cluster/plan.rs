//! Arguments of `ichor plan`.

use std::path::PathBuf;

use clap::Args;

use super::OverrideArgs;
use crate::args::{ClusterDirArgs, OutputArgs};

/// Show the steps that would make the cluster match its directory
///
/// Observes every machine and changes nothing. The exit status is 2 when there is something to do, and 4 when a safety
/// rule refuses it.
///
///   ichor plan
///   ichor plan --out change.plan && ichor show change.plan && ichor apply change.plan
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct PlanArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Also write the plan to a file, for `ichor show`, `approve` and `apply`
    ///
    /// If the file already holds the same plan, it is left untouched and stays approved.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Overwrite the file also when it is not a plan
    #[arg(long, requires = "out")]
    pub force: bool,

    /// Plan to destroy the cluster, as `ichor destroy` does
    #[arg(long, conflicts_with = "rules")]
    pub destroy: bool,

    #[command(flatten)]
    pub overrides: OverrideArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}
