//! `ichor plan`: the steps that would make the cluster match its directory.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use engine::{Event, EventSink, Proposal, Want, bounded_file, propose};
use plan::{Draft, Plan};
use talos_config::Coded;

use super::execute::nothing_to_do;
use super::interactive::NonInteractive;
use super::output::NoPlan;
use super::plan_file::{load, show_plan};
use super::skipped::tell_skipped;
use crate::files::{self, OutputFile};
use crate::live_cluster::LiveCluster;
use crate::printer::Printer;
use crate::settings;
use crate::{Error, ExitStatus};

pub(super) async fn run(
    settings: &settings::Plan,
    live: &LiveCluster,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let settings::Plan { goal, overrides, out, overwrite, output } = settings;
    let cluster = &live.directory.cluster;
    // A plan that waits in the file for its approval keeps its hash for as long as nothing has changed.
    let kept = out.as_deref().filter(|path| path.exists());
    let kept = kept.map(|path| replaceable(path, *overwrite)).transpose()?.flatten();
    let kept = kept.filter(|plan| (&plan.body().goal, &plan.body().overrides) == (goal, overrides));
    let want =
        kept.map_or(Want::Goal(*goal, overrides.clone()), |plan| Want::Pending(Box::new(plan)));
    let planning = Planning(Mutex::new(printer));
    let proposed = propose(cluster, want, &live.ports(&NonInteractive, &planning)).await;
    let printer = planning.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    let proposed = match proposed {
        Ok(proposed) => proposed,
        Err(error) => {
            let error = live.error(error.into(), UNCHANGED);
            if let Error::Refused(refused) = &error {
                printer.data(refused, *output)?;
            }
            return Err(error);
        }
    };
    match proposed {
        Proposal::Nothing => {
            printer.data(&NoPlan::new(&cluster.spec, &[]), *output)?;
            printer.note(nothing_to_do(*goal));
            Ok(ExitStatus::Done)
        }
        Proposal::Blocked(skipped) => {
            printer.data(&NoPlan::new(&cluster.spec, &skipped), *output)?;
            Ok(tell_skipped(cluster, &skipped, printer))
        }
        Proposal::Change(plan) => {
            show_plan(&*plan, *output, printer)?;
            if let Some(path) = out {
                files::write_all(
                    &[OutputFile::shared(path.clone(), plan.encode())],
                    true,
                    printer,
                )?;
            }
            Ok(ExitStatus::Pending)
        }
    }
}

/// The plan that a new one may replace. Refuses to replace anything else, unless told to: the file may be the only copy of
/// its content.
fn replaceable(path: &Path, overwrite: bool) -> Result<Option<Plan<Draft>>, Error> {
    // A FIFO is not waited for.
    bounded_file::open(path).map_err(Error::Input)?;
    match load(path) {
        Ok(plan) => Ok(Some(plan)),
        // A plan all the same, which a new one replaces: of another release, or edited.
        Err(error) if matches!(error.code(), "plan.edited" | "plan.format") => Ok(None),
        Err(_) if overwrite => Ok(None),
        Err(error @ Error::Input(_)) => Err(error),
        Err(_) => Err(Error::Exists {
            path: path.to_owned(),
            hint: "the file is not a plan: pass another name to --out, or --force",
        }),
    }
}

/// Reports why a pending plan is outdated.
struct Planning<'a>(Mutex<&'a mut Printer>);

impl EventSink for Planning<'_> {
    fn emit(&self, event: &Event) {
        if let Event::Replanned { replaces, differences, .. } = event {
            let mut printer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (plan, differences) = (replaces.short(), differences.join("\n  "));
            printer.note(&format!("plan {plan} is outdated:\n  {differences}"));
        }
    }
}

/// Effect of a refusal on commands that only show a plan.
pub(super) const UNCHANGED: &str = "refused by a safety rule: nothing was changed";
