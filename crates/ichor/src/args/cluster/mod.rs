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
