//! Rules for the oldest document.

use std::collections::BTreeSet;

use super::cursor::Cursor;
use super::go_compat::{self, quoted};
use super::kubernetes::{ROLES, foreign_resource, not_allowed_authorizer, protected_fields};
use super::labels::{self, Check};
use super::network::kubespan_endpoints;
use super::{Findings, Mode, devices, oci};
use crate::format::url::{self, Url};

/// What a machine is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MachineType {
    Init,
    ControlPlane,
    Worker,
    Unknown,
}

impl MachineType {
    /// The type that a document gives its machine.
    pub(super) fn of(root: Cursor<'_>) -> Self {
        match root.at("machine.type").text() {
            "init" => Self::Init,
            "controlplane" => Self::ControlPlane,
            "worker" | "join" | "" => Self::Worker,
            _ => Self::Unknown,
        }
    }

    pub(super) fn is_control_plane(self) -> bool {
        matches!(self, Self::Init | Self::ControlPlane)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::ControlPlane => "controlplane",
            Self::Worker => "worker",
            Self::Unknown => "unknown",
        }
    }
}

pub(super) fn check(root: Cursor<'_>, mode: Mode, findings: &mut Findings) {
    let machine = root.at("machine");
    let machine_type = MachineType::of(root);
    if !machine.is_set() {
        findings.error(root, "machine instructions are required");
        return;
    }
    deprecations(machine, findings);
    cluster(root, machine_type.is_control_plane(), findings);
    if mode == Mode::Metal {
        install(machine.at("install"), findings);
    }
    let host_dns = machine.at("features.hostDNS");
    if host_dns.at("forwardKubeDNSToHost").flag() && !host_dns.at("enabled").flag() {
        findings.error(
            host_dns,
            "feature hostDNS.forwardKubeDNSToHost requires hostDNS.enabled to be true \
             (.machine.features.hostDNS)",
        );
    }
    let written = machine.at("type").text();
    if machine_type != MachineType::Unknown && machine_type.name() != written {
        let (right, written) = (quoted(machine_type.name()), quoted(written));
        findings
            .warn(machine.at("type"), format!("use {right} instead of {written} for machine type"));
    }
    role(root, machine_type, findings);
    devices::check(machine.at("network"), findings);
    disks(machine.at("disks"), findings);
    kubelet(machine.at("kubelet"), findings);
    encryption(machine.at("systemDiskEncryption"), findings);
    kubespan_filters(machine.at("network.kubespan"), findings);
    logging(machine.at("logging"), findings);
    extensions(machine.at("install.extensions"), findings);
    node_metadata(machine, findings);
    features(machine.at("features"), machine_type, findings);
    if root.at("persist").is_false() {
        findings.error(root.at("persist"), ".persist should be enabled");
    }
    let overrides = machine.at("baseRuntimeSpecOverrides");
    if !overrides.is_empty()
        && let Err(reason) = oci::check(overrides)
    {
        findings.error(overrides, reason);
    }
}

fn deprecations(machine: Cursor<'_>, findings: &mut Findings) {
    let files = machine.at("files");
    if !files.is_empty() {
        findings.warn(
            files,
            ".machine.files is deprecated; use dedicated configuration documents instead",
        );
    }
    let overrides = machine.at("baseRuntimeSpecOverrides");
    if !overrides.is_empty() {
        findings.warn(
            overrides,
            ".machine.baseRuntimeSpecOverrides is deprecated; use a CRIBaseRuntimeSpecConfig \
             document instead",
        );
    }
}

