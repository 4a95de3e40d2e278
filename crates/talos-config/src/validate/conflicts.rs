//! Documents that say again what the oldest document says already. Each reports its first conflict.

use super::Findings;
use super::cursor::Cursor;
use super::go_compat::{self, quoted};
use crate::Config;

pub(super) fn check(config: &Config, legacy: Cursor<'_>, findings: &mut Findings) {
    for document in config.documents() {
        let cursor = Cursor::root(document);
        let conflict = conflict(document.kind.name, cursor, legacy);
        if let Some(message) = conflict {
            findings.error(cursor, message);
        }
    }
}

fn conflict(kind: &str, document: Cursor<'_>, legacy: Cursor<'_>) -> Option<String> {
    let message = match kind {
        "ResolverConfig" => return resolver(document, legacy),
        "TimeSyncConfig" => return time_sync(legacy.at("machine.time")),
        "VolumeConfig" => return volume(document, legacy),
        _ => {
            RULES
                .iter()
                .filter(|rule| rule.kind == kind)
                .find(|rule| rule.when.holds(legacy.at(rule.path)))?
                .message
        }
    };
    Some(message.to_owned())
}

struct Rule {
    kind: &'static str,
    path: &'static str,
    when: When,
    message: &'static str,
}

/// What of the oldest document is in the way.
enum When {
    /// That something is written, be it empty.
    Set,
    /// That a text, a list, an object is not empty or a number not zero.
    Filled,
    /// That it says yes.
    True,
}

impl When {
    fn holds(&self, cursor: Cursor<'_>) -> bool {
        match self {
            Self::Set => cursor.is_set(),
            Self::Filled => !cursor.text().is_empty() || !cursor.is_empty() || cursor.number() != 0,
            Self::True => cursor.flag(),
        }
    }
}

const fn rule(kind: &'static str, path: &'static str, when: When, message: &'static str) -> Rule {
    Rule { kind, path, when, message }
}

use When::{Filled, Set, True};

