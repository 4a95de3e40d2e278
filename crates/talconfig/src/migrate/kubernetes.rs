//! Conversions of Kubernetes settings and of the cluster.

use std::collections::BTreeMap;

use talos_config::{Data, Value};

use super::draft::{Draft, Rename, body, flag, has_only, is_true, list, number, picked};
use super::machine::{from_pem, from_pem_pair, to_pem, to_pem_pair};
use crate::door::documents::{document, object, text};
use crate::door::layers::CONTROL_PLANE;
use crate::value_ext::ValueExt;

const IDENTITY: &[Rename] = &[
    ("cluster.id", "DiscoveryIdentityConfig", "clusterID"),
    ("cluster.secret", "DiscoveryIdentityConfig", "clusterSecret"),
];

pub(super) fn discovery(draft: &mut Draft) {
    let path = "cluster.discovery";
    if let Some(discovery) = draft.get(path).cloned() {
        let registries = discovery.get("registries").cloned().unwrap_or_else(|| object(Vec::new()));
        let disabled = |key: &str| registries.get(key).is_some_and(|it| it.flag_at("disabled"));
        let enabled = discovery.flag_at("enabled");
        if enabled && !disabled("kubernetes") {
            draft.keep(path, "machines are not found through Kubernetes any more");
            return;
        }
        draft.take(path);
        if enabled && !disabled("service") {
            let endpoint = registries.get("service").map_or("", |it| it.text_at("endpoint"));
            let endpoint = if endpoint.is_empty() { DISCOVERY } else { endpoint };
            let fields = vec![("name", text("default")), ("endpoint", text(endpoint))];
            draft.add(document("DiscoveryServiceConfig", fields));
        }
        draft.moved(path, "DiscoveryServiceConfig/default");
    }
    draft.rename(IDENTITY);
}

pub(super) fn discovery_back(draft: &mut Draft) {
    let services = draft.of_kind("DiscoveryServiceConfig");
    let known = match services.as_slice() {
        [] => draft.field("DiscoveryIdentityConfig", "clusterID").is_some(),
        [one] => one.name() == "default",
        _ => false,
    };
    if known {
        let service = draft.take_kind("DiscoveryServiceConfig").into_iter().next();
        let endpoint = service.as_ref().map(|it| body(it).text_at("endpoint").to_owned());
        let mut registries = vec![("kubernetes", object(vec![("disabled", flag(true))]))];
        if let Some(endpoint) = endpoint.as_deref().filter(|endpoint| *endpoint != DISCOVERY) {
            registries.push(("service", object(vec![("endpoint", text(endpoint))])));
        }
        let fields = vec![("enabled", flag(service.is_some())), ("registries", object(registries))];
        draft.put("cluster.discovery", object(fields));
        draft.moved("DiscoveryServiceConfig/default", "cluster.discovery");
    }
    draft.rename_back(IDENTITY);
}

const CLUSTER: &[Rename] = &[
    ("cluster.clusterName", "KubeClusterConfig", "clusterName"),
    ("cluster.controlPlane.endpoint", "KubeClusterConfig", "endpoint"),
];

pub(super) fn cluster(draft: &mut Draft) {
    let (name, endpoint) = ("cluster.clusterName", "cluster.controlPlane.endpoint");
    match (draft.get(name).is_some(), draft.get(endpoint).is_some()) {
        (true, true) => draft.rename(CLUSTER),
        (false, true) => draft.keep(endpoint, "the document needs the cluster's name too"),
        (true, false) => draft.keep(name, "the document needs the cluster's endpoint too"),
        (false, false) => {}
    }
}

pub(super) fn cluster_back(draft: &mut Draft) {
    draft.rename_back(CLUSTER);
}

