//! Arguments of `ichor destroy`.

use clap::Args;

use super::ReportArgs;
use crate::args::{ClusterDirArgs, ConfirmArgs};

/// Destroy the cluster: reset its machines to maintenance mode
///
/// Wipes configuration and data of every machine of the cluster, one control plane after the other. Talos stays installed,
/// so that `ichor apply` can create the cluster again. The directory keeps its files. Shows the plan and asks for the
/// cluster's name first, unless --yes is given; `ichor plan --destroy` only shows it.
///
///   ichor destroy --reason "the test lab is decommissioned"
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct DestroyArgs {
    /// Record this reason in the plan and in the audit log
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    #[command(flatten)]
    pub report: ReportArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,
}