fn cluster(root: Cursor<'_>, is_control_plane: bool, findings: &mut Findings) {
    let cluster = root.at("cluster");
    if !cluster.is_set() {
        findings.error(root, "cluster instructions are required");
        return;
    }
    let endpoint = cluster.at("controlPlane.endpoint");
    if cluster.at("controlPlane").is_set() {
        if !endpoint.is_set() {
            findings.error(
                endpoint,
                "cluster controlplane endpoint is required (.cluster.controlPlane.endpoint); when \
                 the endpoint is migrated to the KubeClusterConfig document, the whole \
                 .cluster.controlPlane section should be removed \
                 (.cluster.controlPlane.localAPIServerPort is migrated to the KubeAPIServerConfig \
                 document)",
            );
            return;
        }
        if let Err(reason) = endpoint_uri(endpoint.text()) {
            findings.error(endpoint, format!("invalid controlplane endpoint: {reason}"));
        }
    }
    if cluster.at("serviceAccount").is_set() && !endpoint.is_set() {
        findings.error(
            cluster.at("serviceAccount"),
            ".cluster.serviceAccount requires the cluster endpoint to be set in the same document \
             (.cluster.controlPlane.endpoint); when the cluster endpoint is migrated to the \
             KubeClusterConfig document, .cluster.serviceAccount should be migrated to the \
             KubeServiceAccountConfig document as well",
        );
    }
    let domain = cluster.at("network.dnsDomain");
    if !domain.text().is_empty() && !is_dns_name(domain.text()) {
        findings.error(domain, format!("{} is not a valid DNS name", quoted(domain.text())));
    }
    external_cloud_provider(cluster.at("externalCloudProvider"), findings);
    let etcd = cluster.at("etcd");
    if etcd.is_set() {
        if is_control_plane {
            check_etcd(etcd, findings);
        } else {
            findings.error(etcd, "etcd config is only allowed on control plane machines");
        }
    }
    let ca = cluster.at("ca");
    if !is_control_plane && !ca.at("key").text().is_empty() {
        findings.error(
            ca.at("key"),
            "cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)",
        );
    }
    inline_manifests(cluster.at("inlineManifests"), findings);
    discovery(cluster, findings);
    api_server(cluster.at("apiServer"), findings);
    resources(cluster.at("controllerManager.resources"), "controller-manager", findings);
    resources(cluster.at("scheduler.resources"), "scheduler", findings);
}

fn parse_url(text: &str) -> Result<Url, String> {
    Url::parse(text)
        .map_err(|reason| format!("parse {}: {reason}", quoted(&url::without_user(text))))
}

/// A URL with a host and, if any, a port that can be. The scheme does not matter.
pub(super) fn endpoint_uri(text: &str) -> Result<(), String> {
    let url = parse_url(text)?;
    if url.host_name().is_empty() {
        return Err("hostname must not be blank".to_owned());
    }
    match url.port() {
        "" => Ok(()),
        port if port.parse::<u32>().is_ok_and(|port| (1..=65535).contains(&port)) => Ok(()),
        _ => Err("port number must be between 1 and 65535".to_owned()),
    }
}

pub(super) fn is_dns_name(name: &str) -> bool {
    let dots = name.matches('.').count();
    if name.len() - dots > 255 {
        return false;
    }
    let name = name.strip_suffix(['.', '_']).filter(|name| !name.is_empty()).unwrap_or(name);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.split('.').all(|label| {
        let first = label.as_bytes().first().is_some_and(|byte| plain(*byte));
        first && label.len() <= 63 && label.bytes().all(|byte| plain(byte) || byte == b'-')
    })
}

fn external_cloud_provider(provider: Cursor<'_>, findings: &mut Findings) {
    let manifests = provider.at("manifests");
    if !provider.at("enabled").flag() {
        if !manifests.is_empty() {
            findings.error(
                manifests,
                "external cloud provider is disabled, but manifests are provided",
            );
        }
        return;
    }
    for manifest in manifests.items() {
        if let Err(reason) = endpoint_uri(manifest.text()) {
            let url = quoted(manifest.text());
            let message = format!("invalid external cloud provider manifest url {url}: {reason}");
            findings.error(manifest, message);
        }
    }
}

fn check_etcd(etcd: Cursor<'_>, findings: &mut Findings) {
    if !etcd.at("ca").is_set() {
        findings.error(etcd, "key/cert combination should not be empty");
    }
    let (subnet, advertised) = (etcd.at("subnet"), etcd.at("advertisedSubnets"));
    if !subnet.text().is_empty() && !advertised.is_empty() {
        findings.error(subnet, "etcd subnet can't be set when advertised subnets are set");
    }
    let mut subnets = |places: Vec<Cursor<'_>>, what: &str| {
        for cursor in places {
            let text = cursor.without_negation();
            if !go_compat::is_subnet_or_address(text) {
                findings
                    .error(cursor, format!("etcd {what} subnet is not valid: {}", quoted(text)));
            }
        }
    };
    if !advertised.is_empty() {
        subnets(advertised.items().collect(), "advertised");
    } else if !subnet.text().is_empty() {
        subnets(vec![subnet], "advertised");
    }
    // etcd listens where it advertises, unless told otherwise.
    let listen = etcd.at("listenSubnets");
    let listen = if listen.is_empty() { advertised } else { listen };
    subnets(listen.items().collect(), "listen");
}