/// Converts certificate authorities, and the key that signs service accounts.
pub(super) fn authorities(draft: &mut Draft) {
    let control_plane = draft.is_control_plane();
    let accepted: Vec<Value> = draft
        .take("cluster.acceptedCAs")
        .as_ref()
        .and_then(Value::as_list)
        .unwrap_or_default()
        .iter()
        .map(|certificate| to_pem(certificate.text_at("crt")))
        .collect();
    if let Some(pair) = draft.take("cluster.ca") {
        let mut fields = Vec::new();
        if control_plane {
            fields.push(("issuingCA", to_pem_pair(&pair)));
            if !accepted.is_empty() {
                fields.push(("acceptedCAs", list(accepted)));
            }
        } else {
            let own = to_pem(pair.text_at("crt"));
            fields.push(("acceptedCAs", list([own].into_iter().chain(accepted))));
        }
        draft.add(document("KubeAPIServerCAConfig", fields));
        draft.moved("cluster.ca", "KubeAPIServerCAConfig");
    } else if !accepted.is_empty() {
        let fields = vec![("acceptedCAs", list(accepted))];
        draft.add(document("KubeAPIServerCAConfig", fields));
        draft.moved("cluster.acceptedCAs", "KubeAPIServerCAConfig.acceptedCAs");
    }
    if let Some(pair) = draft.take("cluster.aggregatorCA") {
        let fields = vec![("issuingCA", to_pem_pair(&pair))];
        draft.add(document("KubeAggregatorCAConfig", fields));
        draft.moved("cluster.aggregatorCA", "KubeAggregatorCAConfig.issuingCA");
    }
    let endpoint = draft.get("cluster.controlPlane.endpoint").cloned();
    let path = "cluster.serviceAccount";
    if let Some(endpoint) = endpoint
        && let Some(account) = draft.take(path)
    {
        let key = to_pem(account.text_at("key"));
        let issuer = object(vec![("privateKey", key), ("issuerURL", endpoint)]);
        draft.add(document("KubeServiceAccountConfig", vec![("issuer", issuer)]));
        draft.moved(path, "KubeServiceAccountConfig.issuer");
    }
}

pub(super) fn authorities_back(draft: &mut Draft) {
    let control_plane = draft.is_control_plane();
    if let Some(authority) = draft.take_kind("KubeAPIServerCAConfig").into_iter().next() {
        let fields = body(&authority);
        let mut accepted = fields.texts_at("acceptedCAs").into_iter();
        if control_plane {
            if let Some(pair) = fields.get("issuingCA") {
                draft.put("cluster.ca", from_pem_pair(pair));
            }
        } else if let Some(own) = accepted.next() {
            draft.put("cluster.ca", object(vec![("crt", from_pem(&own)), ("key", text(""))]));
        }
        let accepted: Vec<Value> =
            accepted.map(|it| object(vec![("crt", from_pem(&it))])).collect();
        if !accepted.is_empty() {
            draft.put("cluster.acceptedCAs", list(accepted));
        }
        draft.moved("KubeAPIServerCAConfig", "cluster.ca");
    }
    let plain = draft.field("KubeAggregatorCAConfig", "acceptedCAs").is_none();
    if plain && let Some(pair) = draft.take_field("KubeAggregatorCAConfig", "issuingCA") {
        draft.put("cluster.aggregatorCA", from_pem_pair(&pair));
        draft.moved("KubeAggregatorCAConfig.issuingCA", "cluster.aggregatorCA");
    }
    let kind = "KubeServiceAccountConfig";
    let issuer = draft.field(kind, "issuer.issuerURL").cloned();
    let is_ours = issuer.is_some() && issuer.as_ref() == draft.get("cluster.controlPlane.endpoint");
    if is_ours && draft.field(kind, "accepted").is_none() {
        let key = draft.field(kind, "issuer.privateKey").and_then(Value::as_text).map(from_pem);
        if let Some(key) = key {
            draft.take_kind(kind);
            draft.put("cluster.serviceAccount", object(vec![("key", key)]));
            draft.moved("KubeServiceAccountConfig.issuer", "cluster.serviceAccount");
        }
    }
}

const NODE: &[Rename] = &[
    ("machine.kubelet.skipNodeRegistration", "KubeNodeConfig", "skipNodeRegistration"),
    ("machine.kubelet.registerWithFQDN", "KubeNodeConfig", "registerWithFQDN"),
    ("machine.kubelet.nodeIP", "KubeNodeConfig", "nodeIP"),
    ("machine.nodeAnnotations", "KubeNodeConfig", "annotations"),
];

