//! Plans carried out until the cluster matches its spec.

use std::path::Path;

use engine::{Failure, Metrics, Outcome, Report, Want, converge};
use plan::{ClusterSpec, Goal};

use super::interactive::{InteractiveSession, count};
use super::output::RunResult;
use super::skipped::{tell_one_skipped, tell_skipped};
use crate::args::OutputFormat;
use crate::files::{self, OutputFile};
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings::{Execution, UserEnvironment};
use crate::{Error, ExitStatus};

pub(super) async fn execute(
    live: &LiveCluster,
    want: Want,
    execution: &Execution,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let cluster = &live.directory.cluster;
    let output = execution.output;
    let goal = match &want {
        Want::Goal(goal, _) => *goal,
        Want::Plan(plan) | Want::Pending(plan) => plan.body().goal,
    };
    if let Some(path) = &execution.metrics {
        check_metrics_file(path)?;
    }
    let metrics = Metrics::new(cluster.spec.cluster.as_str());
    let session = InteractiveSession::new(live, environment, execution, printer);
    let listeners = (&metrics, &session);
    let ports = live.ports(&session, &listeners);
    let outcome = converge(cluster, want, &ports).await;
    let (printer, outcome) = session.end(outcome);
    // Reported beside the outcome, which it must not hide.
    let mut unwritten = false;
    if let Some(path) = &execution.metrics
        && let Err(error) = files::write_all(
            &[OutputFile::shared(path.clone(), metrics.to_string())],
            true,
            printer,
        )
    {
        printer.error(&error);
        unwritten = true;
    }
    let status = ended(live, outcome, goal, output, printer)?;
    Ok(if unwritten && status == ExitStatus::Done { ExitStatus::Failed } else { status })
}

/// Reports the outcome.
fn ended(
    live: &LiveCluster,
    outcome: Result<Outcome, Error>,
    goal: Goal,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let cluster = &live.directory.cluster;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return Err(refused(live, error, output, printer)),
    };
    if output != OutputFormat::Table {
        let spec = &cluster.spec;
        let result = match &outcome {
            Outcome::Settled => Some(RunResult::nothing_to_do()),
            Outcome::Blocked(skipped) => Some(RunResult::blocked(skipped, spec)),
            Outcome::Ran(report) => Some(RunResult::new(report, spec)),
            Outcome::NeedsApproval(_) | Outcome::Outdated(_) => None,
        };
        // A reader that is gone changes nothing about the outcome.
        drop(result.map(|result| printer.item(&result, output)));
    }
    match outcome {
        Outcome::Settled => {
            printer.note(nothing_to_do(goal));
            Ok(ExitStatus::Done)
        }
        Outcome::Blocked(skipped) => Ok(tell_skipped(cluster, &skipped, printer)),
        Outcome::NeedsApproval(plan) => {
            Err(Error::Declined(format!("plan {}", plan.hash().short())))
        }
        Outcome::Outdated(refusal) => {
            Err(refused(live, engine::Error::from(refusal).into(), output, printer))
        }
        Outcome::Ran(report) => Ok(tell_report(&report, &cluster.spec, printer)),
    }
}

/// Converts an error, and gives a refusal to programs too.
fn refused(live: &LiveCluster, error: Error, output: OutputFormat, printer: &mut Printer) -> Error {
    let error = live.error(error, NO_FURTHER_STEP);
    if let Error::Refused(refused) = &error
        && output != OutputFormat::Table
    {
        // A reader that is gone changes nothing about the refusal.
        drop(printer.item(refused, output));
    }
    error
}

pub(super) const fn nothing_to_do(goal: Goal) -> &'static str {
    match goal {
        Goal::Spec => "nothing to do: the cluster matches its spec",
        Goal::Destroyed => "nothing to do: the cluster is destroyed",
    }
}

/// Refuses to replace a file that does not hold metrics, before anything is done.
fn check_metrics_file(path: &Path) -> Result<(), Error> {
    if !path.exists() {
        return Ok(());
    }
    let text = engine::bounded_file::read_to_string(path).map_err(Error::Input)?;
    if text.is_empty() || text.starts_with("# HELP ichor_") {
        return Ok(());
    }
    let hint = "the file does not hold metrics of Ichor: pass another name to --metrics";
    Err(Error::Exists { path: path.to_owned(), hint })
}

fn tell_report(report: &Report, spec: &ClusterSpec, printer: &mut Printer) -> ExitStatus {
    for Failure { step, on, error, leaves, recovery } in &report.failures {
        printer.note(&format!(
            "step {step} on {on} failed[{}]: {error}\n  leaves {leaves}\n  try {recovery}",
            error.code
        ));
    }
    for skipped in &report.skipped {
        tell_one_skipped(skipped, spec, printer);
    }
    let (plan, done) = (report.plan.short(), count(report.done.len(), "step"));
    let left = report.failures.len() + report.left.len();
    let text = match (report.is_complete(), report.skipped.len()) {
        (true, 0) => format!("plan {plan}: {done} done"),
        (true, skipped) => format!("plan {plan}: {done} done, {skipped} skipped"),
        (false, _) => {
            format!("plan {plan}: {done} done, {left} not done; `ichor resume` continues")
        }
    };
    printer.note(&text);
    if report.stopped {
        ExitStatus::Interrupted
    } else if report.is_complete() && report.skipped.is_empty() {
        ExitStatus::Done
    } else {
        ExitStatus::Failed
    }
}

/// Effect of a refusal after earlier plans may have been carried out.
const NO_FURTHER_STEP: &str = "refused by a safety rule: no further step was started";
