//! Commands about a whole cluster: each a thin call of the engine with the ports of a person at a terminal.

mod apply;
mod diff;
mod history;
mod interactive;
mod plan;
mod refusal;
mod status;

pub(super) use diff::diff;
use engine::live::{LiveKubernetes, LiveMachines, SystemClock, SystemEntropy};
use engine::provider::{self, Provider};
use engine::{Approver, EventSink, Ports};
pub use refusal::RefusalReport;

use crate::args::OutputFormat;
use crate::args::cluster::{ClusterCommand, OverrideArgs};
use crate::directory::OpenedDirectory;
use crate::printer::Printer;
use crate::runtime::{self, Signals};
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus};

pub(super) fn run(
    command: &ClusterCommand,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let work = async {
        match command {
            ClusterCommand::Plan(args) => plan::plan(args, environment, printer).await,
            ClusterCommand::Show(args) => plan::show(args, printer),
            ClusterCommand::Approve(args) => plan::approve(args, environment, printer).await,
            ClusterCommand::Apply(args) => apply::apply(args, environment, printer).await,
            ClusterCommand::Resume(args) => apply::resume(args, environment, printer).await,
            ClusterCommand::Destroy(args) => apply::destroy(args, environment, printer).await,
            ClusterCommand::Cancel(_) => apply::cancel(environment, printer).await,
            ClusterCommand::Status(args) => status::status(args, environment, printer).await,
            ClusterCommand::Health(args) => status::health(args, environment, printer).await,
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

/// The real world of one directory.
struct LiveCluster {
    machines: LiveMachines,
    kubernetes: LiveKubernetes,
    provider: Box<dyn Provider>,
    directory: OpenedDirectory,
    stop: Signals,
    holder: String,
}

impl LiveCluster {
    async fn open(environment: &UserEnvironment) -> Result<Self, Error> {
        let directory = OpenedDirectory::open(&environment.location).await?;
        Ok(Self {
            machines: directory.machines(),
            kubernetes: directory.kubernetes(),
            provider: provider::from_spec(&directory.cluster.spec).map_err(engine::Error::from)?,
            holder: holder(&environment.user),
            stop: Signals,
            directory,
        })
    }

    /// An error of the engine for people; a refusal also as data where data is wanted.
    fn error(
        &self,
        error: Error,
        effect: &'static str,
        output: OutputFormat,
        printer: &mut Printer,
    ) -> Error {
        let Error::Engine(engine::Error::Refused(refusal)) = error else { return error };
        let refused = RefusalReport::new(&refusal, &self.directory.cluster.spec, effect);
        if output != OutputFormat::Table {
            // A reader that is gone changes nothing about the refusal.
            let _ = printer.value(&refused, output);
        }
        Error::Refused(refused)
    }

    fn ports<'a>(&'a self, approver: &'a dyn Approver, events: &'a dyn EventSink) -> Ports<'a> {
        Ports {
            machines: &self.machines,
            lifecycle: &self.machines,
            etcd: &self.machines,
            kubernetes: &self.kubernetes,
            provider: self.provider.as_ref(),
            vault: &self.directory.vault,
            journal: &self.directory.journal,
            clock: &SystemClock,
            entropy: &SystemEntropy,
            approver,
            stop: &self.stop,
            events,
            holder: &self.holder,
        }
    }
}

/// Names the person and the computer to those who meet the lease.
fn holder(user: &str) -> String {
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{user}@{} (ichor)", host.trim())
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