/// Converts labels and taints: the `v1alpha1` document implies those of the control plane.
pub(super) fn node(draft: &mut Draft) {
    if !draft.of_kind("KubeNodeConfig").is_empty() || draft.get("machine").is_none() {
        return;
    }
    draft.rename(NODE);
    let control_plane = draft.is_control_plane();
    let switches = ["cluster.allowSchedulingOnMasters", "cluster.allowSchedulingOnControlPlanes"];
    let schedulable = switches.map(|path| draft.take(path)).iter().any(|it| is_true(it.as_ref()));
    for (path, field, implied) in [
        ("machine.nodeLabels", "labels", Some("").filter(|_| control_plane)),
        (
            "machine.nodeTaints",
            "taints",
            Some("NoSchedule").filter(|_| control_plane && !schedulable),
        ),
    ] {
        let given = draft.take(path);
        let mut map = given.as_ref().and_then(Value::as_map).cloned().unwrap_or_default();
        if let Some(implied) = implied {
            map.entry(CONTROL_PLANE.to_owned()).or_insert_with(|| text(implied));
        }
        if !map.is_empty() {
            draft.set_field("KubeNodeConfig", field, Value::new(Data::Map(map)));
            draft.moved(path, &format!("KubeNodeConfig.{field}"));
        }
    }
    if draft.of_kind("KubeNodeConfig").is_empty() {
        draft.add(document("KubeNodeConfig", Vec::new()));
    }
}

pub(super) fn node_back(draft: &mut Draft) {
    let Some(before) = draft.of_kind("KubeNodeConfig").first().map(|it| (*it).clone()) else {
        return;
    };
    let control_plane = draft.is_control_plane();
    let mut labels = map_of(before.body.get("labels"));
    let mut taints = map_of(before.body.get("taints"));
    let labelled = labels.remove(CONTROL_PLANE).is_some();
    let tainted = taints.remove(CONTROL_PLANE).is_some();
    // Elsewhere the label would have to be written, and here it could not be left out.
    if labelled != control_plane || tainted && !control_plane {
        return;
    }
    draft.rename_back(NODE);
    draft.take_kind("KubeNodeConfig");
    if control_plane && !tainted {
        draft.put("cluster.allowSchedulingOnControlPlanes", flag(true));
    }
    for (path, map) in [("machine.nodeLabels", labels), ("machine.nodeTaints", taints)] {
        if !map.is_empty() {
            draft.put(path, Value::new(Data::Map(map)));
        }
    }
    draft.moved("KubeNodeConfig", "machine.nodeLabels");
}

fn map_of(value: Option<&Value>) -> BTreeMap<String, Value> {
    value.and_then(Value::as_map).cloned().unwrap_or_default()
}

const KUBELET: &[(&str, &str)] = &[
    ("image", "image"),
    ("clusterDNS", "clusterDNS"),
    ("extraArgs", "extraArgs"),
    ("extraConfig", "config"),
    ("defaultRuntimeSeccompProfileEnabled", "defaultRuntimeSeccompProfileEnabled"),
];

pub(super) fn kubelet(draft: &mut Draft) {
    let path = "machine.kubelet";
    let Some(kubelet) = draft.get(path).cloned() else { return };
    let mut known: Vec<&str> = KUBELET.iter().map(|(key, _)| *key).collect();
    known.extend(["disableManifestsDirectory", "credentialProviderConfig"]);
    if draft.is_stuck(path, &known) {
        return;
    }
    if !kubelet.flag_at("disableManifestsDirectory") {
        return draft.keep(path, "the directory for manifests is in use, and no document has one");
    }
    draft.take(path);
    draft.add(document("KubeletConfig", picked(&kubelet, KUBELET)));
    draft.moved(path, "KubeletConfig");
    if let Some(provider) = kubelet.get("credentialProviderConfig") {
        let fields = vec![("configuration", provider.clone())];
        draft.add(document("KubeCredentialProviderConfig", fields));
        draft.moved("machine.kubelet.credentialProviderConfig", "KubeCredentialProviderConfig");
    }
}

pub(super) fn kubelet_back(draft: &mut Draft) {
    let Some(kubelet) = draft.take_kind("KubeletConfig").into_iter().next() else { return };
    for (key, field) in KUBELET {
        if let Some(value) = kubelet.body.get(*field) {
            draft.put(&format!("machine.kubelet.{key}"), value.clone());
        }
    }
    draft.put("machine.kubelet.disableManifestsDirectory", flag(true));
    draft.moved("KubeletConfig", "machine.kubelet");
    if let Some(provider) = draft.take_kind("KubeCredentialProviderConfig").into_iter().next()
        && let Some(configuration) = provider.body.get("configuration")
    {
        draft.put("machine.kubelet.credentialProviderConfig", configuration.clone());
        draft.moved("KubeCredentialProviderConfig", "machine.kubelet.credentialProviderConfig");
    }
}

