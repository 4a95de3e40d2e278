//! Commands about a whole cluster: each a thin call of the engine with the ports of a person at a terminal.

mod apply;
mod approve;
mod cancel;
mod destroy;
mod diff;
mod execute;
mod health;
mod history;
mod interactive;
mod plan;
mod plan_file;
mod refusal;
mod resume;
mod show;
mod skipped;
mod status;
mod status_report;

pub(super) use diff::diff;
pub use refusal::RefusalReport;

use crate::args::cluster::{ClusterCommand, OverrideArgs};
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, runtime};

pub(super) fn run(
    command: &ClusterCommand,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let work = async {
        match command {
            ClusterCommand::Plan(args) => plan::run(args, environment, printer).await,
            ClusterCommand::Show(args) => show::run(args, printer),
            ClusterCommand::Approve(args) => approve::run(args, environment, printer).await,
            ClusterCommand::Apply(args) => apply::run(args, environment, printer).await,
            ClusterCommand::Resume(args) => resume::run(args, environment, printer).await,
            ClusterCommand::Destroy(args) => destroy::run(args, environment, printer).await,
            ClusterCommand::Cancel(_) => cancel::run(environment, printer).await,
            ClusterCommand::Status(args) => status::run(args, environment, printer).await,
            ClusterCommand::Health(args) => health::run(args, environment, printer).await,
            ClusterCommand::History(args) => history::run(args, environment, printer).await,
        }
    };
    match command {
        ClusterCommand::Apply(_) | ClusterCommand::Resume(_) | ClusterCommand::Destroy(_) => {
            runtime::run_stoppable(work)
        }
        _ => runtime::run(work),
    }
}

impl OverrideArgs {
    /// `identity.node=w-1` is for one machine, `quorum.tolerance` for the plan.
    fn overrides(&self) -> Result<Vec<::plan::Override>, Error> {
        let reason = self.reason.clone().unwrap_or_default();
        let given = self.rules.iter().map(|given| {
            let (rule, machine) = match given.split_once('=') {
                Some((rule, machine)) => (rule, Some(machine)),
                None => (given.as_str(), None),
            };
            let machine = machine.map(str::parse).transpose().map_err(|error| Error::Usage {
                message: format!("--override {given}: {error}"),
                hint: "a rule, or a rule and a machine, as in identity.node=w-1".to_owned(),
            })?;
            Ok(::plan::Override { rule: rule.to_owned(), machine, reason: reason.clone() })
        });
        given.collect()
    }
}
