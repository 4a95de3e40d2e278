//! A talconfig as plans know a cluster: a spec, and prerendered configuration of each machine.
//!
//! Nothing is decided here. Settings that a talconfig leaves open get the defaults of `ichor.yaml`;
//! networks are read from the resulting configuration, since patches may set them.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::str::FromStr;

use plan::{
    Address, ClusterName, ClusterNetwork, ClusterSpec, Cni, ControlPlane, InvalidText, Layers,
    Machine, MachineName, MachineSource, Policy, Pool, Prerendered, ReleaseOrigins, SpecError,
    SpecRule,
};
use talos_config::{Config, Contract, Diagnostic, Location, SourceId, Value};

use crate::door::load::{Node, Talconfig};
use crate::door::machine::Cluster;
use crate::door::trace::{LayerTrace, TracedText};
use crate::error::Error;
use crate::host::Host;
use crate::value_ext::ValueExt;

impl Cluster<'_> {
    /// Translates the cluster for plans; [`check_spec`] validates the result. `source` is the id of
    /// the talconfig in locations; the layers of the `explained` machine are recorded one by one.
    pub fn translate(
        &self,
        source: SourceId,
        explained: Option<&MachineName>,
    ) -> Result<(ClusterSpec, Layers), Error> {
        let mut laid = BTreeMap::new();
        let mut first = None;
        for node in &self.talconfig.nodes {
            let name = node.machine_name();
            let traced = name.is_some() && name.as_ref() == explained;
            let made = self.prerender(node, traced)?;
            if first.is_none() && node.is_control_plane() {
                first = Config::parse(made.text.expose(), SourceId::default()).ok();
            }
            laid.extend(name.map(|name| (name, made)));
        }
        let address = |node: &Node| node.address(self.images.host);
        let spec = spec(self.talconfig, self.contract, &address, source, first.as_ref())
            .map_err(Error::Spec)?;
        Ok((spec, Layers::prerendered(laid)))
    }

    fn prerender(&self, node: &Node, traced: bool) -> Result<Prerendered, Error> {
        let mut trace = if traced { LayerTrace::enabled() } else { LayerTrace::default() };
        let machine = self.build(node, &mut trace).map_err(|error| match error {
            Error::Machine(_) => {
                let place = self.talconfig.key_location(&format!("nodes[{}]", node.index), "");
                error.within(&format!("{place}: {}: ", node.hostname()))
            }
            other => other,
        })?;
        let mut confidential = self.talconfig.encrypted.clone();
        confidential.extend(&trace.confidential);
        let LayerTrace { list: steps, texts, .. } = trace;
        let texts = texts.iter().filter(|_| traced).map(TracedText::layer_source).collect();
        Ok(Prerendered { text: machine.text, steps, texts, confidential })
    }
}

/// Checks what plans need of a cluster, without its configuration and without looking names up.
pub(crate) fn check_cluster(talconfig: &Talconfig) -> Result<(), SpecError> {
    let Ok(contract) = talconfig.talos().parse() else { return Ok(()) };
    // A name is taken to have an address that no other machine has.
    let address = |node: &Node| {
        let given = node.addresses().iter().find_map(|address| address.parse().ok());
        let index = u16::try_from(node.index).unwrap_or_default();
        let of_name = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 1, index);
        Some(given.unwrap_or(Address(of_name.into())))
    };
    let spec = spec(talconfig, contract, &address, SourceId::default(), None)?;
    match check_spec(&spec) {
        Err(Error::Spec(error)) => Err(error),
        _ => Ok(()),
    }
}

