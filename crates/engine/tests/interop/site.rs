//! A real Kubernetes API, with the nodes of the cluster and credentials of its own authority.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use engine::live::{CREDENTIALS_BACKDATED, LiveKubernetes, SystemClock};
use engine::{Clock, Kubernetes, LeaseRecord, Put};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Node};
use kube::api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig, NamedAuthInfo};
use kube::{Api, Client, Config};
use serde_json::json;
use talos_config::pki::{Authority, Key, NewAuthority, Request, Subject};
use talos_config::{Bundle, Contract, KubernetesPki, Secret, SecretSource};
use tempfile::TempDir;
use testkit::kubernetes::{ApiServer, ServerPki};
use testkit::peers::program;

use crate::machines::{Engine, NAMES, World, until};

/// The API of a cluster.
pub(crate) struct Site {
    server: ApiServer,
    secrets: Bundle,
    client: Client,
    directory: TempDir,
}

impl Site {
    /// Starts the API and registers the nodes.
    pub(crate) async fn start() -> Self {
        let (secrets, server) = with_makers(|makers| {
            let authority = authority(makers);
            let server_key = key(makers);
            let request =
                Request::new(&server_key, &Subject::default(), &[IpAddr::V4(Ipv4Addr::LOCALHOST)]);
            let certificate =
                authority.sign_machine(&request, makers.validity(DAY)).expect("a request");
            let service_account = key(makers).encode();
            let server = ApiServer::start(
                &program("etcd"),
                &program("kube-apiserver"),
                ServerPki {
                    ca: &authority.certificate().encode(),
                    certificate: &certificate.encode(),
                    key: server_key.encode().expose(),
                    service_account: service_account.expose(),
                },
            );
            let pair = (authority.certificate().encode(), authority.key());
            let pki = KubernetesPki {
                kubernetes: pair.clone(),
                etcd: pair.clone(),
                aggregator: pair,
                service_account,
            };
            let secrets = Bundle::from_kubernetes_pki(&pki, None, Contract::new(1, 6), makers);
            (secrets.expect("secrets"), server)
        });
        let kubeconfig = kubeconfig(&secrets, server.address, SystemClock::time().0);
        let client = connect(&kubeconfig).await;
        let directory = tempfile::tempdir().expect("a directory");
        let site = Self { server, secrets, client, directory };
        site.register_nodes().await;
        site
    }

    /// Machines that have not got their new configuration yet.
    pub(crate) fn world(&self, name: &str) -> World {
        World::create(self.directory.path().join(name), &self.secrets)
    }

    /// An engine that reaches the API at an address.
    pub(crate) fn engine(
        &self,
        world: &World,
        name: &'static str,
        address: SocketAddr,
        clock: Arc<dyn Clock>,
    ) -> Arc<Engine> {
        // As a computer with this clock makes them.
        let backdated = i64::try_from(CREDENTIALS_BACKDATED.as_secs()).expect("a day");
        let kubeconfig = kubeconfig(&self.secrets, address, clock.now().0 - backdated);
        Arc::new(Engine::new(world, name, kubeconfig, clock))
    }

    /// Where the API is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Credentials for the API at an address.
    pub(crate) fn kubeconfig(&self, address: SocketAddr) -> Secret<String> {
        kubeconfig(&self.secrets, address, SystemClock::time().0)
    }

    /// The credentials of an administrator.
    pub(crate) fn users(&self) -> Vec<NamedAuthInfo> {
        let text = self.kubeconfig(self.address());
        Kubeconfig::from_yaml(text.expose()).expect("a kubeconfig").auth_infos
    }

    /// A kubeconfig with the credentials of another cluster; without any, the API takes the client for an anonymous one, which
    /// may do nothing.
    pub(crate) fn kubeconfig_with(&self, users: &[NamedAuthInfo]) -> Secret<String> {
        let text = self.kubeconfig(self.address());
        let mut kubeconfig = Kubeconfig::from_yaml(text.expose()).expect("a kubeconfig");
        let user = users.first().and_then(|user| user.auth_info.clone());
        kubeconfig.auth_infos[0].auth_info = Some(user.unwrap_or_default());
        Secret::new(serde_json::to_string(&kubeconfig).expect("a kubeconfig"))
    }

