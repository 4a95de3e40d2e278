//! `ichor approve`: a plan that may be carried out without a question.

use engine::check_plan;
use engine::journal::{Entry, Journal as _};
use plan::Approval;

use super::interactive::NonInteractive;
use super::plan::UNCHANGED;
use super::plan_file::load;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::Approve;
use crate::{Error, ExitStatus};

/// Approves a plan that passes every safety rule now. When it is carried out it is checked again.
pub(super) async fn run(
    settings: &Approve,
    live: &LiveCluster,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let Approve { plan, by } = settings;
    let ports = live.ports(&NonInteractive, &NonInteractive);
    let plan = match check_plan(&live.directory.cluster, load(plan)?, &ports).await {
        Ok(plan) => plan,
        Err(error) => return Err(live.error(error.into(), UNCHANGED)),
    };
    let approval = Approval { plan: plan.hash(), by: by.clone(), at: live.clock().now() };
    let journal = &live.directory.journal;
    journal.append(Entry::PlanApproved(approval)).await.map_err(engine::Error::from)?;
    printer.note(&format!("plan {} is approved", plan.hash().short()));
    Ok(ExitStatus::Done)
}
