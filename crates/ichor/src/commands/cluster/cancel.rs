//! `ichor cancel`: an unfinished plan, abandoned.

use engine::Cancelled;
use engine::live::SystemClock;
use plan::Digest;

use crate::directory::OpenedDirectory;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

/// Abandons a plan that was interrupted. An engine that carries it out now is asked to start no further step, and waited
/// for.
pub(super) async fn run(
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = OpenedDirectory::open(&environment.location).await?;
    let requested = |plan: Digest| {
        printer.note(&format!(
            "plan {} is being carried out: no further step is started, what is under way comes to its end",
            plan.short()
        ));
    };
    let text = match engine::cancel(&directory.journal, &SystemClock, requested).await? {
        Cancelled::Nothing => "no plan was interrupted".to_owned(),
        Cancelled::Completed(plan) => format!("plan {} is complete", plan.short()),
        Cancelled::Abandoned(plan) => {
            format!("plan {} is abandoned; machines stay as they are", plan.short())
        }
    };
    printer.note(&text);
    Ok(ExitStatus::Done)
}