/// Reads the spec of a talconfig; `first` is the configuration of its first control plane.
fn spec(
    talconfig: &Talconfig,
    contract: Contract,
    address: &dyn Fn(&Node) -> Option<Address>,
    source: SourceId,
    first: Option<&Config>,
) -> Result<ClusterSpec, SpecError> {
    let cluster = &talconfig.cluster;
    let mut reader = Reader { talconfig, address, source, problems: Vec::new() };
    let name = reader.cluster_name();
    let endpoint = reader.parsed("endpoint", cluster.text_at("endpoint"));
    let talos = reader.parsed("talosVersion", &talconfig.talos());
    let kubernetes = reader.parsed("kubernetesVersion", talconfig.kubernetes());
    let network = reader.network(first);
    let (mut control_planes, mut workers) = (Vec::new(), Vec::new());
    for node in &talconfig.nodes {
        let group = if node.is_control_plane() { &mut control_planes } else { &mut workers };
        group.extend(reader.machine(node));
    }
    let workers_origin = workers.first().map(|machine: &Machine| machine.origin);
    let pool = "workers".parse().ok().zip(workers_origin);
    let pools =
        pool.map(|(name, origin)| Pool { name, machines: workers, patches: Vec::new(), origin });
    let origin = |key: &str| Some(Location { source, ..talconfig.origin(key)? });
    let talos_origin = origin("talosVersion").unwrap_or_default();
    let releases = ReleaseOrigins {
        talos: talos_origin,
        kubernetes: origin("kubernetesVersion").unwrap_or(talos_origin),
    };
    let problems = reader.problems;
    match (name, endpoint, talos, kubernetes) {
        (Some(cluster), Some(endpoint), Some(talos), Some(kubernetes)) if problems.is_empty() => {
            Ok(ClusterSpec {
                cluster,
                endpoint,
                talos,
                kubernetes,
                contract,
                image: None,
                extensions: Vec::new(),
                network,
                provider: None,
                control_plane: ControlPlane {
                    machines: control_planes,
                    patches: Vec::new(),
                    schedulable: talconfig.schedules_on_control_planes(),
                },
                pools: pools.into_iter().collect(),
                patches: Vec::new(),
                policy: Policy::default(),
                backup: None,
                releases,
            })
        }
        _ => Err(SpecError::Problems(problems)),
    }
}

/// Refuses an invalid cluster, with hints in terms of a talconfig.
pub fn check_spec(spec: &ClusterSpec) -> Result<(), Error> {
    spec.check().map_err(|error| match error {
        SpecError::Problems(mut problems) => {
            for problem in &mut problems {
                if problem.code == SpecRule::NoControlPlane.name() {
                    problem.hint = Some("set `controlPlane: true` of a node".to_owned());
                } else if problem.code == SpecRule::OverlappingNetworks.name() {
                    let hint =
                        "set clusterPodNets and clusterSvcNets to ranges that nothing else uses";
                    problem.hint = Some(hint.to_owned());
                }
            }
            Error::Spec(SpecError::Problems(problems))
        }
        other @ SpecError::Syntax(_) => Error::Spec(other),
    })
}

impl Node {
    /// Returns the name in plans and as a Kubernetes node: the first label of the host name, in
    /// lower case. `None` if that is not a valid name.
    pub fn machine_name(&self) -> Option<MachineName> {
        let first = self.hostname().split('.').next().unwrap_or_default();
        first.to_lowercase().parse().ok()
    }

    /// Returns the address to connect to: the first IP address, else the address of the first host
    /// name.
    pub fn address(&self, host: &dyn Host) -> Option<Address> {
        let given = self.addresses();
        let address = given.iter().find_map(|address| address.parse().ok());
        address.or_else(|| given.iter().find_map(|name| host.lookup(name)).map(Address))
    }
}

/// Reads values, and collects problems.
struct Reader<'a> {
    talconfig: &'a Talconfig,
    /// The address at which a machine is reached.
    address: &'a dyn Fn(&Node) -> Option<Address>,
    source: SourceId,
    problems: Vec<Diagnostic<Location>>,
}

