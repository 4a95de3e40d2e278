//! `ichor plan`, `show` and `approve`: what would be done, and who says that it may be.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use engine::journal::{Entry, Journal as _};
use engine::live::SystemClock;
use engine::{Approver, Cluster, Event, EventSink, PortError, Proposal, Want, propose};
use plan::{Approval, Body, Checked, ClusterSpec, Draft, Goal, Override, Plan, Skipped, Target};

use super::LiveCluster;
use super::apply::ending;
use super::refusal::{address, with_address};
use crate::args::OutputFormat;
use crate::args::cluster::{ApproveArgs, PlanArgs, ShowArgs};
use crate::directory::OpenedDirectory;
use crate::error::with_causes;
use crate::printer::Printer;
use crate::settings::{Input, UserEnvironment};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, files};

pub(super) async fn plan(
    args: &PlanArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let live = LiveCluster::open(environment).await?;
    let (goal, overrides) = if args.destroy {
        (Goal::Destroyed, vec![ending(args.overrides.reason.as_deref())])
    } else {
        (Goal::Spec, args.overrides.overrides()?)
    };
    let cluster = &live.directory.cluster;
    // A plan that waits in the file for its approval keeps its hash for as long as nothing has changed.
    let kept = args.out.as_deref().filter(|path| path.exists());
    let kept = kept.map(replaceable).transpose()?.flatten();
    let kept = kept.filter(|plan| (plan.body().goal, &plan.body().overrides) == (goal, &overrides));
    let want = kept.map_or(Want::Goal(goal, overrides), |plan| Want::Pending(Box::new(plan)));
    let planning = Planning(Mutex::new(printer));
    let proposed = propose(cluster, want, &live.ports(&NonInteractive, &planning)).await;
    let printer = planning.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    let output = args.output.format;
    let refused = |error: engine::Error| live.error(error.into(), UNCHANGED, output, printer);
    match proposed.map_err(refused)? {
        Proposal::Nothing => {
            printer.note("nothing to do: the cluster matches its spec");
            Ok(ExitStatus::Done)
        }
        Proposal::Blocked(skipped) => Ok(tell_skipped(cluster, &skipped, printer)),
        Proposal::Change(plan) => {
            show_plan(&*plan, args.output.format, printer)?;
            if let Some(path) = &args.out {
                files::write_all(&[(path.clone(), plan.encode())], true, printer)?;
            }
            Ok(ExitStatus::Pending)
        }
    }
}

pub(super) fn show(args: &ShowArgs, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let plan = load(&args.plan)?;
    if args.output.format == OutputFormat::Table {
        let steps: Vec<String> = plan.steps().iter().map(plan::Step::detail).collect();
        let about = about(plan.body());
        let text = format!("{}\n{about}\n{}", head(&plan), steps.join("\n"));
        return printer.text(&text.trim_end());
    }
    show_plan(&plan, args.output.format, printer)
}

pub(super) async fn approve(
    args: &ApproveArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = OpenedDirectory::open(&environment.location).await?;
    let plan = load(&args.plan)?;
    let by = args.by.clone().unwrap_or_else(|| environment.user.clone());
    let approval = Approval { plan: plan.hash(), by, at: SystemClock::time() };
    directory.journal.append(Entry::PlanApproved(approval)).await.map_err(engine::Error::from)?;
    printer.note(&format!("plan {} may be carried out", plan.hash().short()));
    Ok(ExitStatus::Done)
}

/// What a refusal of a plan that was only to be shown comes to.
const UNCHANGED: &str = "refused by a safety rule: nothing was changed";

/// A plan from a file. Nothing in it is trusted yet.
pub(super) fn load(path: &Path) -> Result<Plan<Draft>, Error> {
    let (text, _) = SourceMap::default().read(&Input::File(path.to_owned()))?;
    Plan::decode(&text).map_err(|error| Error::Spec {
        message: format!("{}: {}", path.display(), with_causes(&error)),
        hint: Some(error.hint().to_owned()),
        code: error.code(),
    })
}

