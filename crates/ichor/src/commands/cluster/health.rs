//! `ichor health`: whether a cluster is well.

use plan::MachineName;
use tokio::time::timeout;

use super::named::named;
use super::status::{LOOK_AGAIN, show_status, tell_asking};
use super::status_report::observe_status;
use crate::args::OutputFormat;
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::Health;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    settings: &Health,
    live: &LiveCluster,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let Health { status: settings, wait } = settings;
    let machines = named(&live.directory, &settings.machines)?;
    tell_asking(live, settings, printer);
    let mut timed_out = false;
    if let Some(wait) = wait {
        // The latest state is shown below in any case.
        match timeout(*wait, until_well(live, &machines, printer)).await {
            Ok(outcome) => outcome?,
            Err(_) => timed_out = true,
        }
    }
    let status = show_status(live, settings, printer, true).await?;
    if settings.output == OutputFormat::Table {
        for problem in status.problems.iter().filter(|problem| !problem.is_in_table()) {
            printer.note(&problem.to_string());
        }
    }
    Ok(match status.reached() {
        _ if status.problems.is_empty() => ExitStatus::Done,
        _ if timed_out => ExitStatus::TimedOut,
        ExitStatus::Unreachable => ExitStatus::Unreachable,
        _ => ExitStatus::Failed,
    })
}

/// Observes repeatedly until the cluster is healthy, and reports new problems.
async fn until_well(
    live: &LiveCluster,
    machines: &[MachineName],
    printer: &mut Printer,
) -> Result<(), Error> {
    let mut told = Vec::new();
    loop {
        let problems = observe_status(live, machines, true).await?.problems;
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