const NETWORK: &[(&str, &str)] = &[
    ("dnsDomain", "dnsDomain"),
    ("podSubnets", "podSubnets"),
    ("serviceSubnets", "serviceSubnets"),
];

pub(super) fn network(draft: &mut Draft) {
    let path = "cluster.network";
    let Some(network) = draft.take(path) else { return };
    draft.add(document("KubeNetworkConfig", picked(&network, NETWORK)));
    draft.moved(path, "KubeNetworkConfig");
    if !draft.is_control_plane() {
        return;
    }
    let nothing = object(Vec::new());
    let cni = network.get("cni").unwrap_or(&nothing);
    match cni.text_at("name") {
        "none" => {}
        "custom" => {
            for (index, url) in cni.texts_at("urls").iter().enumerate() {
                let name = match index {
                    0 => CUSTOM_CNI.to_owned(),
                    _ => format!("{CUSTOM_CNI}-{index}"),
                };
                let fields = vec![("name", text(&name)), ("url", text(url))];
                draft.add(document("KubeExternalManifestConfig", fields));
                draft.moved("cluster.network.cni", &format!("KubeExternalManifestConfig/{name}"));
            }
        }
        _ => {
            let mut fields = vec![("backendType", text("vxlan")), ("backendPort", number(VXLAN))];
            if let Some(flannel) = cni.get("flannel") {
                fields.extend(picked(flannel, FLANNEL));
            }
            draft.add(document("KubeFlannelCNIConfig", fields));
            draft.moved("cluster.network.cni", "KubeFlannelCNIConfig");
        }
    }
}

pub(super) fn network_back(draft: &mut Draft) {
    let kinds = ["KubeNetworkConfig", "KubeFlannelCNIConfig"];
    let keys =
        |known: &'static [(&str, &str)]| known.iter().map(|(key, _)| *key).collect::<Vec<_>>();
    let mut flannel_keys = keys(FLANNEL);
    flannel_keys.extend(["backendType", "backendPort"]);
    let flannel = draft.of_kind(kinds[1]).first().map(|it| body(it));
    let usual = flannel.as_ref().is_none_or(|it| {
        it.text_at("backendType") == "vxlan" && it.number_at("backendPort") == VXLAN
    });
    if draft.is_newer(kinds[0], &keys(NETWORK)) || draft.is_newer(kinds[1], &flannel_keys) || !usual
    {
        return;
    }
    let Some(network) = draft.take_kind(kinds[0]).into_iter().next() else { return };
    draft.take_kind(kinds[1]);
    let mut fields = picked(&body(&network), NETWORK);
    if draft.is_control_plane() {
        let all = draft.take_kind("KubeExternalManifestConfig").into_iter();
        let (custom, others): (Vec<_>, Vec<_>) =
            all.partition(|it| it.name().starts_with(CUSTOM_CNI) && flannel.is_none());
        for other in others {
            draft.add(other);
        }
        let settings = flannel.as_ref().map(|flannel| picked(flannel, FLANNEL));
        let cni = match settings {
            Some(settings) if settings.is_empty() => None,
            Some(settings) => Some(vec![("name", text("flannel")), ("flannel", object(settings))]),
            None if custom.is_empty() => Some(vec![("name", text("none"))]),
            None => {
                let urls = custom.iter().filter_map(|it| it.body.get("url").cloned());
                Some(vec![("name", text("custom")), ("urls", list(urls))])
            }
        };
        fields.extend(cni.map(|cni| ("cni", object(cni))));
    }
    draft.put("cluster.network", object(fields));
    draft.moved(kinds[0], "cluster.network");
}

const FLANNEL: &[(&str, &str)] =
    &[("extraArgs", "extraArgs"), ("kubeNetworkPoliciesEnabled", "kubeNetworkPoliciesEnabled")];

/// Converts `KubePrism`, and the access of pods to Talos.
pub(super) fn features(draft: &mut Draft) {
    let path = "machine.features.kubePrism";
    if is_true(draft.get(&format!("{path}.enabled"))) {
        let port = draft.get(&format!("{path}.port")).cloned();
        draft.take(path);
        let port = port.unwrap_or_else(|| number(KUBE_PRISM));
        draft.add(document("KubePrismConfig", vec![("port", port)]));
        draft.moved(path, "KubePrismConfig");
    } else if draft.get(path).is_some() {
        draft.keep(path, "a document would turn it on");
    }
    let path = "machine.features.kubernetesTalosAPIAccess";
    if is_true(draft.get(&format!("{path}.enabled"))) {
        let access = draft.take(path).unwrap_or_else(|| object(Vec::new()));
        draft.add(document("KubeTalosAPIAccessConfig", picked(&access, ACCESS)));
        draft.moved(path, "KubeTalosAPIAccessConfig");
    } else if draft.get(path).is_some() {
        draft.keep(path, "a document would turn it on");
    }
}

