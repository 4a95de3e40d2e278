//! Fields of the cluster in a machine's configuration.

use super::{CERTIFICATE_AND_KEY, Kind, Struct, UNSTRUCTURED};

pub(super) static CLUSTER_CONFIG: Struct = Struct {
    name: "v1alpha1.ClusterConfig",
    fields: &[
        ("ClusterID", "id", Kind::Text),
        ("ClusterSecret", "secret", Kind::Text),
        ("ControlPlane", "controlPlane", Kind::Pointer(&CONTROL_PLANE_CONFIG)),
        ("ClusterName", "clusterName", Kind::Text),
        ("ClusterNetwork", "network", Kind::Pointer(&CLUSTER_NETWORK_CONFIG)),
        ("BootstrapToken", "token", Kind::Text),
        ("ClusterAESCBCEncryptionSecret", "aescbcEncryptionSecret", Kind::Text),
        ("ClusterSecretboxEncryptionSecret", "secretboxEncryptionSecret", Kind::Text),
        ("ClusterCA", "ca", Kind::Pointer(&CERTIFICATE_AND_KEY)),
        ("ClusterAcceptedCAs", "acceptedCAs", Kind::Free),
        ("ClusterAggregatorCA", "aggregatorCA", Kind::Pointer(&CERTIFICATE_AND_KEY)),
        ("ClusterServiceAccount", "serviceAccount", Kind::Pointer(&KEY)),
        ("APIServerConfig", "apiServer", Kind::Pointer(&API_SERVER_CONFIG)),
        ("ControllerManagerConfig", "controllerManager", Kind::Pointer(&CONTROLLER_MANAGER_CONFIG)),
        ("ProxyConfig", "proxy", Kind::Pointer(&PROXY_CONFIG)),
        ("SchedulerConfig", "scheduler", Kind::Pointer(&SCHEDULER_CONFIG)),
        ("ClusterDiscoveryConfig", "discovery", Kind::Pointer(&CLUSTER_DISCOVERY_CONFIG)),
        ("EtcdConfig", "etcd", Kind::Pointer(&ETCD_CONFIG)),
        ("CoreDNSConfig", "coreDNS", Kind::Pointer(&CORE_DNS)),
        (
            "ExternalCloudProviderConfig",
            "externalCloudProvider",
            Kind::Pointer(&EXTERNAL_CLOUD_PROVIDER_CONFIG),
        ),
        ("ExtraManifests", "extraManifests", Kind::Texts),
        ("ExtraManifestHeaders", "extraManifestHeaders", Kind::TextMap),
        ("ClusterInlineManifests", "inlineManifests", Kind::Objects(&CLUSTER_INLINE_MANIFEST)),
        ("AdminKubeconfigConfig", "adminKubeconfig", Kind::Pointer(&ADMIN_KUBECONFIG_CONFIG)),
        ("AllowSchedulingOnMasters", "allowSchedulingOnMasters", Kind::Flag),
        ("AllowSchedulingOnControlPlanes", "allowSchedulingOnControlPlanes", Kind::Flag),
    ],
};

static CONTROL_PLANE_CONFIG: Struct = Struct {
    name: "v1alpha1.ControlPlaneConfig",
    fields: &[
        ("Endpoint", "endpoint", Kind::Url),
        ("LocalAPIServerPort", "localAPIServerPort", Kind::Number),
    ],
};

static CLUSTER_NETWORK_CONFIG: Struct = Struct {
    name: "v1alpha1.ClusterNetworkConfig",
    fields: &[
        ("CNI", "cni", Kind::Pointer(&CNI_CONFIG)),
        ("DNSDomain", "dnsDomain", Kind::Text),
        ("PodSubnet", "podSubnets", Kind::Texts),
        ("ServiceSubnet", "serviceSubnets", Kind::Texts),
    ],
};