pub(super) fn inline_manifests(manifests: Cursor<'_>, findings: &mut Findings) {
    let mut names = BTreeSet::new();
    for manifest in manifests.items() {
        let name = manifest.at("name").text();
        if name.trim().is_empty() {
            findings.error(manifest, "inline manifest name can't be empty");
        }
        if !names.insert(name) {
            findings.error(manifest, format!("inline manifest name {} is duplicate", quoted(name)));
        }
    }
}

fn discovery(cluster: Cursor<'_>, findings: &mut Findings) {
    let discovery = cluster.at("discovery");
    let service = discovery.at("registries.service");
    if !discovery.at("enabled").flag() || service.at("disabled").flag() {
        return;
    }
    let endpoint = service.at("endpoint");
    if !endpoint.text().is_empty() {
        match request_uri(endpoint.text()) {
            Err(reason) => findings.error(
                endpoint,
                format!("cluster discovery service registry endpoint is invalid: {reason}"),
            ),
            Ok(url) if !matches!(url.path.as_str(), "" | "/") => {
                findings.error(endpoint, "cluster discovery service path should be empty");
            }
            Ok(_) => {}
        }
    }
    findings.require(cluster.at("id"), "cluster discovery service requires .cluster.id");
    findings.require(cluster.at("secret"), "cluster discovery service requires .cluster.secret");
}

/// A URL that a request can be made to: absolute, or a path from the root.
fn request_uri(text: &str) -> Result<Url, String> {
    // Of a request everything behind the path is query; a fragment is part of it.
    let url = parse_url(&text.replace('#', "%23"))?;
    if url.scheme.is_empty() && !text.starts_with('/') && text != "*" {
        return Err(format!("parse {}: invalid URI for request", quoted(text)));
    }
    Ok(url)
}

fn api_server(server: Cursor<'_>, findings: &mut Findings) {
    if let Err((cursor, reason)) = authorization(server) {
        findings.error(cursor, reason);
        return;
    }
    resources(server.at("resources"), "apiserver", findings);
}

fn authorization(server: Cursor<'_>) -> Result<(), (Cursor<'_>, String)> {
    let authorizers = server.at("authorizationConfig");
    if authorizers.is_set() {
        for (argument, cursor) in server.at("extraArgs").entries() {
            if argument == "authorization-mode" {
                let reason = "authorization-mode cannot be used in conjunction with \
                              AuthorizationConfig, use eitherr AuthorizationConfig or \
                              authorization-mode";
                return Err((cursor, reason.to_owned()));
            }
            if argument.starts_with("authorization-webhook-") {
                let reason = "authorization-webhook-* flags cannot be used in conjunction with \
                              AuthorizationConfig, use either AuthorizationConfig or \
                              authorization-webhook-* flags";
                return Err((cursor, reason.to_owned()));
            }
        }
    }
    for authorizer in authorizers.items() {
        let kind = authorizer.at("type").text();
        let reason = if kind.is_empty() {
            "authorizer type must be set".to_owned()
        } else if authorizer.at("name").text().is_empty() {
            "authorizer name must be set".to_owned()
        } else if let Some(reason) = not_allowed_authorizer(kind) {
            reason
        } else {
            continue;
        };
        let reason = format!("apiserver authorization config validation failed: {reason}");
        return Err((authorizer, reason));
    }
    Ok(())
}

fn resources(resources: Cursor<'_>, component: &str, findings: &mut Findings) {
    if let Some((cursor, reason)) = foreign_resource(resources) {
        findings.error(cursor, format!("{component} resource validation failed: {reason}"));
    }
}

fn install(install: Cursor<'_>, findings: &mut Findings) {
    if !install.is_set() {
        return;
    }
    let selector = install.at("diskSelector");
    let problem = disk_selector_problem(selector);
    let matches_something = selector.is_set() && problem.is_none();
    if let Some(reason) = problem {
        findings.error(selector, format!("install disk selector is invalid: {reason}"));
    }
    if install.at("disk").text().is_empty() && !matches_something {
        findings.error(install, "either install disk or diskSelector should be defined");
    }
    if !install.at("extraKernelArgs").is_empty() && install.at("grubUseUKICmdline").flag() {
        findings.error(
            install.at("extraKernelArgs"),
            "install.extraKernelArgs and install.grubUseUKICmdline can't be used together",
        );
    }
}

pub(super) fn disk_selector_problem(selector: Cursor<'_>) -> Option<String> {
    if !selector.at("name").text().is_empty() {
        return Some("selector on name is not supported".to_owned());
    }
    match selector.at("type").text() {
        "" | "nvme" | "sd" | "hdd" | "ssd" => None,
        other => Some(format!("unsupported disk type {}", quoted(other))),
    }
}