const RULES: &[Rule] = &[
    rule(
        "HostnameConfig",
        "machine.network.hostname",
        Filled,
        "static hostname is already set in v1alpha1 config",
    ),
    rule(
        "HostnameConfig",
        "machine.features.stableHostname",
        True,
        "stable hostname is already set in v1alpha1 config",
    ),
    rule(
        "KubeSpanConfig",
        "machine.network.kubespan",
        Set,
        "kubespan is already configured in v1alpha1 machine.network.kubespan",
    ),
    rule(
        "UnattendedInstallConfig",
        "machine.install",
        Set,
        "UnattendedInstallConfig config is incompatible with v1alpha1 config (.machine.install)",
    ),
    rule(
        "ImageCacheConfig",
        "machine.features.imageCache",
        Set,
        "image cache config is already set in v1alpha1 config",
    ),
    rule(
        "CRIBaseRuntimeSpecConfig",
        "machine.baseRuntimeSpecOverrides",
        Filled,
        "base runtime spec overrides are already set in v1alpha1 config",
    ),
    rule("DiscoveryIdentityConfig", "cluster.id", Filled, IDENTITY),
    rule("DiscoveryIdentityConfig", "cluster.secret", Filled, IDENTITY),
    rule(
        "DiscoveryServiceConfig",
        "cluster.discovery",
        Set,
        "discovery service is already configured in .cluster.discovery of the v1alpha1 config",
    ),
    rule(
        "KubeClusterConfig",
        "cluster.clusterName",
        Filled,
        "cluster name is already set in the v1alpha1 config (.cluster.clusterName). Please remove \
         it and use only the new KubeClusterConfig document to avoid conflicts",
    ),
    rule(
        "KubeClusterConfig",
        "cluster.controlPlane.endpoint",
        Set,
        "cluster endpoint is already set in the v1alpha1 config (.cluster.controlPlane.endpoint). \
         Please remove it and use only the new KubeClusterConfig document to avoid conflicts",
    ),
    rule(
        "KubeNodeConfig",
        "cluster.allowSchedulingOnControlPlanes",
        Set,
        ".cluster.allowSchedulingOnControlPlanes is already set in v1alpha1 config",
    ),
    rule(
        "KubeNodeConfig",
        "cluster.allowSchedulingOnMasters",
        Set,
        ".cluster.allowSchedulingOnMasters is already set in v1alpha1 config",
    ),
    rule(
        "KubeNodeConfig",
        "machine.kubelet.skipNodeRegistration",
        Set,
        ".machine.kubelet.skipNodeRegistration is already set in v1alpha1 config",
    ),
    rule(
        "KubeNodeConfig",
        "machine.kubelet.registerWithFQDN",
        Set,
        ".machine.kubelet.registerWithFQDN is already set in v1alpha1 config",
    ),
    rule(
        "KubeNodeConfig",
        "machine.kubelet.nodeIP",
        Set,
        ".machine.kubelet.nodeIP is already set in v1alpha1 config",
    ),
    rule(
        "KubeNodeConfig",
        "machine.nodeLabels",
        Set,
        ".machine.nodeLabels is already set in v1alpha1 config",
    ),
    rule(
        "KubeNodeConfig",
        "machine.nodeAnnotations",
        Set,
        ".machine.nodeAnnotations is already set in v1alpha1 config",
    ),
    rule(
        "KubeNodeConfig",
        "machine.nodeTaints",
        Set,
        ".machine.nodeTaints is already set in v1alpha1 config",
    ),
    rule(
        "KubeletConfig",
        "machine.kubelet",
        Set,
        "kubelet config is already set in v1alpha1 config (.machine.kubelet)",
    ),
    rule(
        "KubeCredentialProviderConfig",
        "machine.kubelet",
        Set,
        "cannot use KubeCredentialProviderConfig with legacy kubelet configuration \
         (.machine.kubelet)",
    ),
    rule(
        "KubeNetworkConfig",
        "cluster.network",
        Set,
        "cluster network config is already set in the v1alpha1 config (.machine.cluster.network). \
         Please remove it and use only the new KubeNetworkConfig document to avoid conflicts",
    ),
    rule(
        "KubeFlannelCNIConfig",
        "cluster.network",
        Set,
        "cluster network config in v1alpha1 config (.machine.cluster.network) can't be used with \
         KubeFlannelCNIConfig document, please remove it to avoid conflicts",
    ),
    rule(
        "KubeAPIServerConfig",
        "cluster.apiServer",
        Set,
        "kube-apiserver config is already set in v1alpha1 config (.cluster.apiServer)",
    ),
    rule(
        "KubeAPIServerConfig",
        "cluster.controlPlane.localAPIServerPort",
        Filled,
        "kube-apiserver API port is already set in v1alpha1 config \
         (.cluster.controlPlane.localAPIServerPort)",
    ),
    rule(
        "KubeAPIServerCAConfig",
        "cluster.ca",
        Set,
        "kube-apiserver CA is already set in v1alpha1 config (.cluster.ca)",
    ),
    rule(
        "KubeAggregatorCAConfig",
        "cluster.aggregatorCA",
        Set,
        "kube-apiserver aggregator CA is already set in v1alpha1 config (.cluster.aggregatorCA), \
         please remove it and use the new KubeAggregatorCAConfig document instead",
    ),
    rule(
        "KubeServiceAccountConfig",
        "cluster.serviceAccount",
        Set,
        "service account is already set in v1alpha1 config (.cluster.serviceAccount)",
    ),
    rule(
        "KubeControllerManagerConfig",
        "cluster.controllerManager",
        Set,
        "kube-controller-manager config is already set in v1alpha1 config \
         (.cluster.controllerManager)",
    ),
    rule(
        "KubeControllerManagerConfig",
        "machine.controlPlane.controllerManager",
        Set,
        "kube-controller-manager config is already set in v1alpha1 config \
         (.machine.controlplane.controllerManager)",
    ),
    rule(
        "KubeSchedulerConfig",
        "cluster.scheduler",
        Set,
        "kube-scheduler config is already set in v1alpha1 config (.cluster.scheduler)",
    ),
    rule(
        "KubeSchedulerConfig",
        "machine.controlPlane.scheduler",
        Set,
        "kube-scheduler config is already set in v1alpha1 config (.machine.controlplane.scheduler)",
    ),
    rule(
        "KubeProxyConfig",
        "cluster.proxy",
        Set,
        "cluster proxy config in v1alpha1 config (.machine.cluster.proxy) can't be used with \
         KubeProxyConfig document, please remove it to avoid conflicts",
    ),
    rule(
        "KubeCoreDNSConfig",
        "cluster.coreDNS",
        Set,
        "CoreDNS config is already set in v1alpha1 config (.cluster.coreDNS)",
    ),
    rule(
        "KubePrismConfig",
        "machine.features.kubePrism",
        Set,
        "KubePrism config in v1alpha1 config (.machine.features.kubePrism) can't be used with \
         KubePrismConfig document, please remove it to avoid conflicts",
    ),
    rule("KubeEtcdEncryptionConfig", "cluster.secretboxEncryptionSecret", Filled, ENCRYPTION),
    rule("KubeEtcdEncryptionConfig", "cluster.aescbcEncryptionSecret", Filled, ENCRYPTION),
    // Talos looks at admission control for both.
    rule("KubeAdmissionControlConfig", "cluster.apiServer.admissionControl", Filled, ADMISSION),
    rule("KubeAuthorizerConfig", "cluster.apiServer.admissionControl", Filled, ADMISSION),
    rule(
        "KubeAuditPolicyConfig",
        "cluster.apiServer.auditPolicy",
        Filled,
        "audit policy config is already set in v1alpha1 config",
    ),
    rule(
        "KubeTalosAPIAccessConfig",
        "machine.features.kubernetesTalosAPIAccess",
        Set,
        ".machine.features.kubernetesTalosAPIAccess is already set in v1alpha1 config",
    ),
];

