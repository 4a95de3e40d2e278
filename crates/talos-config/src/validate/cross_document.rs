//! Rules about a configuration as a whole.

use std::collections::BTreeSet;

use super::container::check_dependencies;
use super::cursor::Cursor;
use super::v1alpha1::MachineType;
use super::{Findings, Mode};
use crate::{Config, kinds};

pub(super) fn check(config: &Config, mode: Mode, findings: &mut Findings) {
    let rules = CrossDocument {
        config,
        legacy: config
            .document(kinds::V1ALPHA1.name, "")
            .map_or_else(Cursor::nowhere, Cursor::root),
    };
    rules.host_dns(mode, findings);
    rules.discovery(findings);
    check_dependencies(&rules.documents("ContainerConfig"), findings);
    let kubespan = rules
        .document("KubeSpanConfig")
        .unwrap_or_else(|| rules.legacy.at("machine.network.kubespan"));
    if kubespan.at("enabled").flag() && !rules.has_discovery() {
        findings.error(kubespan, "KubeSpan requires cluster discovery to be enabled");
    }
    let is_control_plane =
        rules.legacy.at("machine").is_set() && MachineType::of(rules.legacy).is_control_plane();
    rules.kubernetes(is_control_plane, findings);
    if !is_control_plane {
        rules.control_plane_only(findings);
    }
}

struct CrossDocument<'a> {
    config: &'a Config,
    /// The oldest document.
    legacy: Cursor<'a>,
}

impl<'a> CrossDocument<'a> {
    fn documents(&self, kind: &str) -> Vec<Cursor<'a>> {
        let documents = self.config.documents().iter();
        documents.filter(|document| document.kind.name == kind).map(Cursor::root).collect()
    }

    fn document(&self, kind: &str) -> Option<Cursor<'a>> {
        self.documents(kind).first().copied()
    }

    fn host_dns(&self, mode: Mode, findings: &mut Findings) {
        let resolver = self.document("ResolverConfig");
        let enabled = resolver
            .map(|document| document.at("hostDNS"))
            .filter(|host_dns| host_dns.at("enabled").flag());
        let host_dns = enabled.unwrap_or_else(|| self.legacy.at("machine.features.hostDNS"));
        if mode == Mode::Container {
            let flag = |key: &str| host_dns.at(key).flag();
            for (wrong, problem) in [
                (!host_dns.is_set(), "hostDNS config is required"),
                (host_dns.is_set() && !flag("enabled"), "hostDNS must be enabled"),
                (
                    host_dns.is_set() && !flag("forwardKubeDNSToHost"),
                    "forwardKubeDNSToHost must be enabled",
                ),
            ] {
                if wrong {
                    findings.error(host_dns, format!("{problem} in container mode"));
                }
            }
        }
        let servers = resolver.unwrap_or_else(Cursor::nowhere).at("nameservers");
        let encrypted =
            servers.items().find(|server| !matches!(server.at("protocol").text(), "" | "Do53"));
        if let Some(server) = encrypted
            && !host_dns.at("enabled").flag()
        {
            findings.error(server, "hostDNS must be enabled when using non-default DNS protocols");
        }
    }

    fn has_discovery(&self) -> bool {
        let legacy = self.legacy.at("cluster.discovery");
        let service = legacy.at("registries.service");
        let by_legacy = legacy.at("enabled").flag()
            && !service.at("disabled").flag()
            && crate::format::url::Url::parse(service.at("endpoint").text()).is_ok();
        by_legacy || !self.documents("DiscoveryServiceConfig").is_empty()
    }

    fn discovery(&self, findings: &mut Findings) {
        if !self.has_discovery() {
            return;
        }
        let cluster = self.legacy.at("cluster");
        let (id, secret) = (cluster.at("id"), cluster.at("secret"));
        // One of the two in the oldest document hides both of the newer one.
        let (id, secret) = if id.text().is_empty() && secret.text().is_empty() {
            let identity = self.document("DiscoveryIdentityConfig").unwrap_or_else(Cursor::nowhere);
            (identity.at("clusterID"), identity.at("clusterSecret"))
        } else {
            (id, secret)
        };
        findings.require(
            id,
            "cluster ID (.cluster.id or DiscoveryIdentityConfig) should be set when cluster \
             discovery (DiscoveryServiceConfig) is enabled",
        );
        findings.require(
            secret,
            "cluster secret (.cluster.secret or DiscoveryIdentityConfig) should be set when cluster \
             discovery (DiscoveryServiceConfig) is enabled",
        );
    }

    fn kubernetes(&self, is_control_plane: bool, findings: &mut Findings) {
        let cluster = self.legacy.at("cluster");
        let has_ca = self.document("KubeAPIServerCAConfig").is_some()
            || cluster.at("ca").is_set()
            || cluster.at("acceptedCAs").is_set();
        if is_control_plane {
            let encrypted = ["secretboxEncryptionSecret", "aescbcEncryptionSecret"]
                .iter()
                .any(|key| !cluster.at(key).text().is_empty())
                || self.document("KubeEtcdEncryptionConfig").is_some();
            if has_ca && !encrypted {
                findings.error(
                    cluster,
                    "etcd encryption config is required for control plane machines running \
                     kube-apiserver",
                );
            }
            if let Some(node) = self.document("KubeNodeConfig") {
                node_labels(node, findings);
            }
        }
        let has_cluster = self.document("KubeClusterConfig").is_some()
            || cluster.at("controlPlane.endpoint").is_set();
        if has_ca && !has_cluster {
            findings.error(
                cluster,
                "cluster name and endpoint are required when Kubernetes is configured: either \
                 .cluster.clusterName/.cluster.controlPlane.endpoint or the KubeClusterConfig \
                 document",
            );
        }
    }

    fn control_plane_only(&self, findings: &mut Findings) {
        let documents = self.config.documents().iter();
        let found: Vec<_> =
            documents.filter(|document| CONTROL_PLANE_ONLY.contains(&document.kind.name)).collect();
        let Some(first) = found.first() else { return };
        let kinds: BTreeSet<&str> = found.iter().map(|document| document.kind.name).collect();
        let kinds: Vec<&str> = kinds.into_iter().collect();
        let message = format!(
            "the following document kinds are only allowed on control plane machines: [{}]",
            kinds.join(" ")
        );
        findings.error(Cursor::root(first), message);
    }
}

fn node_labels(node: Cursor<'_>, findings: &mut Findings) {
    let mut labels = node.at("labels").entries();
    let labelled = labels.any(|(key, _)| key == "node-role.kubernetes.io/control-plane");
    if !labelled && !node.at("skipNodeRegistration").flag() {
        findings.warn(
            node,
            "KubeNodeConfig document should set the \"node-role.kubernetes.io/control-plane\" node \
             label on control plane machines (and, unless scheduling on control planes is allowed, \
             the \"node-role.kubernetes.io/control-plane: NoSchedule\" taint): unlike \
             .machine.nodeLabels/.machine.nodeTaints, the document contents are used as-is",
        );
    }
}

const CONTROL_PLANE_ONLY: [&str; 14] = [
    "KubeAPIServerConfig",
    "KubeAdmissionControlConfig",
    "KubeAggregatorCAConfig",
    "KubeAuditPolicyConfig",
    "KubeAuthenticationConfig",
    "KubeAuthorizerConfig",
    "KubeControllerManagerConfig",
    "KubeCoreDNSConfig",
    "KubeEtcdEncryptionConfig",
    "KubeFlannelCNIConfig",
    "KubeProxyConfig",
    "KubeSchedulerConfig",
    "KubeServiceAccountConfig",
    "KubeTalosAPIAccessConfig",
];