fn role(root: Cursor<'_>, machine_type: MachineType, findings: &mut Findings) {
    let (machine, cluster) = (root.at("machine"), root.at("cluster"));
    let (ca, accepted) = (machine.at("ca"), machine.at("acceptedCAs"));
    if !ca.is_set() && accepted.is_empty() {
        findings.error(
            machine,
            "issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)",
        );
    }
    match machine_type {
        MachineType::Init | MachineType::ControlPlane => {
            if cluster.at("network").is_set() {
                cni(cluster.at("network.cni"), findings);
            }
            if !ca.is_set() {
                findings.error(machine, "issuing CA is required (.machine.ca)");
            } else if ca.at("key").text().is_empty() {
                findings.error(
                    ca,
                    "issuing CA key is required for controlplane nodes (.machine.ca.key)",
                );
            }
        }
        MachineType::Worker => {
            for device in machine.at("network.interfaces").items() {
                for link in std::iter::once(device).chain(device.at("vlans").items()) {
                    if link.at("vip").is_set() {
                        findings.error(
                            link.at("vip"),
                            "virtual (shared) IP is not allowed on non-controlplane nodes",
                        );
                    }
                }
            }
            if ca.is_set() && !ca.at("key").text().is_empty() {
                findings.error(
                    ca.at("key"),
                    "issuing Talos API CA key is not allowed on non-controlplane nodes \
                     (.machine.ca)",
                );
            }
            if ca.is_set() && ca.at("crt").text().is_empty() && accepted.is_empty() {
                findings.error(
                    ca,
                    "trusted CA certificates are required on non-controlplane nodes \
                     (.machine.ca.crt, .machine.acceptedCAs)",
                );
            }
            if !cluster.at("ca.key").text().is_empty() {
                findings.error(
                    cluster.at("ca.key"),
                    "issuing Kubernetes API CA key is not allowed on non-controlplane nodes \
                     (.cluster.ca)",
                );
            }
        }
        MachineType::Unknown => {
            let written = machine.at("type");
            findings.error(written, format!("unknown machine type {}", quoted(written.text())));
        }
    }
}

pub(super) fn cni(cni: Cursor<'_>, findings: &mut Findings) {
    let kind = if cni.is_set() { cni.at("name").text() } else { "flannel" };
    let name = quoted(kind);
    let urls = cni.at("urls");
    match kind {
        "custom" if urls.is_empty() => {
            findings.warn(cni, format!("\"urls\" field should not be empty for {name} CNI"));
        }
        "flannel" | "none" if !urls.is_empty() => {
            findings.error(urls, format!("\"urls\" field should be empty for {name} CNI"));
        }
        "flannel" | "none" | "custom" => {}
        _ => {
            findings.error(cni, "cni name should be one of [\"flannel\", \"custom\", \"none\"]");
            return;
        }
    }
    if kind == "flannel" {
        return;
    }
    let arguments = cni.at("flannel.extraArgs");
    if !arguments.is_empty() {
        let message = format!("\"flanneldExtraArgs\" field should be empty for {name} CNI");
        findings.error(arguments, message);
    }
    let policies = cni.at("flannel.kubeNetworkPoliciesEnabled");
    if policies.flag() {
        let message =
            format!("\"flannelKubeNetworkPoliciesEnabled\" should not be enabled for {name} CNI");
        findings.error(policies, message);
    }
    for url in urls.items().filter(|_| kind == "custom") {
        if let Err(reason) = endpoint_uri(url.text()) {
            findings.error(url, reason);
        }
    }
}

fn disks(disks: Cursor<'_>, findings: &mut Findings) {
    for disk in disks.items() {
        let partitions: Vec<Cursor<'_>> = disk.at("partitions").items().collect();
        let Some((_, before_last)) = partitions.split_last() else { continue };
        for partition in before_last.iter().filter(|partition| !partition.at("size").is_set()) {
            let device = quoted(disk.at("device").text());
            findings.error(
                *partition,
                format!(
                    "partition for disk {device} is set to occupy full disk, but it's not the last \
                     partition in the list"
                ),
            );
        }
    }
}

fn kubelet(kubelet: Cursor<'_>, findings: &mut Findings) {
    for subnet in kubelet.at("nodeIP.validSubnets").items() {
        let text = subnet.without_negation();
        if !go_compat::is_subnet_or_address(text) {
            findings.error(subnet, format!("kubelet nodeIP subnet is not valid: {}", quoted(text)));
        }
    }
    protected_fields(kubelet.at("extraConfig"), findings);
}

