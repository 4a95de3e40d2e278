//! `ichor apply`: the cluster made to match its directory.

use engine::Want;
use plan::Goal;

use super::execute::execute;
use super::plan_file::load;
use crate::args::cluster::ApplyArgs;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &ApplyArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let live = LiveCluster::open(environment).await?;
    execute(&live, want(args)?, args.confirm, &args.report, environment, printer).await
}

pub(super) fn want(args: &ApplyArgs) -> Result<Want, Error> {
    match &args.plan {
        Some(_) if !args.overrides.overrides()?.is_empty() => {
            let (message, hint) = (
                "a plan in a file has its own overrides",
                "give --override to `ichor plan --out FILE`",
            );
            Err(Error::Usage { message: message.to_owned(), hint: hint.to_owned() })
        }
        Some(path) => Ok(Want::Plan(Box::new(load(path)?))),
        None => Ok(Want::Goal(Goal::Spec, args.overrides.overrides()?)),
    }
}
