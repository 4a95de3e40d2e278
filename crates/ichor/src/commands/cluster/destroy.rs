//! `ichor destroy`: the end of a cluster.

use engine::Want;
use plan::{Goal, Override, Rule};

use super::execute::execute;
use crate::args::cluster::DestroyArgs;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &DestroyArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let live = LiveCluster::open(environment).await?;
    let Some(reason) = args.reason.as_deref().filter(|reason| !reason.trim().is_empty()) else {
        return Err(Error::Usage {
            message: format!(
                "ending cluster {} needs a reason",
                live.directory.cluster.spec.cluster
            ),
            hint: "pass --reason TEXT; it is part of the plan and of the audit log".to_owned(),
        });
    };
    let want = Want::Goal(Goal::Destroyed, vec![ending(Some(reason))]);
    execute(&live, want, args.confirm, &args.report, environment, printer).await
}

/// The override of `quorum.destroy`.
pub(super) fn ending(reason: Option<&str>) -> Override {
    let reason = reason.unwrap_or("no reason was given").to_owned();
    Override { rule: Rule::QuorumDestroy.name().to_owned(), machine: None, reason }
}
