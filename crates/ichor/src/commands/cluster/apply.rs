//! `ichor apply`: the cluster made to match its directory.

use engine::Want;
use plan::Goal;

use super::execute::execute;
use super::plan_file::load;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::{Apply, ApplyRequest, UserEnvironment};
use crate::{Error, ExitStatus};

pub(super) async fn run(
    settings: &Apply,
    live: &LiveCluster,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let want = want(&settings.request)?;
    execute(live, want, &settings.execution, environment, printer).await
}

pub(super) fn want(request: &ApplyRequest) -> Result<Want, Error> {
    Ok(match request {
        ApplyRequest::PlanFile(path) => Want::Plan(Box::new(load(path)?)),
        ApplyRequest::Spec(overrides) => Want::Goal(Goal::Spec, overrides.clone()),
    })
}
