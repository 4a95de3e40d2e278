//! `ichor destroy`: the end of a cluster.

use engine::Want;
use plan::Goal;

use super::execute::execute;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::{Destroy, UserEnvironment};
use crate::{Error, ExitStatus};

pub(super) async fn run(
    settings: &Destroy,
    live: &LiveCluster,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let Destroy { overrides, execution } = settings;
    let want = Want::Goal(Goal::Destroyed, overrides.clone());
    execute(live, want, execution, environment, printer).await
}
