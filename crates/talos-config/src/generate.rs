//! The configuration of a new cluster's machines, laid out as the version contract wants it.
//!
//! In: the cluster's name and endpoint, its secrets, a contract, options. Out: documents. The same input
//! gives the same bytes; nothing here is random.

use std::collections::BTreeMap;

use crate::Location;
use crate::bundle::Bundle;
use crate::config::{Config, Document};
use crate::contract::Contract;
use crate::error::Error;
use crate::format::url::{Url, no_url};
use crate::kinds;
use crate::value::{Data, Value};

/// What a machine is in its cluster.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// It runs etcd and the Kubernetes control plane.
    ControlPlane,
    /// It runs workloads.
    Worker,
}

/// What is to be generated.
#[derive(Clone)]
pub struct Generate<'a> {
    /// The name of the cluster.
    pub cluster: &'a str,
    /// Where the Kubernetes API is reached: `https://host:port`.
    pub endpoint: &'a str,
    /// The version of Kubernetes, without a `v`.
    pub kubernetes: &'a str,
    /// The release that it is written for.
    pub contract: Contract,
    /// The secrets of the cluster.
    pub secrets: &'a Bundle,
    /// Everything that has a default.
    pub options: Options,
}

/// Everything that has a default.
#[derive(Clone, Debug)]
pub struct Options {
    /// Further names and addresses of the machines and the API.
    pub additional_sans: Vec<String>,
    /// The domain of the cluster.
    pub dns_domain: String,
    /// The disk to install to; empty for none.
    pub install_disk: String,
    /// The image to install; empty for none.
    pub install_image: String,
    /// Kernel arguments, up to contract 1.13.
    pub extra_kernel_args: Vec<String>,
    /// Mirrors of registries, in the order in which they were given: host and URL.
    pub registry_mirrors: Vec<(String, String)>,
    /// Whether machines find each other through the discovery service.
    pub discovery: bool,
    /// Whether machines build an encrypted network.
    pub kubespan: bool,
    /// Kernel parameters.
    pub sysctls: BTreeMap<String, String>,
    /// The manifest of another network between pods.
    pub custom_cni: Option<String>,
    /// The port of the API server on its machine.
    pub local_api_server_port: Option<u16>,
    /// Whether workloads may run on control planes.
    pub schedule_on_control_planes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            additional_sans: Vec::new(),
            dns_domain: "cluster.local".to_owned(),
            install_disk: String::new(),
            install_image: String::new(),
            extra_kernel_args: Vec::new(),
            registry_mirrors: Vec::new(),
            discovery: true,
            kubespan: false,
            sysctls: BTreeMap::new(),
            custom_cni: None,
            local_api_server_port: None,
            schedule_on_control_planes: false,
        }
    }
}

impl Generate<'_> {
    /// The configuration of a machine.
    pub fn config(&self, role: Role) -> Result<Config, Error> {
        let endpoint = Url::parse(self.endpoint)
            .map_err(|reason| Error::Input(no_url(self.endpoint, &reason)))?;
        let writer = Writer { input: self, endpoint, role };
        let mut documents = Vec::new();
        if self.contract.since(14) {
            writer.documents(&mut documents)?;
        } else {
            documents.push(writer.legacy());
            if self.contract.since(12) {
                writer.registry_mirrors(&mut documents)?;
                documents.push(document("HostnameConfig", [("auto", text("stable"))]));
            }
            if self.contract.since(13) && self.options.kubespan {
                documents.push(document("KubeSpanConfig", [("enabled", boolean(true))]));
            }
        }
        Config::new(documents)
    }
}

struct Writer<'a> {
    input: &'a Generate<'a>,
    endpoint: Url,
    role: Role,
}

