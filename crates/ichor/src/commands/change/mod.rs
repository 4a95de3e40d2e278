//! Commands about a whole cluster: each a thin call of the engine with the ports of a person at a terminal.

mod apply;
mod diff;
mod history;
mod import;
mod init;
mod init_talconfig;
mod person;
mod plan;
mod status;

pub(super) use diff::diff;
use engine::live::{LiveKubernetes, LiveMachines, SystemClock};
use engine::provider::Metal;
use engine::{Approve, Events, Ports};

use crate::args::{Change, Overriding};
use crate::directory::Directory;
use crate::machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) fn run(
    command: &Change,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    machines::run(async {
        match command {
            Change::Init(args) if args.talhelper => {
                init_talconfig::run(args, &surroundings.place.keys, printer)
            }
            Change::Init(args) => init::run(args, printer),
            Change::Import(args) => import::run(args, surroundings, printer).await,
            Change::Plan(args) => plan::plan(args, surroundings, printer).await,
            Change::Show(args) => plan::show(args, printer),
            Change::Approve(args) => plan::approve(args, surroundings, printer).await,
            Change::Apply(args) => apply::apply(args, surroundings, printer).await,
            Change::Resume(args) => apply::resume(args, surroundings, printer).await,
            Change::Destroy(args) => apply::destroy(args, surroundings, printer).await,
            Change::Cancel(_) => apply::cancel(surroundings, printer).await,
            Change::Status(args) => status::status(args, surroundings, printer).await,
            Change::Health(args) => status::health(args, surroundings, printer).await,
            Change::History(args) => history::run(args, surroundings, printer).await,
        }
    })
}

/// The real world of one directory.
struct World {
    machines: LiveMachines,
    kubernetes: LiveKubernetes,
    provider: Metal,
    directory: Directory,
    holder: String,
}

impl World {
    async fn open(surroundings: &Surroundings) -> Result<Self, Error> {
        let directory = Directory::open(&surroundings.place).await?;
        Ok(Self {
            machines: directory.machines()?,
            kubernetes: directory.kubernetes()?,
            provider: Metal::new(directory.cluster.targets()),
            holder: format!("{} (ichor, {})", surroundings.user, directory.id()),
            directory,
        })
    }

    fn ports<'a>(&'a self, approve: &'a dyn Approve, events: &'a dyn Events) -> Ports<'a> {
        Ports {
            machines: &self.machines,
            kubernetes: &self.kubernetes,
            provider: &self.provider,
            vault: &self.directory.vault,
            journal: &self.directory.journal,
            clock: &SystemClock,
            approve,
            events,
            holder: &self.holder,
        }
    }
}

impl Overriding {
    fn overrides(&self) -> Vec<::plan::Override> {
        let reason = self.reason.clone().unwrap_or_default();
        let given = self
            .rules
            .iter()
            .map(|rule| ::plan::Override { rule: rule.clone(), reason: reason.clone() });
        given.collect()
    }
}
