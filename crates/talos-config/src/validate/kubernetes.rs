//! Rules for the documents about Kubernetes.

use super::cursor::Cursor;
use super::go_compat::{self, Prefix, quoted};
use super::labels::{self, Check};
use super::v1alpha1::endpoint_uri;
use super::{Findings, certificates};

/// Checks a document; false when its kind is none of these.
pub(super) fn check(kind: &str, root: Cursor<'_>, findings: &mut Findings) -> bool {
    match kind {
        "KubeClusterConfig" => cluster(root, findings),
        "KubeNodeConfig" => node(root, findings),
        "KubeletConfig" => {
            findings.require(root.at("image"), "kubelet image cannot be empty");
            protected_fields(root.at("config"), findings);
        }
        "KubeNetworkConfig" => network(root, findings),
        "KubeAPIServerCAConfig" => authority(root, false, findings),
        "KubeAggregatorCAConfig" => authority(root, true, findings),
        "KubeServiceAccountConfig" => service_account(root, findings),
        "KubeEtcdEncryptionConfig" => {
            if root.at("config").is_empty() {
                findings.error(root, "etcd encryption config is required");
            }
        }
        "KubeAPIServerConfig" => {
            findings.require(root.at("image"), "kube-apiserver image cannot be empty");
            api_server_arguments(root.at("extraArgs"), findings);
            resources(root, findings);
        }
        "KubeControllerManagerConfig" => pod(root, "kube-controller-manager", findings),
        "KubeSchedulerConfig" => pod(root, "scheduler", findings),
        "KubeProxyConfig" => proxy(root, findings),
        "KubeFlannelCNIConfig" => {
            let backend = root.at("backendType");
            findings.require(backend, "flannel backend type must be specified");
            resources(root, findings);
        }
        "KubePrismConfig" => {
            let port = root.at("port").number();
            if !(1..=65535).contains(&port) {
                let message = format!("invalid port {port}: must be in range 1-65535");
                findings.error(root.at("port"), message);
            }
        }
        "KubeAdmissionControlConfig" => {
            findings.require(root.at("name"), "admission control plugin name is required");
        }
        "KubeAuthorizerConfig" => authorizer(root, findings),
        "KubeStaticPodConfig" => {
            object_name(root, "static pod", findings);
            if root.at("pod").is_empty() {
                findings.error(root, "static pod spec is required");
            }
        }
        "KubeInlineManifestConfig" => object_name(root, "manifest", findings),
        "KubeExternalManifestConfig" => external_manifest(root, findings),
        "KubeTalosAPIAccessConfig" => talos_api_access(root, findings),
        _ => return false,
    }
    true
}

/// The roles that clients of the Talos API can have.
pub(super) const ROLES: [&str; 7] = [
    "os:admin",
    "os:operator",
    "os:reader",
    "os:etcd:backup",
    "os:image:verifier",
    "os:meta:writer",
    "os:impersonator",
];

/// What Talos decides about a kubelet, and nobody else.
const PROTECTED_KUBELET_FIELDS: [&str; 13] = [
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupRoot",
    "kind",
    "kubeletCgroups",
    "port",
    "protectKernelDefaults",
    "resolvConf",
    "rotateCertificates",
    "systemCgroups",
    "staticPodPath",
    "seccompDefault",
];

pub(super) fn protected_fields(config: Cursor<'_>, findings: &mut Findings) {
    for field in PROTECTED_KUBELET_FIELDS {
        if config.at(field).is_set() {
            let message =
                format!("kubelet configuration field {} can't be overridden", quoted(field));
            findings.error(config.at(field), message);
        }
    }
}

/// The first resource of a pod that cannot be asked for.
pub(super) fn foreign_resource(resources: Cursor<'_>) -> Option<(Cursor<'_>, String)> {
    let keys = ["requests", "limits"].into_iter().flat_map(|key| resources.at(key).entries());
    let mut foreign = keys.filter(|(key, _)| !matches!(*key, "cpu" | "memory"));
    foreign
        .next()
        .map(|(key, cursor)| (cursor, format!("unsupported pod resource {}", quoted(key))))
}

fn resources(root: Cursor<'_>, findings: &mut Findings) {
    if let Some((cursor, reason)) = foreign_resource(root.at("resources")) {
        findings.error(cursor, reason);
    }
}

fn cluster(root: Cursor<'_>, findings: &mut Findings) {
    findings.require(root.at("clusterName"), "clusterName must be specified");
    let endpoint = root.at("endpoint");
    if endpoint.text().is_empty() {
        findings.error(endpoint, "endpoint must be specified");
    } else if let Err(reason) = endpoint_uri(endpoint.text()) {
        findings.error(endpoint, format!("cluster endpoint is invalid: {reason}"));
    }
}

