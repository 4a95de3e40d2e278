//! A cluster with its ports: the one place that opens a directory and makes ports for the engine.

use std::sync::Arc;

use engine::live::{LiveKubernetes, LiveMachines, SystemClock, SystemEntropy};
use engine::provider::{self, Provider};
use engine::{
    Approver, Clock, Entropy, EtcdMembers, EventSink, Kubernetes, Lifecycle, Machines, Ports, Stop,
};

use crate::Error;
use crate::commands::RefusalReport;
use crate::credentials::short_lived;
use crate::directory::OpenedDirectory;
use crate::runtime::Signals;
use crate::settings::UserEnvironment;

/// A directory, and the ports to everything outside of it.
pub(crate) struct LiveCluster {
    pub(crate) directory: OpenedDirectory,
    outside: ExternalPorts,
}

/// The ports of the engine that no directory has.
pub(crate) struct ExternalPorts {
    pub(crate) machines: Arc<dyn Machines>,
    pub(crate) lifecycle: Arc<dyn Lifecycle>,
    pub(crate) etcd: Arc<dyn EtcdMembers>,
    pub(crate) kubernetes: Arc<dyn Kubernetes>,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) stop: Arc<dyn Stop>,
    /// User and host, for others who find the lease taken.
    pub(crate) holder: String,
}

impl LiveCluster {
    /// Opens the directory, with ports to the real world.
    pub(crate) async fn open(environment: &UserEnvironment) -> Result<Self, Error> {
        let directory = OpenedDirectory::open(&environment.location).await?;
        let machines = Arc::new(machines(&directory));
        let provider = provider::from_spec(&directory.cluster.spec).map_err(engine::Error::from)?;
        let outside = ExternalPorts {
            lifecycle: Arc::clone(&machines) as _,
            etcd: Arc::clone(&machines) as _,
            machines,
            kubernetes: Arc::new(kubernetes(&directory)),
            provider: provider.into(),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(SystemEntropy),
            stop: Arc::new(Signals),
            holder: holder(&environment.user),
        };
        Ok(Self::new(directory, outside))
    }

    pub(crate) fn new(directory: OpenedDirectory, outside: ExternalPorts) -> Self {
        Self { directory, outside }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.outside.clock.as_ref()
    }

    /// Converts an error of the engine; a refusal gets the names and addresses of its machines.
    pub(crate) fn error(&self, error: Error, effect: &'static str) -> Error {
        match error {
            Error::Engine(engine::Error::Refused(refusal)) => {
                let spec = &self.directory.cluster.spec;
                Error::Refused(RefusalReport::new(&refusal, spec, effect))
            }
            error => error,
        }
    }

    pub(crate) fn ports<'a>(
        &'a self,
        approver: &'a dyn Approver,
        events: &'a dyn EventSink,
    ) -> Ports<'a> {
        let Self { directory, outside } = self;
        Ports {
            machines: outside.machines.as_ref(),
            lifecycle: outside.lifecycle.as_ref(),
            etcd: outside.etcd.as_ref(),
            kubernetes: outside.kubernetes.as_ref(),
            provider: outside.provider.as_ref(),
            vault: &directory.vault,
            journal: &directory.journal,
            clock: outside.clock.as_ref(),
            entropy: outside.entropy.as_ref(),
            approver,
            stop: outside.stop.as_ref(),
            events,
            holder: &outside.holder,
        }
    }
}

/// Identifies user and host to others who find the lease taken.
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
                message: "the secrets yield no credentials".to_owned(),
                hint: "`ichor gen secrets` generates a complete set for a new cluster".to_owned(),
            };
            error.port_error()
        })
    };
    LiveMachines::new(Box::new(mint), Arc::new(SystemClock))
}

/// Returns a client for the Kubernetes API, with credentials signed like those for the machines.
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
