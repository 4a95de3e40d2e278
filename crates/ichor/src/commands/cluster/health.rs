//! `ichor health`: whether a cluster is well.

use tokio::time::timeout;

use super::status::{LOOK_AGAIN, show_status};
use super::status_report::observe_status;
use crate::args::OutputFormat;
use crate::args::cluster::HealthArgs;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    args: &HealthArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let HealthArgs { status: args, wait } = args;
    let live = LiveCluster::open(environment).await?;
    printer
        .progress(&format!("asking {} machines", live.directory.cluster.spec.machines().count()));
    let mut timed_out = false;
    if let Some(wait) = wait {
        // Whether it came about or not, what there is then is shown below.
        match timeout(*wait, until_well(&live, printer)).await {
            Ok(outcome) => outcome?,
            Err(_) => timed_out = true,
        }
    }
    let status = show_status(&live, args, printer, true).await?;
    if args.output.format == OutputFormat::Table {
        // What the table shows the reason of is not told again.
        for problem in status.problems.iter().filter(|problem| !status.is_reason(problem)) {
            printer.note(problem);
        }
    }
    Ok(match status.reached() {
        _ if status.problems.is_empty() => ExitStatus::Done,
        _ if timed_out => ExitStatus::TimedOut,
        ExitStatus::Unreachable => ExitStatus::Unreachable,
        _ => ExitStatus::Failed,
    })
}

/// Looks again and again until nothing is wrong, and tells what is when that changes.
async fn until_well(live: &LiveCluster, printer: &mut Printer) -> Result<(), Error> {
    let mut told = Vec::new();
    loop {
        let problems = observe_status(live, true).await?.problems;
        if problems.is_empty() {
            return Ok(());
        }
        for problem in problems.iter().filter(|problem| !told.contains(*problem)) {
            printer.step(&format!("not yet: {problem}"));
        }
        told = problems;
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}