pub(super) fn features_back(draft: &mut Draft) {
    if !draft.is_newer("KubePrismConfig", &["port"])
        && let Some(port) = draft.take_field("KubePrismConfig", "port")
    {
        let fields = vec![("enabled", flag(true)), ("port", port)];
        draft.put("machine.features.kubePrism", object(fields));
        draft.moved("KubePrismConfig", "machine.features.kubePrism");
    }
    if let Some(access) = draft.take_kind("KubeTalosAPIAccessConfig").into_iter().next() {
        let mut fields = picked(&body(&access), ACCESS);
        fields.push(("enabled", flag(true)));
        draft.put("machine.features.kubernetesTalosAPIAccess", object(fields));
        draft.moved("KubeTalosAPIAccessConfig", "machine.features.kubernetesTalosAPIAccess");
    }
}

const ACCESS: &[(&str, &str)] = &[
    ("allowedRoles", "allowedRoles"),
    ("allowedKubernetesNamespaces", "allowedKubernetesNamespaces"),
];

/// Converts the encryption of secrets in etcd. Data written with a key can be read only under the
/// same name of that key.
pub(super) fn encryption(draft: &mut Draft) {
    if draft.get("cluster.aescbcEncryptionSecret").is_some() {
        draft.keep("cluster.aescbcEncryptionSecret", "its provider would get another name");
        return;
    }
    if let Some(secret) = draft.take("cluster.secretboxEncryptionSecret") {
        draft.add(document("KubeEtcdEncryptionConfig", vec![("config", secretbox(secret))]));
        draft.moved("cluster.secretboxEncryptionSecret", "KubeEtcdEncryptionConfig");
    }
}

pub(super) fn encryption_back(draft: &mut Draft) {
    let kind = "KubeEtcdEncryptionConfig";
    let Some(config) = draft.field(kind, "config").cloned() else { return };
    let first = |value: &Value, key: &str| value.items_at(key).first().cloned();
    let secret = first(&config, "resources")
        .and_then(|resource| first(&resource, "providers"))
        .and_then(|provider| first(provider.get("secretbox")?, "keys"))
        .and_then(|key| key.get("secret").cloned());
    let Some(secret) = secret.filter(|secret| secretbox(secret.clone()) == config) else { return };
    draft.take_kind(kind);
    draft.put("cluster.secretboxEncryptionSecret", secret);
    draft.moved(kind, "cluster.secretboxEncryptionSecret");
}

fn secretbox(secret: Value) -> Value {
    let key = object(vec![("name", text("key2")), ("secret", secret)]);
    let provider = object(vec![("secretbox", object(vec![("keys", list([key]))]))]);
    let resource =
        object(vec![("providers", list([provider])), ("resources", list([text("secrets")]))]);
    object(vec![("resources", list([resource]))])
}

/// A component of the control plane: its old path, its document, and its keys.
struct Component {
    path: &'static str,
    kind: &'static str,
    keys: &'static [(&'static str, &'static str)],
    /// The old switch, `true` for off.
    disabled: &'static str,
}

const COMPONENTS: &[Component] = &[
    Component {
        path: "cluster.controllerManager",
        kind: "KubeControllerManagerConfig",
        keys: &[
            ("image", "image"),
            ("extraArgs", "extraArgs"),
            ("env", "env"),
            ("resources", "resources"),
        ],
        disabled: "machine.controlPlane.controllerManager.disabled",
    },
    Component {
        path: "cluster.scheduler",
        kind: "KubeSchedulerConfig",
        keys: &[
            ("image", "image"),
            ("extraArgs", "extraArgs"),
            ("env", "env"),
            ("resources", "resources"),
            ("config", "config"),
        ],
        disabled: "machine.controlPlane.scheduler.disabled",
    },
    Component {
        path: "cluster.proxy",
        kind: "KubeProxyConfig",
        keys: &[("image", "image"), ("mode", "mode"), ("extraArgs", "extraArgs")],
        disabled: "cluster.proxy.disabled",
    },
    Component {
        path: "cluster.coreDNS",
        kind: "KubeCoreDNSConfig",
        keys: &[("image", "image")],
        disabled: "cluster.coreDNS.disabled",
    },
];

