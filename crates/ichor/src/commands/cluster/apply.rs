//! `ichor apply`, `resume`, `destroy` and `cancel`: plans are carried out until the cluster matches its spec.

use std::path::Path;

use engine::journal::{Journal as _, Unfinished};
use engine::live::SystemClock;
use engine::{Cancelled, Failure, Metrics, Outcome, Report, Want, converge};
use plan::{ClusterSpec, Digest, Goal, Override, Rule};

use super::LiveCluster;
use super::interactive::InteractiveSession;
use super::plan::{load, tell_one_skipped, tell_skipped};
use crate::args::cluster::{ApplyArgs, DestroyArgs, ReportArgs, ResumeArgs};
use crate::args::{ConfirmArgs, OutputFormat};
use crate::directory::OpenedDirectory;
use crate::printer::Printer;
use crate::settings::{Input, UserEnvironment};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, files};

pub(super) async fn apply(
    args: &ApplyArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let live = LiveCluster::open(environment).await?;
    change(&live, want(args)?, args.confirm, &args.report, environment, printer).await
}

pub(super) async fn resume(
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
    change(&live, want, args.confirm, &args.report, environment, printer).await
}

pub(super) async fn destroy(
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
    change(&live, want, args.confirm, &args.report, environment, printer).await
}

/// The override of `quorum.destroy`.
pub(super) fn ending(reason: Option<&str>) -> Override {
    let reason = reason.unwrap_or("no reason was given").to_owned();
    Override { rule: Rule::QuorumDestroy.name().to_owned(), machine: None, reason }
}

/// Abandons a plan that was interrupted. An engine that carries it out now is asked to start no further step, and waited
/// for.
pub(super) async fn cancel(
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = OpenedDirectory::open(&environment.location).await?;
    let requested = |plan: Digest| {
        printer.note(&format!(
            "plan {} is being carried out: no further step is started, what is under way comes to its end",
            plan.short()
        ));
    };
    let text = match engine::cancel(&directory.journal, &SystemClock, requested).await? {
        Cancelled::Nothing => "no plan was interrupted".to_owned(),
        Cancelled::Completed(plan) => format!("plan {} is complete", plan.short()),
        Cancelled::Abandoned(plan) => {
            format!("plan {} is abandoned; machines stay as they are", plan.short())
        }
    };
    printer.note(&text);
    Ok(ExitStatus::Done)
}

fn want(args: &ApplyArgs) -> Result<Want, Error> {
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

async fn change(
    live: &LiveCluster,
    want: Want,
    sure: ConfirmArgs,
    told: &ReportArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let cluster = &live.directory.cluster;
    if let Some(path) = &told.metrics {
        check_metrics_file(path)?;
    }
    let metrics = Metrics::new(cluster.spec.cluster.as_str());
    let session =
        InteractiveSession::new(&live.directory, environment, sure, told.output.format, printer);
    let listeners = (&metrics, &session);
    let ports = live.ports(&session, &listeners);
    let outcome = converge(cluster, want, &ports).await;
    let (printer, outcome) = session.end(outcome);
    // Told beside the outcome, which it must not hide.
    let mut unwritten = false;
    if let Some(path) = &told.metrics
        && let Err(error) = files::write_all(&[(path.clone(), metrics.to_string())], true, printer)
    {
        printer.error(&error);
        unwritten = true;
    }
    let status = ended(live, outcome, told.output.format, printer)?;
    Ok(if unwritten && status == ExitStatus::Done { ExitStatus::Failed } else { status })
}

/// Tells how it ended.
fn ended(
    live: &LiveCluster,
    outcome: Result<Outcome, Error>,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let cluster = &live.directory.cluster;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return Err(live.error(error, NO_FURTHER_STEP, output, printer)),
    };
    match outcome {
        Outcome::Settled => {
            printer.note("nothing to do: the cluster matches its spec");
            Ok(ExitStatus::Done)
        }
        Outcome::Blocked(skipped) => Ok(tell_skipped(cluster, &skipped, printer)),
        Outcome::NeedsApproval(plan) => {
            Err(Error::Declined(format!("plan {}", plan.hash().short())))
        }
        Outcome::Outdated(refusal) => {
            let error = engine::Error::from(refusal).into();
            Err(live.error(error, NO_FURTHER_STEP, output, printer))
        }
        Outcome::Ran(report) => Ok(tell_report(&report, &cluster.spec, printer)),
    }
}

/// What a refusal comes to where earlier plans may have been carried out.
const NO_FURTHER_STEP: &str = "refused by a safety rule: no further step was started";

/// Refuses to replace a file that does not hold metrics, before anything is done.
fn check_metrics_file(path: &Path) -> Result<(), Error> {
    if !path.exists() {
        return Ok(());
    }
    let (text, _) = SourceMap::default().read(&Input::File(path.to_owned()))?;
    if text.is_empty() || text.starts_with("# HELP ichor_") {
        return Ok(());
    }
    let hint = "the file does not hold metrics of Ichor: give --metrics another name";
    Err(Error::Exists { path: path.to_owned(), hint })
}

async fn unfinished(directory: &OpenedDirectory) -> Result<Option<Unfinished>, Error> {
    Ok(directory.journal.ledger().await.map_err(engine::Error::from)?.unfinished)
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
    let (plan, done) = (report.plan.short(), report.done.len());
    let left = report.failures.len() + report.left.len();
    let text = match (report.is_complete(), report.skipped.len()) {
        (true, 0) => format!("plan {plan}: {done} steps done"),
        (true, skipped) => format!("plan {plan}: {done} steps done, {skipped} skipped"),
        (false, _) => {
            format!("plan {plan}: {done} steps done, {left} not; `ichor resume` goes on from here")
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
