//! `ichor cancel`: an unfinished plan, abandoned.

use engine::Cancelled;
use plan::Digest;

use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::{Error, ExitStatus};

/// Abandons a plan that was interrupted. An engine that carries it out now is asked to start no further step, and waited
/// for.
pub(super) async fn run(live: &LiveCluster, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let requested = |plan: Digest| {
        printer.note(&format!(
            "plan {} is running: no further step is started, running steps are completed",
            plan.short()
        ));
    };
    let text = match engine::cancel(&live.directory.journal, live.clock(), requested).await? {
        Cancelled::Nothing => "no unfinished plan".to_owned(),
        Cancelled::Completed(plan) => format!("plan {} is complete", plan.short()),
        Cancelled::Abandoned(plan) => {
            format!("plan {} is abandoned; machines are not changed", plan.short())
        }
    };
    printer.note(&text);
    Ok(ExitStatus::Done)
}