const API_SERVER: &[(&str, &str)] = &[
    ("image", "image"),
    ("extraArgs", "extraArgs"),
    ("env", "env"),
    ("resources", "resources"),
    ("certSANs", "certExtraSANs"),
];

pub(super) fn control_plane(draft: &mut Draft) {
    if !draft.is_control_plane() || !draft.has_cluster() {
        return;
    }
    api_server(draft);
    for Component { path, kind, keys, disabled } in COMPONENTS {
        if !draft.of_kind(kind).is_empty() {
            continue;
        }
        let mut known: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        known.push("disabled");
        if draft.is_stuck(path, &known) {
            continue;
        }
        let off = draft.take(disabled);
        let component = draft.take(path).unwrap_or_else(|| object(Vec::new()));
        let mut fields = picked(&component, keys);
        // It is written out where talosctl writes it out.
        if off.is_some() || *kind == "KubeCoreDNSConfig" {
            fields.push(("enabled", flag(!is_true(off.as_ref()))));
        }
        draft.add(document(kind, fields));
        draft.moved(path, kind);
    }
}

fn api_server(draft: &mut Draft) {
    let path = "cluster.apiServer";
    let mut known: Vec<&str> = API_SERVER.iter().map(|(key, _)| *key).collect();
    known.extend(["admissionControl", "auditPolicy", "authorizationConfig"]);
    if draft.get(path).is_none() || draft.is_stuck(path, &known) {
        return;
    }
    let server = draft.take(path).unwrap_or_else(|| object(Vec::new()));
    for plugin in server.items_at("admissionControl") {
        let fields = picked(plugin, &[("name", "name"), ("configuration", "configuration")]);
        draft.add(document("KubeAdmissionControlConfig", fields));
    }
    if let Some(policy) = server.get("auditPolicy") {
        draft.add(document("KubeAuditPolicyConfig", vec![("configuration", policy.clone())]));
    }
    let given = server.items_at("authorizationConfig");
    // Two authorizers were always there, whatever was written.
    for (name, kind) in AUTHORIZERS {
        if !given.iter().any(|it| it.text_at("type") == kind) {
            draft.add(document(
                "KubeAuthorizerConfig",
                vec![("name", text(name)), ("type", text(kind))],
            ));
        }
    }
    for authorizer in given {
        let keys = [("name", "name"), ("type", "type"), ("webhook", "webhook")];
        draft.add(document("KubeAuthorizerConfig", picked(authorizer, &keys)));
    }
    let mut fields = picked(&server, API_SERVER);
    if let Some(port) = draft.take("cluster.controlPlane.localAPIServerPort") {
        fields.push(("apiPort", port));
    }
    draft.add(document("KubeAPIServerConfig", fields));
    draft.moved(path, "KubeAPIServerConfig");
}

pub(super) fn control_plane_back(draft: &mut Draft) {
    api_server_back(draft);
    for Component { path, kind, keys, disabled } in COMPONENTS {
        let mut known: Vec<&str> = keys.iter().map(|(_, key)| *key).collect();
        known.push("enabled");
        if draft.is_newer(kind, &known) {
            continue;
        }
        let Some(component) = draft.take_kind(kind).into_iter().next() else { continue };
        let fields = body(&component);
        let back: Vec<(&str, &str)> = keys.iter().map(|(old, new)| (*new, *old)).collect();
        for (new, old) in back {
            if let Some(value) = fields.get(new) {
                draft.put(&format!("{path}.{old}"), value.clone());
            }
        }
        if fields.has("enabled") && !fields.flag_at("enabled") {
            draft.put(disabled, flag(true));
        }
        draft.moved(kind, path);
    }
}