    /// Registers more nodes.
    pub(crate) async fn add_nodes(&self, count: usize) {
        let nodes: Api<Node> = Api::all(self.client.clone());
        for number in 0..count {
            let metadata =
                ObjectMeta { name: Some(format!("more-{number}")), ..ObjectMeta::default() };
            let node = Node { metadata, ..Node::default() };
            nodes.create(&PostParams::default(), &node).await.expect("a node");
        }
    }

    /// The API, as an engine sees it.
    pub(crate) fn kubernetes(&self) -> LiveKubernetes {
        let kubeconfig = self.kubeconfig(self.address());
        LiveKubernetes::new(Box::new(move || Ok(kubeconfig.clone())), Arc::new(SystemClock))
    }

    /// Makes the lease what it is to be, whatever it was. Gives its fencing number.
    pub(crate) async fn set_lease(&self, state: LeaseState) -> u64 {
        let kubernetes = self.kubernetes();
        let holder = match state {
            LeaseState::None => {
                let leases: Api<Lease> = Api::namespaced(self.client.clone(), "kube-system");
                if kubernetes.lease().await.expect("an answer").is_some() {
                    leases.delete("ichor", &DeleteParams::default()).await.expect("a lease");
                }
                return 0;
            }
            LeaseState::Expired => Some("an engine that was killed".to_owned()),
            LeaseState::Released => None,
        };
        let found = kubernetes.lease().await.expect("an answer").unwrap_or_default();
        let fencing = found.fencing + 1;
        let wanted = LeaseRecord { holder, fencing, plan: None, ..found };
        assert_eq!(kubernetes.put_lease(&wanted).await.expect("an answer"), Put::Written);
        fencing
    }

    async fn register_nodes(&self) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        until("the namespace of the lease", async || namespaces.get("kube-system").await.is_ok())
            .await;
        let nodes: Api<Node> = Api::all(self.client.clone());
        for name in NAMES {
            let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
            let node = Node { metadata, ..Node::default() };
            nodes.create(&PostParams::default(), &node).await.expect("a node");
            let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
            let patch = Patch::Merge(ready);
            nodes.patch_status(name, &PatchParams::default(), &patch).await.expect("a node");
        }
    }
}

/// The lease as two engines find it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LeaseState {
    None,
    Expired,
    Released,
}

async fn connect(kubeconfig: &Secret<String>) -> Client {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig.expose()).expect("a kubeconfig");
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.expect("a context");
    Client::try_from(config).expect("a client")
}

/// An administrator's credentials, valid from this time on.
fn kubeconfig(secrets: &Bundle, address: SocketAddr, now: i64) -> Secret<String> {
    with_makers(|makers| {
        makers.now = now;
        secrets
            .kubeconfig("home", &format!("https://{address}"), 2 * DAY, makers)
            .expect("an authority")
    })
}

fn authority(makers: &mut SecretSource<'_>) -> Authority {
    let validity = makers.validity(DAY);
    let new = NewAuthority {
        organization: Some("kubernetes"),
        addresses: &[],
        validity,
        id: makers.bytes(),
    };
    Authority::new(key(makers), &new)
}

fn key(makers: &mut SecretSource<'_>) -> Key {
    Key::p256(makers.bytes()).expect("one draw in 2^32 is no key")
}

fn with_makers<T>(make: impl FnOnce(&mut SecretSource<'_>) -> T) -> T {
    let mut random = |bytes: &mut [u8]| getrandom::fill(bytes).expect("randomness");
    let mut rsa = || unreachable!("the contract has other keys");
    make(&mut SecretSource { now: SystemClock::time().0, random: &mut random, rsa: &mut rsa })
}

/// In seconds.
const DAY: i64 = 86_400;
