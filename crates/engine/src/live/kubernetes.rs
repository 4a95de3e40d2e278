//! The cluster's own Kubernetes API: nodes, and the object of the lease.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::{ErrorKind, NodeState};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ListParams, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use talos_config::Secret;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tracing::debug;

use super::credentials::{Credentials, Mint};
use crate::error::{self, PortError};
use crate::lease::LASTS;
use crate::ports::{ApiError, Clock, Kubernetes, LeaseRecord, NodeStatus, Put};

/// The API by an administrator's credentials. It is connected to when it is first asked.
pub struct LiveKubernetes {
    kubeconfig: Credentials<Secret<String>>,
    clock: Arc<dyn Clock>,
    /// With the generation of the credentials.
    client: Mutex<Option<(Client, u64)>>,
}

impl LiveKubernetes {
    /// Returns the API that a kubeconfig is for.
    pub fn new(mint: Mint<Secret<String>>, clock: Arc<dyn Clock>) -> Self {
        let kubeconfig = Credentials::new(mint, Arc::clone(&clock));
        Self { kubeconfig, clock, client: Mutex::new(None) }
    }

    async fn client(&self) -> Result<Client, ApiError> {
        let (kubeconfig, generation) = self.kubeconfig.current().map_err(ApiError::Unreachable)?;
        let mut client = self.client.lock().await;
        match &*client {
            Some((client, known)) if *known == generation => Ok(client.clone()),
            _ => {
                let connected = connect(&kubeconfig).await?;
                *client = Some((connected.clone(), generation));
                Ok(connected)
            }
        }
    }

    async fn leases(&self) -> Result<Api<Lease>, ApiError> {
        Ok(Api::namespaced(self.client().await?, NAMESPACE))
    }
}

async fn connect(kubeconfig: &Secret<String>) -> Result<Client, ApiError> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig.expose()).map_err(|_| unusable())?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|_| unusable())?;
    config.connect_timeout = Some(DEADLINE);
    config.read_timeout = Some(DEADLINE);
    config.write_timeout = Some(DEADLINE);
    Client::try_from(config).map_err(|_| unusable())
}

#[async_trait]
impl Kubernetes for LiveKubernetes {
    async fn nodes(&self) -> Result<Vec<NodeStatus>, ApiError> {
        let api: Api<Node> = Api::all(self.client().await?);
        let mut nodes = Vec::new();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let listed = with_deadline("list nodes", api.list(&page)).await?;
            nodes.extend(listed.items.into_iter().filter_map(node_status));
            match listed.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) if nodes.len() < MOST_NODES => page = page.continue_token(&token),
                _ => return Ok(nodes),
            }
        }
    }

    async fn lease(&self) -> Result<Option<LeaseRecord>, ApiError> {
        let leases = self.leases().await?;
        let found = with_deadline("read lease", leases.get_opt(NAME)).await?;
        Ok(found.map(|Lease { metadata, spec }| {
            let spec = spec.unwrap_or_default();
            let annotations = metadata.annotations.unwrap_or_default();
            LeaseRecord {
                version: metadata.resource_version,
                holder: spec.holder_identity.filter(|holder| !holder.is_empty()),
                fencing: spec.lease_transitions.and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
                plan: annotations.get(PLAN).and_then(|plan| plan.parse().ok()),
            }
        }))
    }

    async fn put_lease(&self, lease: &LeaseRecord) -> Result<Put, ApiError> {
        let leases = self.leases().await?;
        // For people only: no engine decides on another one's clock.
        let now = Timestamp::from_second(self.clock.now().0).unwrap_or_default();
        let LeaseRecord { version, holder, fencing, plan } = lease;
        let annotations: BTreeMap<String, String> =
            plan.iter().map(|plan| (PLAN.to_owned(), plan.to_string())).collect();
        let object = Lease {
            metadata: ObjectMeta {
                name: Some(NAME.to_owned()),
                resource_version: version.clone(),
                annotations: Some(annotations),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: holder.clone(),
                lease_duration_seconds: i32::try_from(LASTS.as_secs()).ok(),
                renew_time: Some(MicroTime(now)),
                lease_transitions: i32::try_from(*fencing).ok(),
                ..LeaseSpec::default()
            }),
        };
        let parameters = PostParams::default();
        let written = match version {
            // Of two that find none, the API lets one create it.
            None => with_deadline("create lease", leases.create(&parameters, &object)).await,
            // It goes with the version that was read: the faster of two wins.
            Some(_) => {
                with_deadline("write lease", leases.replace(NAME, &parameters, &object)).await
            }
        };
        match written {
            Ok(_) => Ok(Put::Written),
            Err(ApiError::Refused(error)) if error.code == CONFLICT => Ok(Put::Conflict),
            Err(error) => Err(error),
        }
    }
}

fn node_status(node: Node) -> Option<NodeStatus> {
    let status = node.status.unwrap_or_default();
    let conditions = status.conditions.into_iter().flatten();
    let ready = conditions
        .into_iter()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True");
    Some(NodeStatus {
        name: node.metadata.name?.parse().ok()?,
        state: if ready { NodeState::Ready } else { NodeState::NotReady },
        boot: status.node_info.map(|info| info.boot_id).unwrap_or_default(),
    })
}

/// Makes a call within its deadline. Only what never reached an API of this cluster is unreachable.
async fn with_deadline<T>(
    what: &str,
    call: impl Future<Output = kube::Result<T>>,
) -> Result<T, ApiError> {
    let begun = Instant::now();
    let outcome = timeout(DEADLINE, call).await;
    let (ms, ok) = (begun.elapsed().as_millis(), matches!(outcome, Ok(Ok(_))));
    debug!(what, ms, ok, "Kubernetes API");
    match outcome {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(kube::Error::Api(status))) => {
            let code = match status.code {
                409 => CONFLICT,
                // The server is there, and cannot reach its own etcd.
                500 | 503 | 504 => return Err(unreachable(&status.message)),
                _ => error::KUBERNETES_FAILED,
            };
            let message = status.message.clone();
            Err(ApiError::Refused(PortError::new(code, ErrorKind::Retryable, message)))
        }
        Ok(Err(_)) => Err(unreachable("the Kubernetes API cannot be reached")),
        Err(_) => Err(unreachable("the Kubernetes API does not answer")),
    }
}

fn unreachable(message: &str) -> ApiError {
    ApiError::Unreachable(PortError {
        may_have_happened: true,
        ..PortError::new(error::KUBERNETES_UNREACHABLE, ErrorKind::Retryable, message)
    })
}

fn unusable() -> ApiError {
    let message = "the credentials for the Kubernetes API cannot be used";
    // Nothing was asked, so that nothing is known about an API.
    ApiError::Unreachable(PortError::new(error::KUBERNETES_FAILED, ErrorKind::NeedsPerson, message))
}

const NAMESPACE: &str = "kube-system";
const NAME: &str = "ichor";
/// The annotation with the hash of the plan.
const PLAN: &str = "ichor.dev/plan";
const CONFLICT: &str = "kubernetes.conflict";
const DEADLINE: Duration = Duration::from_secs(5);
/// As many nodes as fit into a few megabytes.
const PAGE: u32 = 500;
/// More than Kubernetes is made for.
const MOST_NODES: usize = 20_000;
