//! Arguments of `ichor destroy`.

use clap::Args;

use super::ReportArgs;
use crate::args::{ClusterDirArgs, ConfirmArgs};

/// End the cluster: reset its machines to maintenance
///
/// Every machine that is the cluster's loses its configuration and its data, one control plane after the other; Talos stays
/// installed, so that `ichor apply` makes the cluster anew. The directory keeps its files. Shows the plan and asks
/// first; `ichor plan --destroy` only shows it.
///
///   ichor destroy --reason "the hall is given back"
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct DestroyArgs {
    /// Why; it is part of the plan and of the audit log
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    #[command(flatten)]
    pub report: ReportArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,
}
