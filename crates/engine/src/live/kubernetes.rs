//! The cluster's own Kubernetes API: nodes, and the lease that keeps other engines out.

use std::time::Duration;

use async_trait::async_trait;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ListParams, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use plan::{Kind, NodeState};
use talos_config::Secret;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::error::Trouble;
use crate::lease::{Claim, HELD};
use crate::live::clock::SystemClock;
use crate::ports::Kubernetes;

/// The API by an administrator's credentials. It is connected to when it is first asked.
pub struct LiveKubernetes {
    kubeconfig: Secret<String>,
    client: OnceCell<Client>,
}

impl LiveKubernetes {
    /// The API that a kubeconfig is for.
    pub fn new(kubeconfig: Secret<String>) -> Self {
        Self { kubeconfig, client: OnceCell::new() }
    }

    async fn client(&self) -> Result<&Client, Trouble> {
        self.client.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<Client, Trouble> {
        let kubeconfig = Kubeconfig::from_yaml(self.kubeconfig.expose()).map_err(|_| unusable())?;
        let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .map_err(|_| unusable())?;
        config.connect_timeout = Some(DEADLINE);
        config.read_timeout = Some(DEADLINE);
        config.write_timeout = Some(DEADLINE);
        Client::try_from(config).map_err(|_| unusable())
    }

    async fn leases(&self) -> Result<Api<Lease>, Trouble> {
        Ok(Api::namespaced(self.client().await?.clone(), NAMESPACE))
    }
}

#[async_trait]
impl Kubernetes for LiveKubernetes {
    async fn nodes(&self) -> Result<Vec<(String, NodeState)>, Trouble> {
        let nodes: Api<Node> = Api::all(self.client().await?.clone());
        let listed = within(nodes.list(&ListParams::default())).await?;
        Ok(listed
            .items
            .into_iter()
            .map(|node| {
                let conditions = node.status.and_then(|status| status.conditions);
                let ready = conditions
                    .into_iter()
                    .flatten()
                    .any(|condition| condition.type_ == "Ready" && condition.status == "True");
                let state = if ready { NodeState::Ready } else { NodeState::NotReady };
                (node.metadata.name.unwrap_or_default(), state)
            })
            .collect())
    }

    async fn take_lease(&self, claim: &Claim) -> Result<u64, Trouble> {
        let leases = self.leases().await?;
        let now = Timestamp::from_second(SystemClock::time().0).unwrap_or_default();
        match within(leases.get_opt(NAME)).await? {
            None => {
                let lease = Lease {
                    metadata: ObjectMeta { name: Some(NAME.to_owned()), ..ObjectMeta::default() },
                    spec: Some(spec(claim, 1, now, now)),
                };
                // Of two that find none, the API lets one create it.
                within(leases.create(&PostParams::default(), &lease)).await?;
                Ok(1)
            }
            Some(mut lease) => {
                let held = lease.spec.take().unwrap_or_default();
                let fencing = held.lease_transitions.unwrap_or_default();
                let own = held.holder_identity.as_deref() == Some(&claim.holder);
                if let Some(holder) = held.holder_identity.clone().filter(|_| !own)
                    && !expired(&held, now)
                {
                    return Err(Trouble {
                        code: HELD,
                        kind: Kind::Retryable,
                        message: format!("{holder} is at work on this cluster"),
                    });
                }
                let fencing = if own { fencing } else { fencing + 1 };
                let since = held.acquire_time.filter(|_| own).map_or(now, |time| time.0);
                lease.spec = Some(spec(claim, fencing, since, now));
                // It goes with the version that was read: whoever was faster wins.
                within(leases.replace(NAME, &PostParams::default(), &lease)).await?;
                Ok(u64::try_from(fencing).unwrap_or_default())
            }
        }
    }

    async fn release_lease(&self, claim: &Claim) -> Result<(), Trouble> {
        let leases = self.leases().await?;
        let Some(mut lease) = within(leases.get_opt(NAME)).await? else { return Ok(()) };
        let Some(held) = &mut lease.spec else { return Ok(()) };
        if held.holder_identity.as_deref() == Some(&claim.holder) {
            held.holder_identity = None;
            within(leases.replace(NAME, &PostParams::default(), &lease)).await?;
        }
        Ok(())
    }
}

fn spec(claim: &Claim, fencing: i32, since: Timestamp, now: Timestamp) -> LeaseSpec {
    LeaseSpec {
        holder_identity: Some(claim.holder.clone()),
        lease_duration_seconds: i32::try_from(claim.lasts.as_secs()).ok(),
        acquire_time: Some(MicroTime(since)),
        renew_time: Some(MicroTime(now)),
        lease_transitions: Some(fencing),
        ..LeaseSpec::default()
    }
}

fn expired(held: &LeaseSpec, now: Timestamp) -> bool {
    let lasts = i64::from(held.lease_duration_seconds.unwrap_or_default());
    held.renew_time.as_ref().is_none_or(|renewed| now.as_second() - renewed.0.as_second() > lasts)
}

async fn within<T>(call: impl Future<Output = kube::Result<T>>) -> Result<T, Trouble> {
    let trouble = |code, kind, message| Trouble { code, kind, message };
    match timeout(DEADLINE, call).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(kube::Error::Api(status))) => {
            Err(trouble("kubernetes.failed", Kind::Retryable, status.message.clone()))
        }
        Ok(Err(_)) => Err(unreachable("the Kubernetes API cannot be reached")),
        Err(_) => Err(unreachable("the Kubernetes API does not answer")),
    }
}

fn unreachable(message: &str) -> Trouble {
    Trouble { code: "kubernetes.unreachable", kind: Kind::Retryable, message: message.to_owned() }
}

fn unusable() -> Trouble {
    Trouble {
        code: "kubernetes.failed",
        kind: Kind::NeedsPerson,
        message: "the credentials for the Kubernetes API cannot be used".to_owned(),
    }
}

const NAMESPACE: &str = "kube-system";
const NAME: &str = "ichor";
const DEADLINE: Duration = Duration::from_secs(5);