fn node(root: Cursor<'_>, findings: &mut Findings) {
    for subnet in root.at("nodeIP.validSubnets").items() {
        let text = subnet.without_negation();
        if !go_compat::is_subnet_or_address(text) {
            findings.error(subnet, format!("nodeIP subnet is not valid: {}", quoted(text)));
        }
    }
    for (key, check) in [
        ("labels", labels::labels as Check),
        ("annotations", labels::annotations),
        ("taints", labels::taints),
    ] {
        if let Some(problems) = check(root.at(key)) {
            findings.error(root.at(key), format!("invalid node {key}: {problems}"));
        }
    }
}

fn network(root: Cursor<'_>, findings: &mut Findings) {
    let (mask_v4, mask_v6) = (root.at("nodeCIDRMaskSizeIPv4"), root.at("nodeCIDRMaskSizeIPv6"));
    let size = |cursor: Cursor<'_>, default: i128| {
        if cursor.is_set() { cursor.number() } else { default }
    };
    let (size_v4, size_v6) = (size(mask_v4, 24), size(mask_v6, 64));
    let (fine_v4, fine_v6) = ((1..=32).contains(&size_v4), (1..=128).contains(&size_v6));
    if !fine_v4 {
        findings.error(mask_v4, "nodeCIDRMaskSizeIPv4 must be between 1 and 32");
    }
    if !fine_v6 {
        findings.error(mask_v6, "nodeCIDRMaskSizeIPv6 must be between 1 and 128");
    }
    let (pods, services) = (root.at("podSubnets"), root.at("serviceSubnets"));
    let pod_size = |text: &str, prefix: &Prefix| {
        let (mask, fine) = if prefix.width == 32 { (size_v4, fine_v4) } else { (size_v6, fine_v6) };
        let bits = i128::from(prefix.bits);
        if fine && bits > mask {
            return Err(format!(
                "invalid subnet: {text} is smaller than the per-node pod CIDR mask size /{mask}"
            ));
        }
        if fine && mask - bits > 16 {
            return Err(format!(
                "invalid subnet: {text} is too large for the per-node pod CIDR mask size /{mask}, \
                 the difference must be at most 16 bits"
            ));
        }
        Ok(())
    };
    let service_size = |text: &str, prefix: &Prefix| {
        if prefix.width - prefix.bits > 20 {
            return Err(format!(
                "invalid subnet: {text} is too large, it must be at least /{} (at most 20 host \
                 identifier bits)",
                prefix.width - 20
            ));
        }
        Ok(())
    };
    if let Err(reason) = subnets(pods, pod_size) {
        findings.error(pods, format!("pod subnets: {reason}"));
    }
    if let Err(reason) = subnets(services, service_size) {
        findings.error(services, format!("service subnets: {reason}"));
    }
    if pods.items().len() != services.items().len() {
        findings.error(root, "the number of pod subnets must match the number of service subnets");
    }
}

fn subnets(
    subnets: Cursor<'_>,
    check_size: impl Fn(&str, &Prefix) -> Result<(), String>,
) -> Result<(), String> {
    match subnets.items().len() {
        0 => return Err("at least one subnet must be specified".to_owned()),
        1 | 2 => {}
        _ => {
            return Err("at most two subnets can be specified for dual-stack clusters".to_owned());
        }
    }
    let mut widths = Vec::new();
    for subnet in subnets.items() {
        let text = subnet.text();
        let prefix = Prefix::parse(text).ok_or("invalid subnet: invalid Prefix")?;
        if !prefix.is_masked() {
            return Err(format!("invalid subnet: {text} is not a valid CIDR"));
        }
        if prefix.width - prefix.bits < 4 {
            let (bits, least) = (prefix.bits, prefix.bits - 4);
            return Err(format!(
                "invalid subnet: /{bits} is too small, it must be larger than /{least}"
            ));
        }
        check_size(text, &prefix)?;
        widths.push(prefix.width);
    }
    if widths.len() == 2 && widths[0] == widths[1] {
        return Err(
            "at most one IPv4 and one IPv6 subnet can be specified for dual-stack clusters"
                .to_owned(),
        );
    }
    Ok(())
}

fn authority(root: Cursor<'_>, required: bool, findings: &mut Findings) {
    let issuing = root.at("issuingCA");
    if !issuing.is_set() {
        if required {
            findings.error(issuing, "issuing CA is not set");
        }
    } else if let Err(reason) = certificates::check_pair(issuing, true) {
        findings.error(issuing, format!("issuing CA: {reason}"));
    }
    for (index, accepted) in root.at("acceptedCAs").items().enumerate() {
        if let Err(reason) = certificates::check_pem(accepted.text(), Some("CERTIFICATE")) {
            findings.error(accepted, format!("accepted CA #{index}: {reason}"));
        }
    }
}

fn service_account(root: Cursor<'_>, findings: &mut Findings) {
    let (key, url) = (root.at("issuer.privateKey"), root.at("issuer.issuerURL"));
    if key.text().is_empty() {
        findings.error(key, "service issuer private key is required");
    } else if let Err(reason) = certificates::check_signing_key(key.text()) {
        findings.error(key, format!("service issuer private key is invalid: {reason}"));
    }
    findings.require(url, "service issuer URL is required");
}