/// Shows what a plan does, as a table or as the file that it is.
pub(super) fn show_plan<State>(
    plan: &Plan<State>,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    match output {
        OutputFormat::Table => {
            printer.text(&format!("{}\n{}", head(plan), plan.table()).trim_end())
        }
        OutputFormat::Json => printer.verbatim(&plan.encode()),
        OutputFormat::Yaml => {
            let value: serde_json::Value =
                serde_json::from_str(&plan.encode()).map_err(std::io::Error::from)?;
            let text = serde_saphyr::to_string(&value).map_err(std::io::Error::other)?;
            printer.text(&text.trim_end())
        }
    }
}

/// The plan that a new one may replace. Refuses to replace anything else: the file may be the only copy of its content.
fn replaceable(path: &Path) -> Result<Option<Plan<Draft>>, Error> {
    match load(path) {
        Ok(plan) => Ok(Some(plan)),
        // A plan all the same, which a new one replaces: of another release, or edited.
        Err(Error::Spec { code: "plan.edited" | "plan.format", .. }) => Ok(None),
        Err(error @ Error::Input(_)) => Err(error),
        Err(_) => Err(Error::Exists {
            path: path.to_owned(),
            hint: "the file is not a plan: give --out another name",
        }),
    }
}

/// What a plan is for, what it leaves out and which rules it does not keep.
fn about(body: &Body) -> String {
    let goal = match body.goal {
        Goal::Spec => "the cluster matches its spec",
        Goal::Destroyed => "the cluster is destroyed: machines lose their configuration and data",
    };
    let skipped = body.skipped.iter().map(|skipped| format!("skipped   {skipped}\n"));
    let overrides = body.overrides.iter().map(|Override { rule, machine, reason }| {
        let scope = machine.as_ref().map_or_else(String::new, |machine| format!("={machine}"));
        format!("override  {rule}{scope}: {reason}\n")
    });
    format!("goal      {goal}\n") + &skipped.chain(overrides).collect::<String>()
}

fn head<State>(plan: &Plan<State>) -> String {
    format!("plan {} for cluster {}", plan.hash().short(), plan.body().cluster)
}

/// Tells that nothing can be done for now, and gives the status to end with.
pub(super) fn tell_skipped(
    cluster: &Cluster,
    skipped: &[Skipped],
    printer: &mut Printer,
) -> ExitStatus {
    for one in skipped {
        tell_one_skipped(one, &cluster.spec, printer);
    }
    let is_skipped = |target: &Target| skipped.iter().any(|skipped| skipped.on == *target);
    if cluster.spec.machines().all(|(machine, _)| is_skipped(&(&machine.name).into())) {
        ExitStatus::Unreachable
    } else {
        ExitStatus::Failed
    }
}

/// Tells what is left out, and why.
pub(super) fn tell_one_skipped(skipped: &Skipped, spec: &ClusterSpec, printer: &mut Printer) {
    let Skipped { on, rule, why } = skipped;
    let on = match on.machine() {
        Some(name) => with_address(name.as_str(), address(spec, name).as_deref()),
        None => on.to_string(),
    };
    let rule = rule.as_ref().map_or_else(String::new, |rule| format!("{rule}: "));
    printer.note(&format!("skipped: {on}: {rule}{why}"));
}

/// Tells why a plan that was kept is not the plan any more.
struct Planning<'a>(Mutex<&'a mut Printer>);

impl EventSink for Planning<'_> {
    fn emit(&self, event: &Event) {
        if let Event::Replanned { replaces, differences, .. } = event {
            let mut printer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (plan, differences) = (replaces.short(), differences.join("\n  "));
            printer.note(&format!("plan {plan} is not what would be done now:\n  {differences}"));
        }
    }
}

/// For commands that only look: approves nothing and tells nothing.
pub(super) struct NonInteractive;

#[async_trait]
impl Approver for NonInteractive {
    async fn approve(&self, _plan: &Plan<Checked>) -> Result<Option<Approval>, PortError> {
        Ok(None)
    }
}

impl EventSink for NonInteractive {
    fn emit(&self, _event: &Event) {}
}