static API_SERVER_CONFIG: Struct = Struct {
    name: "v1alpha1.APIServerConfig",
    fields: &[
        ("ContainerImage", "image", Kind::Text),
        ("ExtraArgsConfig", "extraArgs", Kind::Free),
        ("ExtraVolumesConfig", "extraVolumes", Kind::Objects(&VOLUME_MOUNT_CONFIG)),
        ("EnvConfig", "env", Kind::TextMap),
        ("ExtraCertSANs", "certSANs", Kind::Texts),
        ("DisablePodSecurityPolicyConfig", "disablePodSecurityPolicy", Kind::Flag),
        ("AdmissionControlConfig", "admissionControl", Kind::Objects(&ADMISSION_PLUGIN_CONFIG)),
        ("AuditPolicyConfig", "auditPolicy", Kind::Inner(&UNSTRUCTURED)),
        ("ResourcesConfig", "resources", Kind::Pointer(&RESOURCES_CONFIG)),
        (
            "AuthorizationConfigConfig",
            "authorizationConfig",
            Kind::Objects(&AUTHORIZATION_CONFIG_AUTHORIZER_CONFIG),
        ),
    ],
};

static CONTROLLER_MANAGER_CONFIG: Struct = Struct {
    name: "v1alpha1.ControllerManagerConfig",
    fields: &[
        ("ContainerImage", "image", Kind::Text),
        ("ExtraArgsConfig", "extraArgs", Kind::Free),
        ("ExtraVolumesConfig", "extraVolumes", Kind::Objects(&VOLUME_MOUNT_CONFIG)),
        ("EnvConfig", "env", Kind::TextMap),
        ("ResourcesConfig", "resources", Kind::Pointer(&RESOURCES_CONFIG)),
    ],
};

static PROXY_CONFIG: Struct = Struct {
    name: "v1alpha1.ProxyConfig",
    fields: &[
        ("Disabled", "disabled", Kind::Flag),
        ("ContainerImage", "image", Kind::Text),
        ("ModeConfig", "mode", Kind::Text),
        ("ExtraArgsConfig", "extraArgs", Kind::Free),
    ],
};

static SCHEDULER_CONFIG: Struct = Struct {
    name: "v1alpha1.SchedulerConfig",
    fields: &[
        ("ContainerImage", "image", Kind::Text),
        ("ExtraArgsConfig", "extraArgs", Kind::Free),
        ("ExtraVolumesConfig", "extraVolumes", Kind::Objects(&VOLUME_MOUNT_CONFIG)),
        ("EnvConfig", "env", Kind::TextMap),
        ("ResourcesConfig", "resources", Kind::Pointer(&RESOURCES_CONFIG)),
        ("SchedulerConfig", "config", Kind::Inner(&UNSTRUCTURED)),
    ],
};

static CLUSTER_DISCOVERY_CONFIG: Struct = Struct {
    name: "v1alpha1.ClusterDiscoveryConfig",
    fields: &[
        ("DiscoveryEnabled", "enabled", Kind::Flag),
        ("DiscoveryRegistries", "registries", Kind::Inner(&DISCOVERY_REGISTRIES_CONFIG)),
    ],
};

static ETCD_CONFIG: Struct = Struct {
    name: "v1alpha1.EtcdConfig",
    fields: &[
        ("ContainerImage", "image", Kind::Text),
        ("RootCA", "ca", Kind::Pointer(&CERTIFICATE_AND_KEY)),
        ("EtcdExtraArgs", "extraArgs", Kind::Free),
        ("EtcdSubnet", "subnet", Kind::Text),
        ("EtcdAdvertisedSubnets", "advertisedSubnets", Kind::Texts),
        ("EtcdListenSubnets", "listenSubnets", Kind::Texts),
    ],
};

static CORE_DNS: Struct = Struct {
    name: "v1alpha1.CoreDNS",
    fields: &[("CoreDNSDisabled", "disabled", Kind::Flag), ("CoreDNSImage", "image", Kind::Text)],
};