const IDENTITY: &str =
    "cluster identity is already configured in .cluster.id/.cluster.secret of the v1alpha1 config";
const ENCRYPTION: &str = "etcd encryption config is already set in v1alpha1 config";
const ADMISSION: &str = "admission control plugin config is already set in v1alpha1 config";

fn resolver(document: Cursor<'_>, legacy: Cursor<'_>) -> Option<String> {
    let network = legacy.at("machine.network");
    // Of the servers only those count that are addresses.
    let servers = network
        .at("nameservers")
        .items()
        .any(|server| go_compat::parse_addr(server.text()).is_ok());
    let path = if network.at("searchDomains").is_set() {
        ".machine.network.searchDomains"
    } else if servers {
        ".machine.network.nameservers"
    } else if network.at("disableSearchDomain").flag() {
        ".machine.network.disableSearchDomain"
    } else if document.at("hostDNS").is_set() && legacy.at("machine.features.hostDNS").is_set() {
        ".machine.features.hostDNS"
    } else {
        return None;
    };
    Some(format!("{path} is already set in v1alpha1 config"))
}

fn time_sync(time: Cursor<'_>) -> Option<String> {
    let what = if time.at("disabled").flag() {
        "time sync cannot be disabled"
    } else if !time.at("servers").is_empty() {
        "time servers cannot be specified"
    } else if time.at("bootTimeout").duration() != 0 {
        "boot timeout cannot be specified"
    } else {
        return None;
    };
    Some(format!("{what} in both v1alpha1 and new-style configuration"))
}

fn volume(document: Cursor<'_>, legacy: Cursor<'_>) -> Option<String> {
    let name = document.at("name").text();
    let key = match name {
        "STATE" => "state",
        "EPHEMERAL" => "ephemeral",
        _ => return None,
    };
    let encryption = document.at("encryption");
    let encrypted = !matches!(encryption.at("provider").text(), "" | "none");
    let twice = encrypted && legacy.at("machine.systemDiskEncryption").at(key).is_set();
    twice.then(|| {
        let name = quoted(name);
        format!(
            "system disk encryption for {name} is configured in both v1alpha1.Config and \
             VolumeConfig"
        )
    })
}