fn api_server_back(draft: &mut Draft) {
    let kind = "KubeAPIServerConfig";
    let mut known: Vec<&str> = API_SERVER.iter().map(|(_, key)| *key).collect();
    known.push("apiPort");
    if draft.is_newer(kind, &known) {
        return;
    }
    let Some(server) = draft.take_kind(kind).into_iter().next() else { return };
    let fields = body(&server);
    let path = "cluster.apiServer";
    for (old, new) in API_SERVER {
        if let Some(value) = fields.get(new) {
            draft.put(&format!("{path}.{old}"), value.clone());
        }
    }
    if let Some(port) = fields.get("apiPort") {
        draft.put("cluster.controlPlane.localAPIServerPort", port.clone());
    }
    let plugins = draft.take_kind("KubeAdmissionControlConfig");
    if !plugins.is_empty() {
        draft.put(&format!("{path}.admissionControl"), list(plugins.iter().map(body)));
    }
    if let Some(policy) = draft.take_field("KubeAuditPolicyConfig", "configuration") {
        draft.put(&format!("{path}.auditPolicy"), policy);
    }
    let authorizers = draft.take_kind("KubeAuthorizerConfig");
    let usual = |it: &Value| {
        has_only(it, &["name", "type"])
            && AUTHORIZERS.contains(&(it.text_at("name"), it.text_at("type")))
    };
    let further: Vec<Value> = authorizers.iter().map(body).filter(|it| !usual(it)).collect();
    if !further.is_empty() {
        draft.put(&format!("{path}.authorizationConfig"), list(further));
    }
    draft.moved(kind, path);
}

const AUTHORIZERS: [(&str, &str); 2] = [("node", "Node"), ("rbac", "RBAC")];

pub(super) fn manifests(draft: &mut Draft) {
    if !draft.is_control_plane() {
        for path in ["cluster.inlineManifests", "cluster.extraManifests"] {
            if draft.get(path).is_some() {
                draft.keep(path, "documents with manifests are for control planes only");
            }
        }
        return;
    }
    let path = "cluster.inlineManifests";
    for manifest in draft.take(path).as_ref().and_then(Value::as_list).unwrap_or_default() {
        let fields = picked(manifest, &[("name", "name"), ("contents", "manifest")]);
        draft.add(document("KubeInlineManifestConfig", fields));
        draft.moved(path, &format!("KubeInlineManifestConfig/{}", manifest.text_at("name")));
    }
    let path = "cluster.extraManifests";
    let headers = draft.take("cluster.extraManifestHeaders");
    let urls = draft.take(path);
    for (index, url) in
        urls.as_ref().and_then(Value::as_list).unwrap_or_default().iter().enumerate()
    {
        let name = format!("{EXTRA}-{index}");
        let mut fields = vec![("name", text(&name)), ("url", url.clone())];
        fields.extend(headers.clone().map(|headers| ("headers", headers)));
        draft.add(document("KubeExternalManifestConfig", fields));
        draft.moved(path, &format!("KubeExternalManifestConfig/{name}"));
    }
}

pub(super) fn manifests_back(draft: &mut Draft) {
    let inline = draft.take_kind("KubeInlineManifestConfig");
    let back = [("name", "name"), ("manifest", "contents")];
    let manifests: Vec<Value> = inline.iter().map(|it| object(picked(&body(it), &back))).collect();
    for manifest in &inline {
        draft.moved(&manifest.id(), "cluster.inlineManifests");
    }
    if !manifests.is_empty() {
        draft.put("cluster.inlineManifests", list(manifests));
    }
    let external = draft.of_kind("KubeExternalManifestConfig");
    let headers: Vec<Option<Value>> =
        external.iter().map(|it| it.body.get("headers").cloned()).collect();
    // One set of headers was for all of them.
    if headers.iter().any(|it| *it != headers[0]) {
        return;
    }
    let external = draft.take_kind("KubeExternalManifestConfig");
    for manifest in &external {
        draft.moved(&manifest.id(), "cluster.extraManifests");
    }
    let urls: Vec<Value> = external.iter().filter_map(|it| it.body.get("url").cloned()).collect();
    if !urls.is_empty() {
        draft.put("cluster.extraManifests", list(urls));
    }
    if let Some(Some(headers)) = headers.into_iter().next() {
        draft.put("cluster.extraManifestHeaders", headers);
    }
}

/// The discovery service by default.
const DISCOVERY: &str = "https://discovery.talos.dev/";
/// The port of `KubePrism` by default.
const KUBE_PRISM: i128 = 7445;
/// The port of Flannel's tunnels.
const VXLAN: i128 = 4789;
/// The name that talosctl gives to the manifest of a custom CNI.
const CUSTOM_CNI: &str = "custom-cni";
/// Manifests had no names before.
const EXTRA: &str = "extra-manifest";
