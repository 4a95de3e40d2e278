//! `ichor show`: a plan in full.

use plan::{Body, Goal, Override};

use super::plan_file::{head, load, show_plan};
use crate::args::OutputFormat;
use crate::printer::Printer;
use crate::settings::Show;
use crate::{Error, ExitStatus};

pub(super) fn run(settings: &Show, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let plan = load(&settings.plan)?;
    if settings.output == OutputFormat::Table {
        let steps: Vec<String> = plan.steps().iter().map(plan::Step::detail).collect();
        let about = about(plan.body());
        let text = format!("{}\n{about}\n{}", head(&plan), steps.join("\n"));
        return printer.display(&format_args!("{}", text.trim_end()));
    }
    show_plan(&plan, settings.output, printer)
}

/// Describes the goal of a plan, its skipped machines and its overrides.
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
