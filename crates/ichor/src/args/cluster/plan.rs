//! Arguments of `ichor plan`.

use std::path::PathBuf;

use clap::Args;

use super::OverrideArgs;
use crate::args::{ClusterDirArgs, OutputArgs};

/// Show the steps that would make the cluster match its directory
///
/// Looks at every machine and changes nothing. Ends with 2 when there is something to do, with 4 when a safety rule
/// forbids it.
///
///   ichor plan
///   ichor plan --out change.plan && ichor show change.plan && ichor apply change.plan
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct PlanArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Also write the plan to a file, to be shown, approved and applied later
    ///
    /// A plan that is in the file already, and would be made again, stays as it is, and so does its approval.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Plan the end of the cluster, as `ichor destroy` would carry it out
    #[arg(long, conflicts_with = "rules")]
    pub destroy: bool,

    #[command(flatten)]
    pub overrides: OverrideArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}
