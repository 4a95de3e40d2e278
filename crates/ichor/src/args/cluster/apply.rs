//! Arguments of `ichor apply`.

use std::path::PathBuf;

use clap::Args;

use super::{OverrideArgs, ReportArgs};
use crate::args::{ClusterDirArgs, ConfirmArgs};

/// Make the cluster match its directory
///
/// Shows the plan and asks for approval first. Starts from the current state of the cluster, so that applying again
/// finishes what was interrupted. With a plan file exactly that plan is carried out, if it still passes every safety rule.
#[derive(Clone, Debug, Args)]
pub struct ApplyArgs {
    /// Plan file to carry out; by default a new plan is made
    pub plan: Option<PathBuf>,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    #[command(flatten)]
    pub overrides: OverrideArgs,

    #[command(flatten)]
    pub report: ReportArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,
}