impl Writer<'_> {
    fn since(&self, minor: u32) -> bool {
        self.input.contract.since(minor)
    }

    fn control_plane(&self) -> bool {
        self.role == Role::ControlPlane
    }

    /// The one document of contracts before 1.14.
    fn legacy(&self) -> Document {
        let fields = [
            ("version", text("v1alpha1")),
            ("debug", boolean(false)),
            ("persist", boolean(true)),
            ("machine", self.legacy_machine()),
            ("cluster", self.legacy_cluster()),
        ];
        Document { kind: kinds::V1ALPHA1, body: body(fields), origin: Location::default() }
    }

    fn legacy_machine(&self) -> Value {
        let options = &self.input.options;
        let mut machine = self.machine_identity();
        let mut kubelet = vec![("image", self.image("ghcr.io/siderolabs/kubelet"))];
        if self.since(2) {
            kubelet.push(("defaultRuntimeSeccompProfileEnabled", boolean(true)));
        }
        if self.since(3) {
            kubelet.push(("disableManifestsDirectory", boolean(true)));
        }
        machine.push(("kubelet", object(kubelet)));
        if !self.since(13) {
            let kubespan = object([("enabled", boolean(true))]);
            machine.push((
                "network",
                if options.kubespan { object([("kubespan", kubespan)]) } else { object([]) },
            ));
        }
        machine.push(("install", self.install()));
        if !options.sysctls.is_empty() {
            machine.push(("sysctls", self.sysctls()));
        }
        if !self.since(12) {
            let mirrors = self.mirrors();
            if !mirrors.is_empty() {
                let mirrors = mirrors
                    .into_iter()
                    .map(|(host, urls)| (host, object([("endpoints", texts(&urls))])));
                let mirrors = Value::new(Data::Map(mirrors.collect()));
                machine.push(("registries", object([("mirrors", mirrors)])));
            }
        }
        machine.push(("features", self.features()));
        if self.since(8) && self.control_plane() {
            machine.push(("nodeLabels", object([(EXCLUDE_FROM_BALANCERS, text(""))])));
        }
        object(machine)
    }

    fn machine_identity(&self) -> Vec<(&'static str, Value)> {
        let role = if self.control_plane() { "controlplane" } else { "worker" };
        vec![
            ("type", text(role)),
            ("token", self.secret(&["trustdinfo", "token"])),
            ("ca", self.pair("os", self.control_plane())),
            ("certSANs", texts(&self.input.options.additional_sans)),
        ]
    }

    fn install(&self) -> Value {
        let options = &self.input.options;
        let mut install = vec![("wipe", boolean(false))];
        if !options.install_disk.is_empty() {
            install.push(("disk", text(&options.install_disk)));
        }
        if !options.extra_kernel_args.is_empty() {
            install.push(("extraKernelArgs", texts(&options.extra_kernel_args)));
        }
        if !options.install_image.is_empty() {
            install.push(("image", text(&options.install_image)));
        }
        if self.since(12) {
            install.push(("grubUseUKICmdline", boolean(true)));
        }
        object(install)
    }

    fn features(&self) -> Value {
        let mut features = Vec::new();
        if !self.since(12) {
            features.push(("rbac", boolean(true)));
        }
        if self.since(2) && !self.since(12) {
            features.push(("stableHostname", boolean(true)));
        }
        if self.since(3) && !self.since(12) {
            features.push(("apidCheckExtKeyUsage", boolean(true)));
        }
        if self.since(5) {
            features.push(("diskQuotaSupport", boolean(true)));
        }
        if self.since(6) {
            features.push((
                "kubePrism",
                object([("enabled", boolean(true)), ("port", number(KUBE_PRISM_PORT))]),
            ));
        }
        if self.since(7) {
            let mut host_dns = vec![("enabled", boolean(true))];
            if self.since(8) {
                host_dns.push(("forwardKubeDNSToHost", boolean(true)));
            }
            features.push(("hostDNS", object(host_dns)));
        }
        object(features)
    }

    fn legacy_cluster(&self) -> Value {
        let options = &self.input.options;
        let mut control_plane = vec![("endpoint", text(&self.endpoint.to_string()))];
        if let Some(port) = options.local_api_server_port.filter(|_| self.control_plane()) {
            control_plane.push(("localAPIServerPort", number(port.into())));
        }
        let mut network = vec![
            ("dnsDomain", text(&options.dns_domain)),
            ("podSubnets", texts(&[POD_SUBNET.to_owned()])),
            ("serviceSubnets", texts(&[SERVICE_SUBNET.to_owned()])),
        ];
        if let Some(url) = &options.custom_cni {
            network.push((
                "cni",
                object([("name", text("custom")), ("urls", texts(std::slice::from_ref(url)))]),
            ));
        }
        let kubernetes_registry =
            if self.since(2) { object([("disabled", boolean(true))]) } else { object([]) };
        let discovery = object([
            ("enabled", boolean(options.discovery)),
            ("registries", object([("kubernetes", kubernetes_registry)])),
        ]);
        let mut cluster = vec![
            ("id", self.secret(&["cluster", "id"])),
            ("secret", self.secret(&["cluster", "secret"])),
            ("controlPlane", object(control_plane)),
            ("network", object(network)),
            ("token", self.secret(&["secrets", "bootstraptoken"])),
            ("ca", self.pair("k8s", self.control_plane())),
            ("discovery", discovery),
        ];
        if self.control_plane() || self.since(8) {
            cluster.push(("clusterName", text(self.input.cluster)));
        }
        if self.control_plane() {
            self.legacy_control_plane(&mut cluster);
        }
        object(cluster)
    }

    fn legacy_control_plane(&self, cluster: &mut Vec<(&'static str, Value)>) {
        let options = &self.input.options;
        let encryption = if self.since(3) {
            ("secretboxEncryptionSecret", "secretboxencryptionsecret")
        } else {
            ("aescbcEncryptionSecret", "aescbcencryptionsecret")
        };
        cluster.push((encryption.0, self.secret(&["secrets", encryption.1])));
        cluster.push(("aggregatorCA", self.pair("k8saggregator", true)));
        let service_account = self.secret(&["certs", "k8sserviceaccount", "key"]);
        cluster.push(("serviceAccount", object([("key", service_account)])));
        let mut api_server = vec![("image", self.image("registry.k8s.io/kube-apiserver"))];
        let mut sans = options.additional_sans.clone();
        if !self.since(12) {
            sans.insert(0, self.endpoint.host_name().to_owned());
            api_server.push(("disablePodSecurityPolicy", boolean(true)));
        }
        api_server.push(("certSANs", texts(&sans)));
        if self.since(1) {
            let plugin = object([("name", text("PodSecurity")), ("configuration", pod_security())]);
            api_server.push(("admissionControl", list([plugin])));
        }
        if self.since(3) {
            api_server.push(("auditPolicy", audit_policy()));
        }
        cluster.push(("apiServer", object(api_server)));
        for (key, image) in [
            ("controllerManager", "registry.k8s.io/kube-controller-manager"),
            ("proxy", "registry.k8s.io/kube-proxy"),
            ("scheduler", "registry.k8s.io/kube-scheduler"),
        ] {
            cluster.push((key, object([("image", self.image(image))])));
        }
        cluster.push(("etcd", object([("ca", self.pair("etcd", true))])));
        if options.schedule_on_control_planes {
            let key = if self.since(2) {
                "allowSchedulingOnControlPlanes"
            } else {
                "allowSchedulingOnMasters"
            };
            cluster.push((key, boolean(true)));
        }
    }

    /// The documents of contract 1.14 and later, in their order.
    fn documents(&self, documents: &mut Vec<Document>) -> Result<(), Error> {
        let options = &self.input.options;
        let mut machine = self.machine_identity();
        machine.push(("features", object([("diskQuotaSupport", boolean(true))])));
        let mut cluster = vec![("token", self.secret(&["secrets", "bootstraptoken"]))];
        if self.control_plane() {
            cluster.push(("etcd", object([("ca", self.pair("etcd", true))])));
        }
        let fields = [
            ("version", text("v1alpha1")),
            ("debug", boolean(false)),
            ("persist", boolean(true)),
            ("machine", object(machine)),
            ("cluster", object(cluster)),
        ];
        documents.push(Document {
            kind: kinds::V1ALPHA1,
            body: body(fields),
            origin: Location::default(),
        });
        if options.discovery {
            let fields =
                [("name", text("default")), ("endpoint", text("https://discovery.talos.dev/"))];
            documents.push(document("DiscoveryServiceConfig", fields));
        }
        let identity = [
            ("clusterID", self.secret(&["cluster", "id"])),
            ("clusterSecret", self.secret(&["cluster", "secret"])),
        ];
        documents.push(document("DiscoveryIdentityConfig", identity));
        if !options.install_disk.is_empty() {
            let installer = if options.install_image.is_empty() {
                object([])
            } else {
                object([("image", text(&options.install_image))])
            };
            // Quoted as Go quotes it, which is how the expression quotes texts as well.
            let expression = format!("disk.dev_path == {:?}", options.install_disk);
            let selector = object([("match", text(&expression))]);
            let provisioning = object([("diskSelector", selector), ("wipe", boolean(false))]);
            let fields = [("installer", installer), ("provisioning", provisioning)];
            documents.push(document("UnattendedInstallConfig", fields));
        }
        let host_dns =
            object([("enabled", boolean(true)), ("forwardKubeDNSToHost", boolean(true))]);
        documents.push(document("ResolverConfig", [("hostDNS", host_dns)]));
        if !options.sysctls.is_empty() {
            documents.push(document("SysctlConfig", [("params", self.sysctls())]));
        }
        let mount = object([("secure", boolean(true))]);
        documents.push(document("VolumeConfig", [("name", text("EPHEMERAL")), ("mount", mount)]));
        documents.push(document("FilesystemTrimConfig", [("interval", text("168h0m0s"))]));
        documents.push(document("SecurityProfileConfig", [("workloadIsolation", boolean(true))]));
        self.registry_mirrors(documents)?;
        documents.push(document("HostnameConfig", [("auto", text("stable"))]));
        if options.kubespan {
            documents.push(document("KubeSpanConfig", [("enabled", boolean(true))]));
        }
        self.kubernetes(documents);
        if self.control_plane() {
            self.kubernetes_control_plane(documents);
        }
        Ok(())
    }

    fn kubernetes(&self, documents: &mut Vec<Document>) {
        let options = &self.input.options;
        let cluster = [
            ("clusterName", text(self.input.cluster)),
            ("endpoint", text(&self.endpoint.to_string())),
        ];
        documents.push(document("KubeClusterConfig", cluster));
        let mut node = Vec::new();
        if self.control_plane() {
            let role = "node-role.kubernetes.io/control-plane";
            node.push(("labels", object([(role, text("")), (EXCLUDE_FROM_BALANCERS, text(""))])));
            if !options.schedule_on_control_planes {
                node.push(("taints", object([(role, text("NoSchedule"))])));
            }
        }
        documents.push(document("KubeNodeConfig", node));
        let kubelet = [
            ("image", self.image("ghcr.io/siderolabs/kubelet")),
            ("defaultRuntimeSeccompProfileEnabled", boolean(true)),
        ];
        documents.push(document("KubeletConfig", kubelet));
        let network = [
            ("dnsDomain", text(&options.dns_domain)),
            ("podSubnets", texts(&[POD_SUBNET.to_owned()])),
            ("serviceSubnets", texts(&[SERVICE_SUBNET.to_owned()])),
        ];
        documents.push(document("KubeNetworkConfig", network));
        let authority = if self.control_plane() {
            ("issuingCA", self.pem_pair("k8s"))
        } else {
            ("acceptedCAs", list([self.pem(&["certs", "k8s", "crt"])]))
        };
        documents.push(document("KubeAPIServerCAConfig", [authority]));
        documents.push(document("KubePrismConfig", [("port", number(KUBE_PRISM_PORT))]));
    }

    fn kubernetes_control_plane(&self, documents: &mut Vec<Document>) {
        let options = &self.input.options;
        documents.push(document(
            "KubeAggregatorCAConfig",
            [("issuingCA", self.pem_pair("k8saggregator"))],
        ));
        let pod_security = [("name", text("PodSecurity")), ("configuration", pod_security())];
        documents.push(document("KubeAdmissionControlConfig", pod_security));
        documents.push(document("KubeAuditPolicyConfig", [("configuration", audit_policy())]));
        documents.push(document("KubeAuthenticationConfig", [("configuration", authentication())]));
        for (name, kind) in [("node", "Node"), ("rbac", "RBAC")] {
            documents.push(document(
                "KubeAuthorizerConfig",
                [("name", text(name)), ("type", text(kind))],
            ));
        }
        documents.push(document("KubeEtcdEncryptionConfig", [("config", self.etcd_encryption())]));
        let issuer = object([
            ("privateKey", self.pem(&["certs", "k8sserviceaccount", "key"])),
            ("issuerURL", text(&self.endpoint.to_string())),
        ]);
        documents.push(document("KubeServiceAccountConfig", [("issuer", issuer)]));
        let mut api_server = vec![("image", self.image("registry.k8s.io/kube-apiserver"))];
        if let Some(port) = options.local_api_server_port {
            api_server.push(("apiPort", number(port.into())));
        }
        api_server.push(("certExtraSANs", texts(&options.additional_sans)));
        documents.push(document("KubeAPIServerConfig", api_server));
        for (kind, image) in [
            ("KubeControllerManagerConfig", "registry.k8s.io/kube-controller-manager"),
            ("KubeSchedulerConfig", "registry.k8s.io/kube-scheduler"),
            ("KubeProxyConfig", "registry.k8s.io/kube-proxy"),
        ] {
            documents.push(document(kind, [("image", self.image(image))]));
        }
        if options.custom_cni.is_none() {
            let flannel = [("backendType", text("vxlan")), ("backendPort", number(4789))];
            documents.push(document("KubeFlannelCNIConfig", flannel));
        }
        documents.push(document("KubeCoreDNSConfig", [("enabled", boolean(true))]));
        if let Some(url) = &options.custom_cni {
            let manifest = [("name", text("custom-cni")), ("url", text(url))];
            documents.push(document("KubeExternalManifestConfig", manifest));
        }
    }

    /// How secrets are kept in etcd. talosctl names the provider `secretbox` for the older kind of key
    /// as well, and so must we.
    fn etcd_encryption(&self) -> Value {
        let keys = [("key2", "secretboxencryptionsecret"), ("key1", "aescbcencryptionsecret")];
        let providers = keys.into_iter().filter_map(|(name, secret)| {
            let secret = self.input.secrets.get(&["secrets", secret])?.clone();
            let key = object([("name", text(name)), ("secret", secret)]);
            Some(object([("secretbox", object([("keys", list([key]))]))]))
        });
        let resource =
            object([("providers", list(providers)), ("resources", texts(&["secrets".to_owned()]))]);
        object([("resources", list([resource]))])
    }

    fn registry_mirrors(&self, documents: &mut Vec<Document>) -> Result<(), Error> {
        for (host, urls) in self.mirrors() {
            let mut endpoints = Vec::new();
            for url in urls {
                let parsed = Url::parse(&url).map_err(|reason| {
                    Error::Input(format!(
                        "failed to parse registry mirror endpoint {url:?}: {}",
                        no_url(&url, &reason)
                    ))
                })?;
                endpoints.push(object([("url", text(&parsed.to_string()))]));
            }
            let fields = [("name", text(&host)), ("endpoints", list(endpoints))];
            documents.push(document("RegistryMirrorConfig", fields));
        }
        Ok(())
    }

    /// The mirrors by host, the URLs of each in the order in which they were given.
    fn mirrors(&self) -> BTreeMap<String, Vec<String>> {
        let mut mirrors: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (host, url) in &self.input.options.registry_mirrors {
            mirrors.entry(host.clone()).or_default().push(url.clone());
        }
        // The one release in which Kubernetes moved its images.
        if self.since(2) && !self.since(3) {
            let both =
                || vec!["https://registry.k8s.io".to_owned(), "https://k8s.gcr.io".to_owned()];
            mirrors.entry("k8s.gcr.io".to_owned()).or_insert_with(both);
        }
        mirrors
    }

    fn sysctls(&self) -> Value {
        let entries = self.input.options.sysctls.iter();
        Value::new(Data::Map(entries.map(|(key, value)| (key.clone(), text(value))).collect()))
    }

    fn image(&self, repository: &str) -> Value {
        text(&format!("{repository}:v{}", self.input.kubernetes))
    }

    fn secret(&self, path: &[&str]) -> Value {
        self.input.secrets.get(path).cloned().unwrap_or_else(|| text(""))
    }

    /// A certificate, with or without its key.
    fn pair(&self, name: &str, with_key: bool) -> Value {
        let key = if with_key { self.secret(&["certs", name, "key"]) } else { text("") };
        object([("crt", self.secret(&["certs", name, "crt"])), ("key", key)])
    }

    fn pem_pair(&self, name: &str) -> Value {
        object([
            ("cert", self.pem(&["certs", name, "crt"])),
            ("key", self.pem(&["certs", name, "key"])),
        ])
    }

    /// What a bundle keeps as base64, as the text that it is.
    fn pem(&self, path: &[&str]) -> Value {
        text(&self.input.secrets.pem(path))
    }
}