impl Reader<'_> {
    fn parsed<T: FromStr<Err = InvalidText>>(&mut self, key: &str, text: &str) -> Option<T> {
        text.parse().map_err(|error: InvalidText| self.note(key, &error.to_string(), None)).ok()
    }

    fn note(&mut self, key: &str, message: &str, hint: Option<&str>) {
        let origin = self.talconfig.nearest_origin(key, self.source);
        let problem = SpecRule::Value.problem(origin, format!("{key}: {message}"));
        self.problems.push(Diagnostic { hint: hint.map(str::to_owned), ..problem });
    }

    /// Returns the cluster's name in plans. A talconfig allows other names, which stay in the
    /// configuration unchanged.
    fn cluster_name(&mut self) -> Option<ClusterName> {
        let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.talconfig.cluster_name().chars().map(letter).collect();
        self.parsed("clusterName", name.trim_matches('-'))
    }

    fn machine(&mut self, node: &Node) -> Option<Machine> {
        let key = format!("nodes[{}]", node.index);
        let name = node.machine_name();
        if name.is_none() {
            let hostname = node.hostname().to_owned();
            let _: Option<MachineName> = self.parsed(&format!("{key}.hostname"), &hostname);
        }
        let address = (self.address)(node);
        if address.is_none() {
            let message = format!(
                "{:?} is not an address, nor a name that resolves to one",
                node.raw_address()
            );
            let hint = "write the address at which the machine is reached";
            self.note(&format!("{key}.ipAddress"), &message, Some(hint));
        }
        Some(Machine {
            name: name?,
            source: MachineSource::Address(address?),
            fingerprints: Vec::new(),
            disk: node.value.text_at("installDisk").to_owned(),
            domain: None,
            patches: Vec::new(),
            origin: self.talconfig.nearest_origin(&key, self.source),
        })
    }

    /// Returns the networks in the configuration of the first control plane.
    fn network(&mut self, first: Option<&Config>) -> ClusterNetwork {
        let found = first.map(Networks::from_config).unwrap_or_default();
        let mut networks = |key: &str, texts: &[String]| {
            texts.iter().filter_map(|text| self.parsed(key, text)).collect()
        };
        ClusterNetwork {
            pods: networks("clusterPodNets", &found.pods),
            services: networks("clusterSvcNets", &found.services),
            domain: found.domain,
            cni: found.cni,
            origin: ["clusterPodNets", "clusterSvcNets", "cniConfig"]
                .iter()
                .find_map(|key| self.talconfig.origin(key))
                .map_or_else(Location::default, |origin| Location {
                    source: self.source,
                    ..origin
                }),
        }
    }
}

/// The networks in the configuration of a control plane.
struct Networks {
    pods: Vec<String>,
    services: Vec<String>,
    domain: String,
    cni: Cni,
}

impl Default for Networks {
    fn default() -> Self {
        let domain = "cluster.local".to_owned();
        Self { pods: Vec::new(), services: Vec::new(), domain, cni: Cni::Flannel }
    }
}

impl Networks {
    fn from_config(config: &Config) -> Self {
        let said = |value: Option<&Value>, cni: Cni| {
            let texts = |key: &str| value.map(|value| value.texts_at(key)).unwrap_or_default();
            let domain = value.map_or("", |value| value.text_at("dnsDomain"));
            let domain = if domain.is_empty() { "cluster.local" } else { domain };
            Self {
                pods: texts("podSubnets"),
                services: texts("serviceSubnets"),
                domain: domain.to_owned(),
                cni,
            }
        };
        if let Some(document) = config.document("KubeNetworkConfig", "") {
            let body = Value::new(talos_config::Data::Map(document.body.clone()));
            let custom = config.document("KubeExternalManifestConfig", "custom-cni");
            let url = custom.and_then(|custom| custom.body.get("url")).and_then(Value::as_text);
            let cni = match url {
                _ if config.document("KubeFlannelCNIConfig", "").is_some() => Cni::Flannel,
                Some(url) => Cni::Manifest(url.to_owned()),
                None => Cni::None,
            };
            return said(Some(&body), cni);
        }
        let cluster = config.document("v1alpha1", "").and_then(|body| body.body.get("cluster"));
        let network = cluster.and_then(|cluster| cluster.get("network"));
        let cni = network.and_then(|network| network.get("cni"));
        let url = cni.and_then(|cni| cni.texts_at("urls").into_iter().next());
        let cni = match (cni.map(|cni| cni.text_at("name")), url) {
            (Some("none"), _) | (Some("custom"), None) => Cni::None,
            (Some("custom"), Some(url)) => Cni::Manifest(url),
            _ => Cni::Flannel,
        };
        said(network, cni)
    }
}
