//! Commands about a whole cluster: each a thin call of the engine with the ports of a terminal session.

mod apply;
mod approve;
mod cancel;
mod destroy;
mod diff;
mod execute;
mod first_secrets;
mod health;
mod history;
mod interactive;
mod plan;
mod plan_file;
mod refusal;
mod resume;
mod show;
mod skipped;
mod status;
mod status_report;

pub use refusal::RefusalReport;

use crate::directory::NO_SECRETS;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::{Apply, ApplyRequest, Cluster, ClusterVerb, UserEnvironment};
use crate::{Error, ExitStatus, runtime};

pub(super) fn run(settings: &Cluster, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let Cluster { verb, environment } = settings;
    if let ClusterVerb::Show(settings) = verb {
        return show::run(settings, printer);
    }
    let work = async {
        let live = match (LiveCluster::open(environment).await, verb) {
            (
                Err(missing),
                ClusterVerb::Apply(Apply { request: ApplyRequest::Spec(_), execution }),
            ) if missing.code() == NO_SECRETS => {
                let skip_confirmation = execution.skip_confirmation;
                first_secrets::generate(missing, skip_confirmation, environment, printer).await?;
                LiveCluster::open(environment).await?
            }
            (opened, _) => opened?,
        };
        carry_out(verb, &live, environment, printer).await
    };
    match verb {
        ClusterVerb::Apply(_) | ClusterVerb::Resume(_) | ClusterVerb::Destroy(_) => {
            runtime::run_stoppable(work)
        }
        _ => runtime::run(work),
    }
}

/// Runs a command on a cluster that is open.
async fn carry_out(
    verb: &ClusterVerb,
    live: &LiveCluster,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    match verb {
        ClusterVerb::Plan(settings) => plan::run(settings, live, printer).await,
        ClusterVerb::Show(settings) => show::run(settings, printer),
        ClusterVerb::Approve(settings) => approve::run(settings, live, printer).await,
        ClusterVerb::Apply(settings) => apply::run(settings, live, environment, printer).await,
        ClusterVerb::Resume(settings) => resume::run(settings, live, environment, printer).await,
        ClusterVerb::Destroy(settings) => destroy::run(settings, live, environment, printer).await,
        ClusterVerb::Cancel => cancel::run(live, printer).await,
        ClusterVerb::Status(settings) => status::run(settings, live, printer).await,
        ClusterVerb::Health(settings) => health::run(settings, live, printer).await,
        ClusterVerb::Diff(settings) => diff::run(settings, live, printer).await,
        ClusterVerb::History(settings) => history::run(settings, live, printer).await,
    }
}
