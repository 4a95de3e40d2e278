//! `ichor resume`: a plan that was interrupted, carried on.

use engine::Want;
use engine::journal::{Journal as _, Unfinished};
use plan::Goal;

use super::apply::want;
use super::destroy::ending;
use super::execute::execute;
use crate::args::cluster::ResumeArgs;
use crate::directory::OpenedDirectory;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    ResumeArgs { apply: args }: &ResumeArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let live = LiveCluster::open(environment).await?;
    let mut want = want(args)?;
    match unfinished(&live.directory).await? {
        None => printer.note("no plan was interrupted"),
        Some(Unfinished { plan, goal }) => {
            printer.note(&format!("goes on after plan {}", plan.short()));
            if let (Goal::Destroyed, Want::Goal(_, overrides)) = (goal, &want) {
                // The interrupted plan says why, where it was kept; that the cluster is to end is in the journal.
                let kept = live.directory.journal.stored_plan(plan).await;
                let given = kept.map(|plan| plan.body().overrides.clone());
                let given = given.unwrap_or_else(|| vec![ending(None)]);
                let overrides = given.into_iter().chain(overrides.iter().cloned()).collect();
                want = Want::Goal(Goal::Destroyed, overrides);
            }
        }
    }
    execute(&live, want, args.confirm, &args.report, environment, printer).await
}

async fn unfinished(directory: &OpenedDirectory) -> Result<Option<Unfinished>, Error> {
    Ok(directory.journal.ledger().await.map_err(engine::Error::from)?.unfinished)
}