static EXTERNAL_CLOUD_PROVIDER_CONFIG: Struct = Struct {
    name: "v1alpha1.ExternalCloudProviderConfig",
    fields: &[
        ("ExternalEnabled", "enabled", Kind::Flag),
        ("ExternalManifests", "manifests", Kind::Texts),
    ],
};

static CLUSTER_INLINE_MANIFEST: Struct = Struct {
    name: "v1alpha1.ClusterInlineManifest",
    fields: &[
        ("InlineManifestName", "name", Kind::Text),
        ("InlineManifestContents", "contents", Kind::Text),
    ],
};

static ADMIN_KUBECONFIG_CONFIG: Struct = Struct {
    name: "v1alpha1.AdminKubeconfigConfig",
    fields: &[("AdminKubeconfigCertLifetime", "certLifetime", Kind::Free)],
};

static CNI_CONFIG: Struct = Struct {
    name: "v1alpha1.CNIConfig",
    fields: &[
        ("CNIName", "name", Kind::Text),
        ("CNIUrls", "urls", Kind::Texts),
        ("CNIFlannel", "flannel", Kind::Pointer(&FLANNEL_CNI_CONFIG)),
    ],
};

static VOLUME_MOUNT_CONFIG: Struct = Struct {
    name: "v1alpha1.VolumeMountConfig",
    fields: &[
        ("VolumeHostPath", "hostPath", Kind::Text),
        ("VolumeMountPath", "mountPath", Kind::Text),
        ("VolumeReadOnly", "readonly", Kind::Bool),
    ],
};

static ADMISSION_PLUGIN_CONFIG: Struct = Struct {
    name: "v1alpha1.AdmissionPluginConfig",
    fields: &[
        ("PluginName", "name", Kind::Text),
        ("PluginConfiguration", "configuration", Kind::Inner(&UNSTRUCTURED)),
    ],
};

static RESOURCES_CONFIG: Struct = Struct {
    name: "v1alpha1.ResourcesConfig",
    fields: &[
        ("Requests", "requests", Kind::Inner(&UNSTRUCTURED)),
        ("Limits", "limits", Kind::Inner(&UNSTRUCTURED)),
    ],
};

static AUTHORIZATION_CONFIG_AUTHORIZER_CONFIG: Struct = Struct {
    name: "v1alpha1.AuthorizationConfigAuthorizerConfig",
    fields: &[
        ("AuthorizerType", "type", Kind::Text),
        ("AuthorizerName", "name", Kind::Text),
        ("AuthorizerWebhook", "webhook", Kind::Inner(&UNSTRUCTURED)),
    ],
};

static DISCOVERY_REGISTRIES_CONFIG: Struct = Struct {
    name: "v1alpha1.DiscoveryRegistriesConfig",
    fields: &[
        ("RegistryKubernetes", "kubernetes", Kind::Inner(&REGISTRY_KUBERNETES_CONFIG)),
        ("RegistryService", "service", Kind::Inner(&REGISTRY_SERVICE_CONFIG)),
    ],
};

static FLANNEL_CNI_CONFIG: Struct = Struct {
    name: "v1alpha1.FlannelCNIConfig",
    fields: &[
        ("FlanneldExtraArgs", "extraArgs", Kind::Texts),
        ("FlannelKubeNetworkPoliciesEnabled", "kubeNetworkPoliciesEnabled", Kind::Flag),
    ],
};

static REGISTRY_KUBERNETES_CONFIG: Struct = Struct {
    name: "v1alpha1.RegistryKubernetesConfig",
    fields: &[("RegistryDisabled", "disabled", Kind::Flag)],
};

static REGISTRY_SERVICE_CONFIG: Struct = Struct {
    name: "v1alpha1.RegistryServiceConfig",
    fields: &[
        ("RegistryDisabled", "disabled", Kind::Flag),
        ("RegistryEndpoint", "endpoint", Kind::Text),
    ],
};

static KEY: Struct = Struct { name: "x509.PEMEncodedKey", fields: &[("Key", "key", Kind::Free)] };
