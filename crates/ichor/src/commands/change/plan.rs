//! `ichor plan`, `show` and `approve`: what would be done, and who says that it may be.

use std::path::Path;

use async_trait::async_trait;
use engine::journal::{Entry, Journal as _};
use engine::live::SystemClock;
use engine::{Approve, Cluster, Event, Events, Proposal, Trouble, propose};
use plan::{Approval, Checked, Draft, Goal, LeftOut, Plan};

use super::World;
use super::apply::ending;
use crate::args::{ApproveArgs, Output, PlanArgs, ShowArgs};
use crate::directory::Directory;
use crate::printer::Printer;
use crate::settings::{Input, Surroundings};
use crate::texts::Texts;
use crate::{Error, ExitStatus, files};

pub(super) async fn plan(
    args: &PlanArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let world = World::open(surroundings).await?;
    let ports = world.ports(&Nobody, &Nobody);
    let (goal, overrides) = if args.destroy {
        (Goal::Destroyed, vec![ending(args.overriding.reason.as_deref())])
    } else {
        (Goal::Spec, args.overriding.overrides())
    };
    let cluster = &world.directory.cluster;
    match propose(cluster, goal, &overrides, &ports).await? {
        Proposal::Nothing => {
            printer.note("everything is as it should be");
            Ok(ExitStatus::Done)
        }
        Proposal::Wait(left_out) => Ok(tell_left_out(cluster, &left_out, printer)),
        Proposal::Change(plan) => {
            show_plan(&*plan, args.shown.output, printer)?;
            if let Some(path) = &args.out {
                files::write_all(&[(path.clone(), plan.encode())], true, printer)?;
            }
            Ok(ExitStatus::Pending)
        }
    }
}

pub(super) fn show(args: &ShowArgs, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let plan = load(&args.plan)?;
    if args.shown.output == Output::Table {
        let steps: Vec<String> = plan.steps().iter().map(plan::Step::detail).collect();
        let text = format!("{}\n\n{}", head(&plan), steps.join("\n"));
        return printer.text(&text.trim_end());
    }
    show_plan(&plan, args.shown.output, printer)
}

pub(super) async fn approve(
    args: &ApproveArgs,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let directory = Directory::open(&surroundings.place).await?;
    let plan = load(&args.plan)?;
    let by = args.by.clone().unwrap_or_else(|| surroundings.user.clone());
    let approval = Approval { plan: plan.hash(), by, at: SystemClock::time() };
    directory.journal.append(Entry::Approved(approval)).await.map_err(engine::Error::from)?;
    printer.note(&format!("plan {} may be carried out", plan.hash().short()));
    Ok(ExitStatus::Done)
}

/// A plan from a file. Nothing in it is trusted yet.
pub(super) fn load(path: &Path) -> Result<Plan<Draft>, Error> {
    let (text, _) = Texts::default().read(&Input::File(path.to_owned()))?;
    Plan::decode(&text).map_err(|error| Error::Spec {
        message: format!("{}: {error}", path.display()),
        hint: Some(error.hint().to_owned()),
        code: error.code(),
    })
}

/// Shows what a plan does, as a table or as the file that it is.
pub(super) fn show_plan<State>(
    plan: &Plan<State>,
    output: Output,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    match output {
        Output::Table => printer.text(&format!("{}\n{}", head(plan), plan.table()).trim_end()),
        Output::Json => printer.exactly(&plan.encode()),
        Output::Yaml => {
            let value: serde_json::Value =
                serde_json::from_str(&plan.encode()).map_err(std::io::Error::from)?;
            let text = serde_saphyr::to_string(&value).map_err(std::io::Error::other)?;
            printer.text(&text.trim_end())
        }
    }
}

fn head<State>(plan: &Plan<State>) -> String {
    format!("plan {} for cluster {}", plan.hash().short(), plan.body().cluster)
}

/// Tells that nothing can be done for now, and gives the status to end with.
pub(super) fn tell_left_out(
    cluster: &Cluster,
    left_out: &[LeftOut],
    printer: &mut Printer,
) -> ExitStatus {
    for LeftOut { machine, why } in left_out {
        printer.note(&format!("left out: {machine}: {why}"));
    }
    let left = |name: &str| left_out.iter().any(|left_out| left_out.machine == name);
    if cluster.spec.machines().all(|(machine, _)| left(machine.name.as_str())) {
        ExitStatus::Unreachable
    } else {
        ExitStatus::Failed
    }
}

/// Nobody says yes, and nobody listens.
pub(super) struct Nobody;

#[async_trait]
impl Approve for Nobody {
    async fn approve(&self, _plan: &Plan<Checked>) -> Result<Option<Approval>, Trouble> {
        Ok(None)
    }
}

impl Events for Nobody {
    fn tell(&self, _event: &Event) {}
}
