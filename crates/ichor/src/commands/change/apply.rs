//! `ichor apply`, `resume`, `destroy` and `cancel`: a person carries out plans until all is as it should be.

use engine::journal::{Entry, Journal as _};
use engine::{Failure, Metrics, Outcome, Report, run, run_plan};
use plan::{Digest, Draft, Goal, Override, Plan, Rule};

use super::World;
use super::person::Person;
use super::plan::{load, tell_left_out};
use crate::args::{ApplyArgs, DestroyArgs, Sure, Told};
use crate::directory::Directory;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus, files};

pub(super) async fn apply(
    args: &ApplyArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let world = World::open(surroundings).await?;
    let what = What::of(args)?;
    change(&world, what, args.sure, &args.told, surroundings, printer).await
}

pub(super) async fn resume(
    args: &ApplyArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let world = World::open(surroundings).await?;
    let journal = &world.directory.journal;
    let mut what = What::of(args)?;
    match unfinished(&world.directory).await? {
        None => printer.note("no plan was interrupted"),
        Some(plan) => {
            printer.note(&format!("goes on after plan {}", plan.short()));
            // Somebody said before that it shall end.
            let ending = journal.kept(plan).filter(|plan| plan.body().goal == Goal::Destroyed);
            if let (Some(ending), What::Goal(Goal::Spec, overrides)) = (ending, &what) {
                let given = ending.body().overrides.iter().chain(overrides).cloned();
                what = What::Goal(Goal::Destroyed, given.collect());
            }
        }
    }
    change(&world, what, args.sure, &args.told, surroundings, printer).await
}

pub(super) async fn destroy(
    args: &DestroyArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let world = World::open(surroundings).await?;
    let what = What::Goal(Goal::Destroyed, vec![ending(args.reason.as_deref())]);
    change(&world, what, args.sure, &args.told, surroundings, printer).await
}

/// Says by its name that the rule shall not hold which keeps a cluster from being ended.
pub(super) fn ending(reason: Option<&str>) -> Override {
    let reason = reason.unwrap_or("nobody gave a reason").to_owned();
    Override { rule: Rule::QuorumDestroy.name().to_owned(), reason }
}

pub(super) async fn cancel(
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = Directory::open(&surroundings.place).await?;
    match unfinished(&directory).await? {
        Some(plan) => {
            let entry = Entry::Cancelled { plan };
            directory.journal.append(entry).await.map_err(engine::Error::from)?;
            printer.note(&format!("plan {} is given up; machines stay as they are", plan.short()));
        }
        None => printer.note("no plan was interrupted"),
    }
    Ok(ExitStatus::Done)
}

/// What is to be carried out.
enum What {
    /// A plan that was made before.
    Plan(Box<Plan<Draft>>),
    /// Whatever leads there now, without these rules.
    Goal(Goal, Vec<Override>),
}

impl What {
    fn of(args: &ApplyArgs) -> Result<Self, Error> {
        match &args.plan {
            Some(path) => Ok(Self::Plan(Box::new(load(path)?))),
            None => Ok(Self::Goal(Goal::Spec, args.overriding.overrides())),
        }
    }
}

async fn change(
    world: &World,
    what: What,
    sure: Sure,
    told: &Told,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let cluster = &world.directory.cluster;
    let metrics = Metrics::new(cluster.spec.cluster.as_str());
    let person = Person::new(&world.directory, surroundings, sure, told.shown.output, printer);
    let listeners = (&metrics, &person);
    let ports = world.ports(&person, &listeners);
    let outcome = match what {
        What::Plan(plan) => run_plan(cluster, *plan, &ports).await,
        What::Goal(goal, overrides) => run(cluster, goal, &overrides, &ports).await,
    };
    let (printer, outcome) = person.end(outcome);
    if let Some(path) = &told.metrics {
        files::write_all(&[(path.clone(), metrics.to_string())], true, printer)?;
    }
    match outcome? {
        Outcome::Settled => {
            printer.note("everything is as it should be");
            Ok(ExitStatus::Done)
        }
        Outcome::Waiting(left_out) => Ok(tell_left_out(cluster, &left_out, printer)),
        Outcome::NeedsApproval(plan) => {
            Err(Error::Declined(format!("plan {}", plan.hash().short())))
        }
        Outcome::Ran(report) => Ok(tell_report(&report, printer)),
    }
}

async fn unfinished(directory: &Directory) -> Result<Option<Digest>, Error> {
    let records = directory.journal.read().await.map_err(engine::Error::from)?;
    Ok(engine::journal::unfinished(&records))
}

fn tell_report(report: &Report, printer: &mut Printer) -> ExitStatus {
    for Failure { step, machine, trouble, leaves, recovery } in &report.failures {
        printer.note(&format!(
            "step {step} on {machine} failed[{}]: {trouble}\n  leaves {leaves}\n  try {recovery}",
            trouble.code
        ));
    }
    let done = report.done.len();
    if report.is_complete() {
        printer.note(&format!("plan {}: {done} steps done", report.plan.short()));
        return ExitStatus::Done;
    }
    let left = report.failures.len() + report.left.len();
    printer.note(&format!(
        "plan {}: {done} steps done, {left} not; `ichor resume` goes on from here",
        report.plan.short()
    ));
    ExitStatus::Failed
}
