//! Commands about a whole cluster.

mod apply;
mod approve;
mod cancel;
mod destroy;
mod health;
mod history;
mod overrides;
mod plan;
mod report;
mod resume;
mod show;
mod status;

pub use apply::ApplyArgs;
pub use approve::ApproveArgs;
pub use cancel::CancelArgs;
pub use destroy::DestroyArgs;
pub use health::HealthArgs;
pub use history::HistoryArgs;
pub use overrides::OverrideArgs;
pub use plan::PlanArgs;
pub use report::ReportArgs;
pub use resume::ResumeArgs;
pub use show::ShowArgs;
pub use status::StatusArgs;

use std::path::PathBuf;

use clap::Subcommand;

/// Verbs about a cluster.
#[derive(Clone, Debug, Subcommand)]
pub enum ClusterCommand {
    Plan(PlanArgs),
    Show(ShowArgs),
    Approve(ApproveArgs),
    Apply(ApplyArgs),
    Resume(ResumeArgs),
    Destroy(DestroyArgs),
    Cancel(CancelArgs),
    Status(StatusArgs),
    Health(HealthArgs),
    History(HistoryArgs),
}

impl ClusterCommand {
    /// Returns the cluster directory named on the command line.
    pub(crate) fn directory(&self) -> Option<&PathBuf> {
        match self {
            Self::Plan(args) => args.cluster_dir.directory.as_ref(),
            Self::Show(_) => None,
            Self::Approve(args) => args.cluster_dir.directory.as_ref(),
            Self::Apply(args) => args.cluster_dir.directory.as_ref(),
            Self::Resume(args) => args.apply.cluster_dir.directory.as_ref(),
            Self::Destroy(args) => args.cluster_dir.directory.as_ref(),
            Self::Cancel(args) => args.cluster_dir.directory.as_ref(),
            Self::Status(args) => args.cluster_dir.directory.as_ref(),
            Self::Health(args) => args.status.cluster_dir.directory.as_ref(),
            Self::History(args) => args.cluster_dir.directory.as_ref(),
        }
    }
}
