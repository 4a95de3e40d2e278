//! `ichor apply`, `resume` and `cancel`: a person carries out plans, one after the other, until all is as it should be.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use engine::journal::{Entry, Journal as _};
use engine::live::SystemClock;
use engine::{Approve, Event, Events, Failure, Outcome, Report, StepPlace, Trouble, run, run_plan};
use plan::{Approval, Checked, Digest, Plan};

use super::World;
use super::plan::{load, show_plan, tell_left_out};
use crate::args::{ApplyArgs, Output, Sure};
use crate::directory::Directory;
use crate::printer::Printer;
use crate::settings::{Place, Surroundings};
use crate::{Error, ExitStatus};

pub(super) async fn apply(
    args: &ApplyArgs,
    place: &Place,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let world = World::open(place, surroundings).await?;
    apply_in(&world, args, surroundings, printer).await
}

async fn apply_in(
    world: &World,
    args: &ApplyArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = &world.directory;
    let person = Person {
        printer: Mutex::new(printer),
        sure: args.sure,
        name: surroundings.user.clone(),
        directory,
    };
    let ports = world.ports(&person, &person);
    let cluster = &directory.cluster;
    let overrides = args.overriding.overrides();
    let outcome = match &args.plan {
        Some(path) => run_plan(cluster, load(path)?, &ports).await?,
        None => run(cluster, &overrides, &ports).await?,
    };
    let printer = person.printer.into_inner().unwrap_or_else(PoisonError::into_inner);
    match outcome {
        Outcome::Settled => {
            printer.note("everything is as it should be");
            Ok(ExitStatus::Done)
        }
        Outcome::Waiting(left_out) => {
            tell_left_out(&left_out, printer);
            Ok(ExitStatus::Failed)
        }
        Outcome::NeedsApproval(plan) => {
            Err(Error::Declined(format!("plan {}", plan.hash().short())))
        }
        Outcome::Ran(report) => Ok(tell_report(&report, printer)),
    }
}

pub(super) async fn resume(
    args: &ApplyArgs,
    place: &Place,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let world = World::open(place, surroundings).await?;
    if let Some(plan) = unfinished(&world.directory).await? {
        printer.note(&format!("goes on after plan {}", plan.short()));
    } else {
        printer.note("no plan was interrupted");
    }
    apply_in(&world, args, surroundings, printer).await
}

pub(super) async fn cancel(place: &Place, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let directory = Directory::open(place).await?;
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

/// Somebody at a terminal, who is shown the plan, asked, and told what happens.
struct Person<'a> {
    printer: Mutex<&'a mut Printer>,
    sure: Sure,
    name: String,
    directory: &'a Directory,
}

impl Person<'_> {
    fn printing<T>(&self, print: impl FnOnce(&mut Printer) -> T) -> T {
        let mut printer = self.printer.lock().unwrap_or_else(PoisonError::into_inner);
        print(&mut printer)
    }

    /// An approval that somebody gave before.
    async fn given(&self, plan: Digest) -> Option<Approval> {
        let records = self.directory.journal.read().await.ok()?;
        records.into_iter().rev().find_map(|record| match record.entry {
            Entry::Approved(approval) if approval.plan == plan => Some(approval),
            _ => None,
        })
    }
}

#[async_trait]
impl Approve for Person<'_> {
    async fn approve(&self, plan: &Plan<Checked>) -> Result<Option<Approval>, Trouble> {
        let shown = self.printing(|printer| show_plan(plan, Output::Table, printer));
        shown.map_err(|error| error.trouble())?;
        if let Some(approval) = self.given(plan.hash()).await {
            return Ok(Some(approval));
        }
        let action = format!("carry out {} steps", plan.steps().len());
        match self.printing(|printer| printer.confirm(&action, self.sure)) {
            Ok(()) => Ok(Some(Approval {
                plan: plan.hash(),
                by: self.name.clone(),
                at: SystemClock::time(),
            })),
            Err(Error::Declined(_)) => Ok(None),
            Err(error) => Err(error.trouble()),
        }
    }
}

impl Events for Person<'_> {
    fn tell(&self, event: &Event) {
        let line = |place: &StepPlace, text: &str| {
            let StepPlace { step, of, machine, verb, .. } = place;
            format!("[{step}/{of}] {machine}: {verb}{text}")
        };
        self.printing(|printer| match event {
            Event::Observed { unseen, .. } => {
                for (machine, why) in unseen {
                    printer.note(&format!("{machine} cannot be seen: {why}"));
                }
            }
            Event::LeaseUnavailable { why } => {
                printer.note(&format!("no lease in the cluster keeps others out: {why}"));
            }
            Event::StepBegun(place) => printer.note(&line(place, " …")),
            Event::StepWaits { place, for_what } => {
                printer.progress(&line(place, &format!(": waits for {for_what}")));
            }
            Event::StepDone { place, took } => {
                printer.note(&line(place, &format!(" done in {} s", took.as_secs())));
            }
            Event::StepFailed { place, code, message } => {
                printer.note(&line(place, &format!(" failed[{code}]: {message}")));
            }
            Event::Planned { .. }
            | Event::Approved { .. }
            | Event::LeaseTaken { .. }
            | Event::Ended { .. } => {}
        });
    }
}