/// Arguments of the API server that documents stand for, by how they begin. The longest counts.
const REPLACED_ARGUMENTS: [(&str, &str); 7] = [
    (
        "oidc-signing-algs",
        "not supported with KubeAuthenticationConfig: kube-apiserver rejects --oidc-* flags when \
         structured authentication configuration is used, and the configuration has no equivalent \
         setting (all RFC 7518 asymmetric algorithms are accepted)",
    ),
    ("anonymous-auth", "use KubeAuthenticationConfig"),
    ("oidc-", "use KubeAuthenticationConfig"),
    ("authentication-config", "use KubeAuthenticationConfig"),
    ("authorization-config", "use KubeAuthorizerConfig"),
    ("authorization-mode", "use KubeAuthorizerConfig"),
    ("authorization-webhook-", "use KubeAuthorizerConfig"),
];

fn api_server_arguments(arguments: Cursor<'_>, findings: &mut Findings) {
    for (argument, cursor) in arguments.entries() {
        let replaced = REPLACED_ARGUMENTS.iter().find(|(start, _)| argument.starts_with(start));
        if let Some((_, instead)) = replaced {
            let argument = quoted(argument);
            let message =
                format!("kube-apiserver extra argument {argument} is not allowed: {instead}");
            findings.error(cursor, message);
        }
    }
}

fn pod(root: Cursor<'_>, name: &str, findings: &mut Findings) {
    if root.at("enabled").is_false() {
        return;
    }
    findings.require(root.at("image"), &format!("{name} image cannot be empty"));
    resources(root, findings);
}

fn proxy(root: Cursor<'_>, findings: &mut Findings) {
    if root.at("enabled").is_false() {
        return;
    }
    findings.require(root.at("image"), "proxy image cannot be empty");
    let mode = root.at("mode");
    match mode.text() {
        "" | "nftables" => {}
        old @ ("iptables" | "ipvs") => {
            let message = format!(
                "proxy mode {} is not recommended, please switch to nftables if possible",
                quoted(old)
            );
            findings.warn(mode, message);
        }
        other => {
            let message = format!(
                "invalid proxy mode {}: supported modes are iptables, ipvs and nftables",
                quoted(other)
            );
            findings.error(mode, message);
        }
    }
    if !root.at("extraArgs").is_empty() {
        findings.warn(
            root.at("extraArgs"),
            "extra arguments for kube-proxy may not work as expected, please use configuration \
             instead",
        );
    }
    resources(root, findings);
}

const AUTHORIZERS: [&str; 3] = ["Node", "RBAC", "Webhook"];

/// Why a type of authorizer cannot be used, if it cannot.
pub(super) fn not_allowed_authorizer(kind: &str) -> Option<String> {
    (!AUTHORIZERS.contains(&kind)).then(|| {
        let allowed = AUTHORIZERS.join(" ");
        format!("authorizer type {kind} is not allowed, allowed types are [{allowed}]")
    })
}

fn authorizer(root: Cursor<'_>, findings: &mut Findings) {
    findings.require(root.at("name"), "authorizer name is required");
    let (kind, webhook) = (root.at("type"), root.at("webhook"));
    findings.require(kind, "authorizer type is required");
    if let Some(reason) = not_allowed_authorizer(kind.text()) {
        findings.error(kind, reason);
    }
    let is_webhook = kind.text() == "Webhook";
    if is_webhook && webhook.is_empty() {
        findings.error(
            root,
            "authorizer webhook configuration is required for Webhook authorizer type",
        );
    }
    if !is_webhook && !webhook.is_empty() {
        findings.warn(
            webhook,
            "authorizer webhook configuration is not allowed non-Webhook authorizer types",
        );
    }
}

fn object_name(root: Cursor<'_>, what: &str, findings: &mut Findings) {
    let name = root.at("name");
    if name.text().is_empty() {
        findings.error(name, format!("{what} name is required"));
    } else if let Err(reason) = labels::subdomain(name.text()) {
        findings.error(name, format!("{what} name is invalid: {reason}"));
    }
}

fn external_manifest(root: Cursor<'_>, findings: &mut Findings) {
    object_name(root, "manifest", findings);
    let cursor = root.at("url");
    match cursor.url() {
        None => findings.error(cursor, "manifest URL is required"),
        Some(url) if !matches!(url.scheme.as_str(), "http" | "https") => {
            let scheme = quoted(&url.scheme);
            findings.error(cursor, format!("manifest URL scheme must be http or https: {scheme}"));
        }
        Some(_) => {}
    }
}

fn talos_api_access(root: Cursor<'_>, findings: &mut Findings) {
    let roles = root.at("allowedRoles");
    if roles.is_empty() {
        findings.warn(roles, "no roles are allowed in .allowedRoles, so access is blocked");
    }
    for role in roles.items().filter(|role| !ROLES.contains(&role.text())) {
        findings.error(role, format!("invalid role {} in .allowedRoles", quoted(role.text())));
    }
}