fn pod_security() -> Value {
    let defaults =
        ["audit", "enforce", "warn"].into_iter().zip(["restricted", "baseline", "restricted"]);
    let defaults = defaults.flat_map(|(mode, level)| {
        [(mode.to_owned(), text(level)), (format!("{mode}-version"), text("latest"))]
    });
    object([
        ("apiVersion", text("pod-security.admission.config.k8s.io/v1alpha1")),
        ("defaults", Value::new(Data::Map(defaults.collect()))),
        (
            "exemptions",
            object([
                ("namespaces", texts(&["kube-system".to_owned()])),
                ("runtimeClasses", list([])),
                ("usernames", list([])),
            ]),
        ),
        ("kind", text("PodSecurityConfiguration")),
    ])
}

fn audit_policy() -> Value {
    object([
        ("apiVersion", text("audit.k8s.io/v1")),
        ("kind", text("Policy")),
        ("rules", list([object([("level", text("Metadata"))])])),
    ])
}

fn authentication() -> Value {
    let paths = ["/livez", "/readyz", "/healthz"].map(|path| object([("path", text(path))]));
    object([
        ("anonymous", object([("conditions", list(paths)), ("enabled", boolean(true))])),
        ("jwt", list([])),
    ])
}

/// A document of a kind. Fields that are not given are unset.
fn document(kind: &str, fields: impl IntoIterator<Item = (&'static str, Value)>) -> Document {
    let kind = kinds::find(kind).expect("a kind of the tables");
    Document { kind, body: body(fields), origin: Location::default() }
}

fn body(fields: impl IntoIterator<Item = (&'static str, Value)>) -> BTreeMap<String, Value> {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::new(Data::Map(body(fields)))
}

fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::new(Data::List(items.into_iter().collect()))
}

fn texts(items: &[String]) -> Value {
    list(items.iter().map(|item| text(item)))
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn boolean(value: bool) -> Value {
    Value::new(Data::Bool(value))
}

fn number(value: i128) -> Value {
    Value::new(Data::Int(value))
}

const POD_SUBNET: &str = "10.244.0.0/16";
const SERVICE_SUBNET: &str = "10.96.0.0/12";
const EXCLUDE_FROM_BALANCERS: &str = "node.kubernetes.io/exclude-from-external-load-balancers";

/// Where every machine offers the API server to itself.
const KUBE_PRISM_PORT: i128 = 7445;