fn encryption(encryption: Cursor<'_>, findings: &mut Findings) {
    for (label, key) in [("EPHEMERAL", "ephemeral"), ("STATE", "state")] {
        let volume = encryption.at(key);
        if !volume.is_set() {
            continue;
        }
        let keys = volume.at("keys");
        if keys.is_empty() {
            findings.error(volume, format!("partition \"{label}\": no encryption keys provided"));
        }
        let mut slots = BTreeSet::new();
        for key in keys.items() {
            let slot = key.at("slot").number();
            if !slots.insert(slot) {
                let message =
                    format!("partition \"{label}\": encryption key slot {slot} is already in use");
                findings.error(key, message);
            }
            if !["nodeID", "static", "kms", "tpm"].iter().any(|kind| key.at(kind).is_set()) {
                let message = format!(
                    "partition \"{label}\": encryption key at slot {slot} doesn't have the \
                     configuration parameters"
                );
                findings.error(key, message);
            }
        }
    }
}

fn kubespan_filters(kubespan: Cursor<'_>, findings: &mut Findings) {
    if !kubespan.at("enabled").flag() {
        return;
    }
    kubespan_endpoints(kubespan.at("filters.endpoints"), findings);
    for network in kubespan.at("filters.excludeAdvertisedNetworks").items() {
        if go_compat::parse_prefix(network.text()).is_err() {
            let text = quoted(network.text());
            let message =
                format!("KubeSpan exclude advertised networks filter is not valid: {text}");
            findings.error(network, message);
        }
    }
}

fn logging(logging: Cursor<'_>, findings: &mut Findings) {
    for destination in logging.at("destinations").items() {
        let endpoint = destination.at("endpoint");
        match Url::parse(endpoint.text()) {
            _ if !endpoint.is_set() => findings.error(destination, "empty logging endpoint"),
            Err(reason) => findings.error(endpoint, reason),
            Ok(url) => {
                if url.host.is_empty() {
                    findings.error(endpoint, "empty logging endpoint's host");
                }
                if !matches!(url.scheme.as_str(), "tcp" | "udp") {
                    let scheme = quoted(&url.scheme);
                    let message = format!("unexpected logging endpoint scheme {scheme}");
                    findings.error(endpoint, message);
                }
            }
        }
        let format = destination.at("format");
        if format.text() != "json_lines" {
            findings.error(format, format!("unknown logging format {}", quoted(format.text())));
        }
    }
}

fn extensions(extensions: Cursor<'_>, findings: &mut Findings) {
    let mut images = BTreeSet::new();
    for extension in extensions.items() {
        let image = extension.at("image").text();
        if !images.insert(image) {
            findings.error(extension, format!("duplicate system extension {}", quoted(image)));
        }
    }
    if !images.is_empty() {
        findings.warn(
            extensions,
            ".machine.install.extensions is deprecated, please see \
             https://docs.siderolabs.com/talos/latest/platform-specific-installations/boot-assets",
        );
    }
}

fn node_metadata(machine: Cursor<'_>, findings: &mut Findings) {
    for (key, what, check) in [
        ("nodeLabels", "labels", labels::labels as Check),
        ("nodeAnnotations", "annotations", labels::annotations),
        ("nodeTaints", "taints", labels::taints),
    ] {
        if let Some(problems) = check(machine.at(key)) {
            findings.error(machine.at(key), format!("invalid machine node {what}: {problems}"));
        }
    }
}

fn features(features: Cursor<'_>, machine_type: MachineType, findings: &mut Findings) {
    let access = features.at("kubernetesTalosAPIAccess");
    if access.at("enabled").flag() {
        if !machine_type.is_control_plane() {
            findings.error(
                access,
                "feature Kubernetes Talos API Access can only be enabled on control plane machines",
            );
        }
        for role in access.at("allowedRoles").items() {
            if !ROLES.contains(&role.text()) {
                let message = format!(
                    "invalid role {} in allowed roles for Kubernetes Talos API Access",
                    quoted(role.text())
                );
                findings.error(role, message);
            }
        }
    }
    let algorithm = features.at("nodeAddressSortAlgorithm");
    if !matches!(algorithm.text().to_lowercase().as_str(), "" | "v1" | "v2") {
        let message = format!(
            "invalid node address sort algorithm: {} does not belong to AddressSortAlgorithm values",
            algorithm.text()
        );
        findings.error(algorithm, message);
    }
}
