//! Arguments of `ichor apply`.

use std::path::PathBuf;

use clap::Args;

use super::{OverrideArgs, ReportArgs};
use crate::args::{ClusterDirArgs, ConfirmArgs};

/// Make the cluster match its directory
///
/// Shows the plan and asks first. It goes on from wherever the cluster is: what was interrupted is finished by applying
/// again. With a plan's file exactly that plan is carried out, if it still keeps every rule.
#[derive(Clone, Debug, Args)]
pub struct ApplyArgs {
    /// The plan to carry out; a new one when left out
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
