//! A cluster with the ports of the real world: the one place that opens a directory and makes ports for the engine.

use std::sync::Arc;

use engine::live::{LiveKubernetes, LiveMachines, SystemClock, SystemEntropy};
use engine::provider::{self, Provider};
use engine::{Approver, EventSink, Ports};

use crate::Error;
use crate::args::OutputFormat;
use crate::commands::RefusalReport;
use crate::credentials::short_lived;
use crate::directory::OpenedDirectory;
use crate::printer::Printer;
use crate::runtime::Signals;
use crate::settings::UserEnvironment;

/// The real world of one directory.
pub(crate) struct LiveCluster {
    machines: LiveMachines,
    kubernetes: LiveKubernetes,
    provider: Box<dyn Provider>,
    pub(crate) directory: OpenedDirectory,
    stop: Signals,
    holder: String,
}

impl LiveCluster {
    pub(crate) async fn open(environment: &UserEnvironment) -> Result<Self, Error> {
        let directory = OpenedDirectory::open(&environment.location).await?;
        Ok(Self {
            machines: machines(&directory),
            kubernetes: kubernetes(&directory),
            provider: provider::from_spec(&directory.cluster.spec).map_err(engine::Error::from)?,
            holder: holder(&environment.user),
            stop: Signals,
            directory,
        })
    }

    /// An error of the engine for people; a refusal also as data where data is wanted.
    pub(crate) fn error(
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

    pub(crate) fn ports<'a>(
        &'a self,
        approver: &'a dyn Approver,
        events: &'a dyn EventSink,
    ) -> Ports<'a> {
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

/// The machines of the cluster. Credentials are made of the secrets, and again before they expire.
fn machines(directory: &OpenedDirectory) -> LiveMachines {
    let name = directory.cluster.spec.cluster.to_string();
    let secrets = directory.cluster.secrets.clone();
    let mint = move || {
        let roles = ["os:admin".to_owned()];
        let made = short_lived(|lasts, makers| secrets.talosconfig(&name, &roles, lasts, makers));
        let talosconfig =
            made.and_then(|made| Ok(made?)).map_err(|error: Error| error.port_error())?;
        talosconfig.context(&name).ok_or_else(|| {
            let error = Error::Usage {
                message: "the secrets give no credentials".to_owned(),
                hint: "`ichor gen secrets` makes a complete set for a new cluster".to_owned(),
            };
            error.port_error()
        })
    };
    LiveMachines::new(Box::new(mint), Arc::new(SystemClock))
}

/// Its Kubernetes API, with credentials as for the machines.
fn kubernetes(directory: &OpenedDirectory) -> LiveKubernetes {
    let cluster = directory.cluster.spec.cluster.to_string();
    let endpoint = directory.cluster.spec.endpoint.to_string();
    let secrets = directory.cluster.secrets.clone();
    let mint = move || {
        let made =
            short_lived(|lasts, makers| secrets.kubeconfig(&cluster, &endpoint, lasts, makers));
        made.and_then(|made| Ok(made?)).map_err(|error: Error| error.port_error())
    };
    LiveKubernetes::new(Box::new(mint), Arc::new(SystemClock))
}
