//! `ichor resume`: a plan that was interrupted, carried on.

use engine::Want;
use engine::journal::{Journal as _, Unfinished};
use plan::{Goal, Override, Rule};

use super::apply::want;
use super::execute::execute;
use crate::directory::OpenedDirectory;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::{Apply, UserEnvironment};
use crate::{Error, ExitStatus};

pub(super) async fn run(
    settings: &Apply,
    live: &LiveCluster,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut want = want(&settings.request)?;
    match unfinished(&live.directory).await? {
        None => printer.note("no unfinished plan"),
        Some(Unfinished { plan, goal }) => {
            printer.note(&format!("continuing after plan {}", plan.short()));
            if let (Goal::Destroyed, Want::Goal(_, overrides)) = (goal, &want) {
                // The interrupted plan says why, where it was kept; that the cluster is to end is in the journal.
                let kept = live.directory.journal.stored_plan(plan).await;
                let given = kept.map(|plan| plan.body().overrides.clone());
                let given = given.unwrap_or_else(|| vec![without_reason()]);
                let overrides = given.into_iter().chain(overrides.iter().cloned()).collect();
                want = Want::Goal(Goal::Destroyed, overrides);
            }
        }
    }
    execute(live, want, &settings.execution, environment, printer).await
}

async fn unfinished(directory: &OpenedDirectory) -> Result<Option<Unfinished>, Error> {
    Ok(directory.journal.ledger().await.map_err(engine::Error::from)?.unfinished)
}

/// The override of `quorum.destroy` for a plan whose file is gone.
fn without_reason() -> Override {
    let reason = "no reason was given".to_owned();
    Override { rule: Rule::QuorumDestroy.name().to_owned(), machine: None, reason }
}
