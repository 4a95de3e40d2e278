//! `ichor approve`: a plan that may be carried out without a question.

use engine::journal::{Entry, Journal as _};
use engine::live::SystemClock;
use plan::Approval;

use super::plan_file::load;
use crate::args::cluster::ApproveArgs;
use crate::directory::OpenedDirectory;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ApproveArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = OpenedDirectory::open(&environment.location).await?;
    let plan = load(&args.plan)?;
    let by = args.by.clone().unwrap_or_else(|| environment.user.clone());
    let approval = Approval { plan: plan.hash(), by, at: SystemClock::time() };
    directory.journal.append(Entry::PlanApproved(approval)).await.map_err(engine::Error::from)?;
    printer.note(&format!("plan {} may be carried out", plan.hash().short()));
    Ok(ExitStatus::Done)
}
