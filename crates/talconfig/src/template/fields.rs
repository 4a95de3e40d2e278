//! The names by which templates speak of a machine's configuration: those of the Go types behind the keys.

/// A Go type, its fields, the keys that they stand for, and what they hold.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    pub(crate) fields: &'static [(&'static str, &'static str, Kind)],
}

/// What a field holds, as far as a template can tell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Text,
    Bool,
    /// A boolean that can also be unset.
    Flag,
    Number,
    Url,
    Texts,
    TextMap,
    /// Anything else; nothing when it is unset.
    Free,
    Inner(&'static Struct),
    Pointer(&'static Struct),
    Objects(&'static Struct),
    ObjectMap(&'static Struct),
}

pub(super) static CONFIG: Struct = Struct {
    name: "v1alpha1.Config",
    fields: &[
        ("ConfigVersion", "version", Kind::Text),
        ("ConfigDebug", "debug", Kind::Flag),
        ("ConfigPersist", "persist", Kind::Flag),
        ("MachineConfig", "machine", Kind::Pointer(&MACHINE_CONFIG)),
        ("ClusterConfig", "cluster", Kind::Pointer(&CLUSTER_CONFIG)),
        // What follows the fields of a type are methods that say the same.
        ("Machine", "machine", Kind::Pointer(&MACHINE_CONFIG)),
        ("Cluster", "cluster", Kind::Pointer(&CLUSTER_CONFIG)),
    ],
};

static MACHINE_CONFIG: Struct = Struct {
    name: "v1alpha1.MachineConfig",
    fields: &[
        ("MachineType", "type", Kind::Text),
        ("MachineToken", "token", Kind::Text),
        ("MachineCA", "ca", Kind::Free),
        ("MachineAcceptedCAs", "acceptedCAs", Kind::Free),
        ("MachineCertSANs", "certSANs", Kind::Texts),
        ("MachineControlPlane", "controlPlane", Kind::Pointer(&MACHINE_CONTROL_PLANE_CONFIG)),
        ("MachineKubelet", "kubelet", Kind::Pointer(&KUBELET_CONFIG)),
        ("MachinePods", "pods", Kind::Free),
        ("MachineNetwork", "network", Kind::Pointer(&NETWORK_CONFIG)),
        ("MachineDisks", "disks", Kind::Objects(&MACHINE_DISK)),
        ("MachineInstall", "install", Kind::Pointer(&INSTALL_CONFIG)),
        ("MachineFiles", "files", Kind::Objects(&MACHINE_FILE)),
        ("MachineEnv", "env", Kind::Free),
        ("MachineTime", "time", Kind::Pointer(&TIME_CONFIG)),
        ("MachineSysctls", "sysctls", Kind::TextMap),
        ("MachineSysfs", "sysfs", Kind::TextMap),
        ("MachineRegistries", "registries", Kind::Inner(&REGISTRIES_CONFIG)),
        (
            "MachineSystemDiskEncryption",
            "systemDiskEncryption",
            Kind::Pointer(&SYSTEM_DISK_ENCRYPTION_CONFIG),
        ),
        ("MachineFeatures", "features", Kind::Pointer(&FEATURES_CONFIG)),
        ("MachineUdev", "udev", Kind::Pointer(&UDEV_CONFIG)),
        ("MachineLogging", "logging", Kind::Pointer(&LOGGING_CONFIG)),
        ("MachineKernel", "kernel", Kind::Pointer(&KERNEL_CONFIG)),
        ("MachineSeccompProfiles", "seccompProfiles", Kind::Objects(&MACHINE_SECCOMP_PROFILE)),
        ("MachineBaseRuntimeSpecOverrides", "baseRuntimeSpecOverrides", Kind::Free),
        ("MachineNodeLabels", "nodeLabels", Kind::TextMap),
        ("MachineNodeAnnotations", "nodeAnnotations", Kind::TextMap),
        ("MachineNodeTaints", "nodeTaints", Kind::TextMap),
        ("Type", "type", Kind::Text),
    ],
};

static CLUSTER_CONFIG: Struct = Struct {
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
        ("ClusterCA", "ca", Kind::Free),
        ("ClusterAcceptedCAs", "acceptedCAs", Kind::Free),
        ("ClusterAggregatorCA", "aggregatorCA", Kind::Free),
        ("ClusterServiceAccount", "serviceAccount", Kind::Free),
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

static MACHINE_CONTROL_PLANE_CONFIG: Struct = Struct {
    name: "v1alpha1.MachineControlPlaneConfig",
    fields: &[
        (
            "MachineControllerManager",
            "controllerManager",
            Kind::Pointer(&MACHINE_CONTROLLER_MANAGER_CONFIG),
        ),
        ("MachineScheduler", "scheduler", Kind::Pointer(&MACHINE_SCHEDULER_CONFIG)),
    ],
};

static KUBELET_CONFIG: Struct = Struct {
    name: "v1alpha1.KubeletConfig",
    fields: &[
        ("KubeletImage", "image", Kind::Text),
        ("KubeletClusterDNS", "clusterDNS", Kind::Texts),
        ("KubeletExtraArgs", "extraArgs", Kind::Free),
        ("KubeletExtraMounts", "extraMounts", Kind::Objects(&EXTRA_MOUNT)),
        ("KubeletExtraConfig", "extraConfig", Kind::Free),
        ("KubeletCredentialProviderConfig", "credentialProviderConfig", Kind::Free),
        (
            "KubeletDefaultRuntimeSeccompProfileEnabled",
            "defaultRuntimeSeccompProfileEnabled",
            Kind::Flag,
        ),
        ("KubeletRegisterWithFQDN", "registerWithFQDN", Kind::Flag),
        ("KubeletNodeIP", "nodeIP", Kind::Pointer(&KUBELET_NODE_IP_CONFIG)),
        ("KubeletSkipNodeRegistration", "skipNodeRegistration", Kind::Flag),
        ("KubeletDisableManifestsDirectory", "disableManifestsDirectory", Kind::Flag),
    ],
};

static NETWORK_CONFIG: Struct = Struct {
    name: "v1alpha1.NetworkConfig",
    fields: &[
        ("NetworkHostname", "hostname", Kind::Text),
        ("NetworkInterfaces", "interfaces", Kind::Objects(&DEVICE)),
        ("NameServers", "nameservers", Kind::Texts),
        ("Searches", "searchDomains", Kind::Texts),
        ("ExtraHostEntries", "extraHostEntries", Kind::Objects(&EXTRA_HOST)),
        ("NetworkKubeSpan", "kubespan", Kind::Pointer(&NETWORK_KUBE_SPAN)),
        ("NetworkDisableSearchDomain", "disableSearchDomain", Kind::Flag),
    ],
};

static MACHINE_DISK: Struct = Struct {
    name: "v1alpha1.MachineDisk",
    fields: &[
        ("DeviceName", "device", Kind::Text),
        ("DiskPartitions", "partitions", Kind::Objects(&DISK_PARTITION)),
    ],
};

static INSTALL_CONFIG: Struct = Struct {
    name: "v1alpha1.InstallConfig",
    fields: &[
        ("InstallDisk", "disk", Kind::Text),
        ("InstallDiskSelector", "diskSelector", Kind::Pointer(&INSTALL_DISK_SELECTOR)),
        ("InstallExtraKernelArgs", "extraKernelArgs", Kind::Texts),
        ("InstallImage", "image", Kind::Text),
        ("InstallExtensions", "extensions", Kind::Objects(&INSTALL_EXTENSION_CONFIG)),
        ("InstallBootloader", "bootloader", Kind::Flag),
        ("InstallWipe", "wipe", Kind::Flag),
        ("InstallLegacyBIOSSupport", "legacyBIOSSupport", Kind::Flag),
        ("InstallGrubUseUKICmdline", "grubUseUKICmdline", Kind::Flag),
    ],
};

static MACHINE_FILE: Struct = Struct {
    name: "v1alpha1.MachineFile",
    fields: &[
        ("FileContent", "content", Kind::Text),
        ("FilePermissions", "permissions", Kind::Free),
        ("FilePath", "path", Kind::Text),
        ("FileOp", "op", Kind::Text),
    ],
};

static TIME_CONFIG: Struct = Struct {
    name: "v1alpha1.TimeConfig",
    fields: &[
        ("TimeDisabled", "disabled", Kind::Flag),
        ("TimeServers", "servers", Kind::Texts),
        ("TimeBootTimeout", "bootTimeout", Kind::Free),
    ],
};

static REGISTRIES_CONFIG: Struct = Struct {
    name: "v1alpha1.RegistriesConfig",
    fields: &[
        ("RegistryMirrors", "mirrors", Kind::ObjectMap(&REGISTRY_MIRROR_CONFIG)),
        ("RegistryConfig", "config", Kind::ObjectMap(&REGISTRY_CONFIG)),
    ],
};

static SYSTEM_DISK_ENCRYPTION_CONFIG: Struct = Struct {
    name: "v1alpha1.SystemDiskEncryptionConfig",
    fields: &[
        ("StatePartition", "state", Kind::Pointer(&ENCRYPTION_CONFIG)),
        ("EphemeralPartition", "ephemeral", Kind::Pointer(&ENCRYPTION_CONFIG)),
    ],
};

static FEATURES_CONFIG: Struct = Struct {
    name: "v1alpha1.FeaturesConfig",
    fields: &[
        ("RBAC", "rbac", Kind::Flag),
        ("StableHostname", "stableHostname", Kind::Flag),
        (
            "KubernetesTalosAPIAccessConfig",
            "kubernetesTalosAPIAccess",
            Kind::Pointer(&KUBERNETES_TALOS_API_ACCESS_CONFIG),
        ),
        ("ApidCheckExtKeyUsage", "apidCheckExtKeyUsage", Kind::Flag),
        ("DiskQuotaSupport", "diskQuotaSupport", Kind::Flag),
        ("KubePrismSupport", "kubePrism", Kind::Pointer(&KUBE_PRISM)),
        ("HostDNSSupport", "hostDNS", Kind::Pointer(&HOST_DNS_CONFIG)),
        ("ImageCacheSupport", "imageCache", Kind::Pointer(&IMAGE_CACHE_CONFIG)),
        ("FeatureNodeAddressSortAlgorithm", "nodeAddressSortAlgorithm", Kind::Text),
    ],
};

static UDEV_CONFIG: Struct =
    Struct { name: "v1alpha1.UdevConfig", fields: &[("UdevRules", "rules", Kind::Texts)] };

static LOGGING_CONFIG: Struct = Struct {
    name: "v1alpha1.LoggingConfig",
    fields: &[("LoggingDestinations", "destinations", Kind::Objects(&LOGGING_DESTINATION))],
};

static KERNEL_CONFIG: Struct = Struct {
    name: "v1alpha1.KernelConfig",
    fields: &[("KernelModules", "modules", Kind::Objects(&KERNEL_MODULE_CONFIG))],
};

static MACHINE_SECCOMP_PROFILE: Struct = Struct {
    name: "v1alpha1.MachineSeccompProfile",
    fields: &[
        ("MachineSeccompProfileName", "name", Kind::Text),
        ("MachineSeccompProfileValue", "value", Kind::Free),
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
        ("EnvConfig", "env", Kind::Free),
        ("ExtraCertSANs", "certSANs", Kind::Texts),
        ("DisablePodSecurityPolicyConfig", "disablePodSecurityPolicy", Kind::Flag),
        ("AdmissionControlConfig", "admissionControl", Kind::Objects(&ADMISSION_PLUGIN_CONFIG)),
        ("AuditPolicyConfig", "auditPolicy", Kind::Free),
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
        ("EnvConfig", "env", Kind::Free),
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
        ("EnvConfig", "env", Kind::Free),
        ("ResourcesConfig", "resources", Kind::Pointer(&RESOURCES_CONFIG)),
        ("SchedulerConfig", "config", Kind::Free),
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
        ("RootCA", "ca", Kind::Free),
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

static MACHINE_CONTROLLER_MANAGER_CONFIG: Struct = Struct {
    name: "v1alpha1.MachineControllerManagerConfig",
    fields: &[("MachineControllerManagerDisabled", "disabled", Kind::Flag)],
};

static MACHINE_SCHEDULER_CONFIG: Struct = Struct {
    name: "v1alpha1.MachineSchedulerConfig",
    fields: &[("MachineSchedulerDisabled", "disabled", Kind::Flag)],
};

static EXTRA_MOUNT: Struct = Struct {
    name: "v1alpha1.ExtraMount",
    fields: &[
        ("Destination", "destination", Kind::Text),
        ("Type", "type", Kind::Text),
        ("Source", "source", Kind::Text),
        ("Options", "options", Kind::Texts),
        ("UIDMappings", "uidMappings", Kind::Objects(&LINUX_ID_MAPPING)),
        ("GIDMappings", "gidMappings", Kind::Objects(&LINUX_ID_MAPPING)),
    ],
};

static KUBELET_NODE_IP_CONFIG: Struct = Struct {
    name: "v1alpha1.KubeletNodeIPConfig",
    fields: &[("KubeletNodeIPValidSubnets", "validSubnets", Kind::Texts)],
};

static DEVICE: Struct = Struct {
    name: "v1alpha1.Device",
    fields: &[
        ("DeviceInterface", "interface", Kind::Text),
        ("DeviceSelector", "deviceSelector", Kind::Pointer(&NETWORK_DEVICE_SELECTOR)),
        ("DeviceAddresses", "addresses", Kind::Texts),
        ("DeviceCIDR", "cidr", Kind::Text),
        ("DeviceRoutes", "routes", Kind::Objects(&ROUTE)),
        ("DeviceBond", "bond", Kind::Pointer(&BOND)),
        ("DeviceBridge", "bridge", Kind::Pointer(&BRIDGE)),
        ("DeviceBridgePort", "bridgePort", Kind::Pointer(&BRIDGE_PORT)),
        ("DeviceVlans", "vlans", Kind::Objects(&VLAN)),
        ("DeviceMTU", "mtu", Kind::Number),
        ("DeviceDHCP", "dhcp", Kind::Flag),
        ("DeviceIgnore", "ignore", Kind::Flag),
        ("DeviceDummy", "dummy", Kind::Flag),
        ("DeviceDHCPOptions", "dhcpOptions", Kind::Pointer(&DHCP_OPTIONS)),
        ("DeviceWireguardConfig", "wireguard", Kind::Pointer(&DEVICE_WIREGUARD_CONFIG)),
        ("DeviceVIPConfig", "vip", Kind::Pointer(&DEVICE_VIP_CONFIG)),
    ],
};

static EXTRA_HOST: Struct = Struct {
    name: "v1alpha1.ExtraHost",
    fields: &[("HostIP", "ip", Kind::Text), ("HostAliases", "aliases", Kind::Texts)],
};

static NETWORK_KUBE_SPAN: Struct = Struct {
    name: "v1alpha1.NetworkKubeSpan",
    fields: &[
        ("KubeSpanEnabled", "enabled", Kind::Flag),
        ("KubeSpanAdvertiseKubernetesNetworks", "advertiseKubernetesNetworks", Kind::Flag),
        ("KubeSpanAllowDownPeerBypass", "allowDownPeerBypass", Kind::Flag),
        ("KubeSpanHarvestExtraEndpoints", "harvestExtraEndpoints", Kind::Flag),
        ("KubeSpanMTU", "mtu", Kind::Number),
        ("KubeSpanFilters", "filters", Kind::Pointer(&KUBE_SPAN_FILTERS)),
    ],
};

static DISK_PARTITION: Struct = Struct {
    name: "v1alpha1.DiskPartition",
    fields: &[("DiskSize", "size", Kind::Number), ("DiskMountPoint", "mountpoint", Kind::Text)],
};

static INSTALL_DISK_SELECTOR: Struct = Struct {
    name: "v1alpha1.InstallDiskSelector",
    fields: &[
        ("Size", "size", Kind::Pointer(&INSTALL_DISK_SIZE_MATCHER)),
        ("Name", "name", Kind::Text),
        ("Model", "model", Kind::Text),
        ("Serial", "serial", Kind::Text),
        ("Modalias", "modalias", Kind::Text),
        ("UUID", "uuid", Kind::Text),
        ("WWID", "wwid", Kind::Text),
        ("Type", "type", Kind::Text),
        ("BusPath", "busPath", Kind::Text),
    ],
};

static INSTALL_EXTENSION_CONFIG: Struct = Struct {
    name: "v1alpha1.InstallExtensionConfig",
    fields: &[("ExtensionImage", "image", Kind::Text)],
};

static REGISTRY_MIRROR_CONFIG: Struct = Struct {
    name: "v1alpha1.RegistryMirrorConfig",
    fields: &[
        ("MirrorEndpoints", "endpoints", Kind::Texts),
        ("MirrorOverridePath", "overridePath", Kind::Flag),
        ("MirrorSkipFallback", "skipFallback", Kind::Flag),
    ],
};

static REGISTRY_CONFIG: Struct = Struct {
    name: "v1alpha1.RegistryConfig",
    fields: &[
        ("RegistryTLS", "tls", Kind::Pointer(&REGISTRY_TLS_CONFIG)),
        ("RegistryAuth", "auth", Kind::Pointer(&REGISTRY_AUTH_CONFIG)),
    ],
};

static ENCRYPTION_CONFIG: Struct = Struct {
    name: "v1alpha1.EncryptionConfig",
    fields: &[
        ("EncryptionProvider", "provider", Kind::Text),
        ("EncryptionKeys", "keys", Kind::Objects(&ENCRYPTION_KEY)),
        ("EncryptionCipher", "cipher", Kind::Text),
        ("EncryptionKeySize", "keySize", Kind::Number),
        ("EncryptionBlockSize", "blockSize", Kind::Number),
        ("EncryptionPerfOptions", "options", Kind::Texts),
    ],
};

static KUBERNETES_TALOS_API_ACCESS_CONFIG: Struct = Struct {
    name: "v1alpha1.KubernetesTalosAPIAccessConfig",
    fields: &[
        ("AccessEnabled", "enabled", Kind::Flag),
        ("AccessAllowedRoles", "allowedRoles", Kind::Texts),
        ("AccessAllowedKubernetesNamespaces", "allowedKubernetesNamespaces", Kind::Texts),
    ],
};

static KUBE_PRISM: Struct = Struct {
    name: "v1alpha1.KubePrism",
    fields: &[("ServerEnabled", "enabled", Kind::Flag), ("ServerPort", "port", Kind::Number)],
};

static HOST_DNS_CONFIG: Struct = Struct {
    name: "v1alpha1.HostDNSConfig",
    fields: &[
        ("HostDNSConfigEnabled", "enabled", Kind::Flag),
        ("HostDNSEnabled", "enabled", Kind::Flag),
        ("HostDNSForwardKubeDNSToHost", "forwardKubeDNSToHost", Kind::Flag),
        ("HostDNSResolveMemberNames", "resolveMemberNames", Kind::Flag),
    ],
};

static IMAGE_CACHE_CONFIG: Struct = Struct {
    name: "v1alpha1.ImageCacheConfig",
    fields: &[("CacheLocalEnabled", "localEnabled", Kind::Flag)],
};

static LOGGING_DESTINATION: Struct = Struct {
    name: "v1alpha1.LoggingDestination",
    fields: &[
        ("LoggingEndpoint", "endpoint", Kind::Url),
        ("LoggingFormat", "format", Kind::Text),
        ("LoggingExtraTags", "extraTags", Kind::TextMap),
    ],
};

static KERNEL_MODULE_CONFIG: Struct = Struct {
    name: "v1alpha1.KernelModuleConfig",
    fields: &[("ModuleName", "name", Kind::Text), ("ModuleParameters", "parameters", Kind::Texts)],
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
        ("PluginConfiguration", "configuration", Kind::Free),
    ],
};

static RESOURCES_CONFIG: Struct = Struct {
    name: "v1alpha1.ResourcesConfig",
    fields: &[("Requests", "requests", Kind::Free), ("Limits", "limits", Kind::Free)],
};

static AUTHORIZATION_CONFIG_AUTHORIZER_CONFIG: Struct = Struct {
    name: "v1alpha1.AuthorizationConfigAuthorizerConfig",
    fields: &[
        ("AuthorizerType", "type", Kind::Text),
        ("AuthorizerName", "name", Kind::Text),
        ("AuthorizerWebhook", "webhook", Kind::Free),
    ],
};

static DISCOVERY_REGISTRIES_CONFIG: Struct = Struct {
    name: "v1alpha1.DiscoveryRegistriesConfig",
    fields: &[
        ("RegistryKubernetes", "kubernetes", Kind::Inner(&REGISTRY_KUBERNETES_CONFIG)),
        ("RegistryService", "service", Kind::Inner(&REGISTRY_SERVICE_CONFIG)),
    ],
};

static LINUX_ID_MAPPING: Struct = Struct {
    name: "v1alpha1.LinuxIDMapping",
    fields: &[
        ("ContainerID", "containerID", Kind::Number),
        ("HostID", "hostID", Kind::Number),
        ("Size", "size", Kind::Number),
    ],
};

static NETWORK_DEVICE_SELECTOR: Struct = Struct {
    name: "v1alpha1.NetworkDeviceSelector",
    fields: &[
        ("NetworkDeviceBus", "busPath", Kind::Text),
        ("NetworkDeviceHardwareAddress", "hardwareAddr", Kind::Text),
        ("NetworkDevicePermanentAddress", "permanentAddr", Kind::Text),
        ("NetworkDevicePCIID", "pciID", Kind::Text),
        ("NetworkDeviceKernelDriver", "driver", Kind::Text),
        ("NetworkDevicePhysical", "physical", Kind::Flag),
    ],
};

static ROUTE: Struct = Struct {
    name: "v1alpha1.Route",
    fields: &[
        ("RouteNetwork", "network", Kind::Text),
        ("RouteGateway", "gateway", Kind::Text),
        ("RouteSource", "source", Kind::Text),
        ("RouteMetric", "metric", Kind::Number),
        ("RouteMTU", "mtu", Kind::Number),
    ],
};

static BOND: Struct = Struct {
    name: "v1alpha1.Bond",
    fields: &[
        ("BondInterfaces", "interfaces", Kind::Texts),
        ("BondDeviceSelectors", "deviceSelectors", Kind::Objects(&NETWORK_DEVICE_SELECTOR)),
        ("BondARPIPTarget", "arpIPTarget", Kind::Texts),
        ("BondMode", "mode", Kind::Text),
        ("BondHashPolicy", "xmitHashPolicy", Kind::Text),
        ("BondLACPRate", "lacpRate", Kind::Text),
        ("BondADActorSystem", "adActorSystem", Kind::Text),
        ("BondARPValidate", "arpValidate", Kind::Text),
        ("BondARPAllTargets", "arpAllTargets", Kind::Text),
        ("BondPrimary", "primary", Kind::Text),
        ("BondPrimaryReselect", "primaryReselect", Kind::Text),
        ("BondFailOverMac", "failOverMac", Kind::Text),
        ("BondADSelect", "adSelect", Kind::Text),
        ("BondMIIMon", "miimon", Kind::Number),
        ("BondUpDelay", "updelay", Kind::Number),
        ("BondDownDelay", "downdelay", Kind::Number),
        ("BondARPInterval", "arpInterval", Kind::Number),
        ("BondResendIGMP", "resendIgmp", Kind::Number),
        ("BondMinLinks", "minLinks", Kind::Number),
        ("BondLPInterval", "lpInterval", Kind::Number),
        ("BondPacketsPerSlave", "packetsPerSlave", Kind::Number),
        ("BondNumPeerNotif", "numPeerNotif", Kind::Number),
        ("BondTLBDynamicLB", "tlbDynamicLb", Kind::Number),
        ("BondAllSlavesActive", "allSlavesActive", Kind::Number),
        ("BondUseCarrier", "useCarrier", Kind::Flag),
        ("BondADActorSysPrio", "adActorSysPrio", Kind::Number),
        ("BondADUserPortKey", "adUserPortKey", Kind::Number),
        ("BondPeerNotifyDelay", "peerNotifyDelay", Kind::Number),
    ],
};

static BRIDGE: Struct = Struct {
    name: "v1alpha1.Bridge",
    fields: &[
        ("BridgedInterfaces", "interfaces", Kind::Texts),
        ("BridgeSTP", "stp", Kind::Pointer(&STP)),
        ("BridgeVLAN", "vlan", Kind::Pointer(&BRIDGE_VLAN)),
    ],
};

static BRIDGE_PORT: Struct =
    Struct { name: "v1alpha1.BridgePort", fields: &[("BridgePortMaster", "master", Kind::Text)] };

static VLAN: Struct = Struct {
    name: "v1alpha1.Vlan",
    fields: &[
        ("VlanAddresses", "addresses", Kind::Texts),
        ("VlanCIDR", "cidr", Kind::Text),
        ("VlanRoutes", "routes", Kind::Objects(&ROUTE)),
        ("VlanDHCP", "dhcp", Kind::Flag),
        ("VlanID", "vlanId", Kind::Number),
        ("VlanMTU", "mtu", Kind::Number),
        ("VlanVIP", "vip", Kind::Pointer(&DEVICE_VIP_CONFIG)),
        ("VlanDHCPOptions", "dhcpOptions", Kind::Pointer(&DHCP_OPTIONS)),
    ],
};

static DHCP_OPTIONS: Struct = Struct {
    name: "v1alpha1.DHCPOptions",
    fields: &[
        ("DHCPRouteMetric", "routeMetric", Kind::Number),
        ("DHCPIPv4", "ipv4", Kind::Flag),
        ("DHCPIPv6", "ipv6", Kind::Flag),
        ("DHCPDUIDv6", "duidv6", Kind::Text),
    ],
};

static DEVICE_WIREGUARD_CONFIG: Struct = Struct {
    name: "v1alpha1.DeviceWireguardConfig",
    fields: &[
        ("WireguardPrivateKey", "privateKey", Kind::Text),
        ("WireguardListenPort", "listenPort", Kind::Number),
        ("WireguardFirewallMark", "firewallMark", Kind::Number),
        ("WireguardPeers", "peers", Kind::Objects(&DEVICE_WIREGUARD_PEER)),
    ],
};

static DEVICE_VIP_CONFIG: Struct = Struct {
    name: "v1alpha1.DeviceVIPConfig",
    fields: &[
        ("SharedIP", "ip", Kind::Text),
        ("EquinixMetalConfig", "equinixMetal", Kind::Pointer(&VIP_EQUINIX_METAL_CONFIG)),
        ("HCloudConfig", "hcloud", Kind::Pointer(&VIPH_CLOUD_CONFIG)),
    ],
};

static KUBE_SPAN_FILTERS: Struct = Struct {
    name: "v1alpha1.KubeSpanFilters",
    fields: &[
        ("KubeSpanFiltersEndpoints", "endpoints", Kind::Texts),
        ("KubeSpanFiltersExcludeAdvertisedNetworks", "excludeAdvertisedNetworks", Kind::Texts),
    ],
};

static INSTALL_DISK_SIZE_MATCHER: Struct =
    Struct { name: "v1alpha1.InstallDiskSizeMatcher", fields: &[] };

static REGISTRY_TLS_CONFIG: Struct = Struct {
    name: "v1alpha1.RegistryTLSConfig",
    fields: &[
        ("TLSClientIdentity", "clientIdentity", Kind::Free),
        ("TLSCA", "ca", Kind::Free),
        ("TLSInsecureSkipVerify", "insecureSkipVerify", Kind::Flag),
    ],
};

static REGISTRY_AUTH_CONFIG: Struct = Struct {
    name: "v1alpha1.RegistryAuthConfig",
    fields: &[
        ("RegistryUsername", "username", Kind::Text),
        ("RegistryPassword", "password", Kind::Text),
        ("RegistryAuth", "auth", Kind::Text),
        ("RegistryIdentityToken", "identityToken", Kind::Text),
    ],
};

static ENCRYPTION_KEY: Struct = Struct {
    name: "v1alpha1.EncryptionKey",
    fields: &[
        ("KeyStatic", "static", Kind::Pointer(&ENCRYPTION_KEY_STATIC)),
        ("KeyNodeID", "nodeID", Kind::Free),
        ("KeyKMS", "kms", Kind::Pointer(&ENCRYPTION_KEY_KMS)),
        ("KeySlot", "slot", Kind::Number),
        ("KeyTPM", "tpm", Kind::Pointer(&ENCRYPTION_KEY_TPM)),
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

static STP: Struct =
    Struct { name: "v1alpha1.STP", fields: &[("STPEnabled", "enabled", Kind::Flag)] };

static BRIDGE_VLAN: Struct = Struct {
    name: "v1alpha1.BridgeVLAN",
    fields: &[("BridgeVLANFiltering", "vlanFiltering", Kind::Flag)],
};

static DEVICE_WIREGUARD_PEER: Struct = Struct {
    name: "v1alpha1.DeviceWireguardPeer",
    fields: &[
        ("WireguardPublicKey", "publicKey", Kind::Text),
        ("WireguardEndpoint", "endpoint", Kind::Text),
        ("WireguardPersistentKeepaliveInterval", "persistentKeepaliveInterval", Kind::Free),
        ("WireguardAllowedIPs", "allowedIPs", Kind::Texts),
    ],
};

static VIP_EQUINIX_METAL_CONFIG: Struct = Struct {
    name: "v1alpha1.VIPEquinixMetalConfig",
    fields: &[("EquinixMetalAPIToken", "apiToken", Kind::Text)],
};

static VIPH_CLOUD_CONFIG: Struct = Struct {
    name: "v1alpha1.VIPHCloudConfig",
    fields: &[("HCloudAPIToken", "apiToken", Kind::Text)],
};

static ENCRYPTION_KEY_STATIC: Struct = Struct {
    name: "v1alpha1.EncryptionKeyStatic",
    fields: &[("KeyData", "passphrase", Kind::Text)],
};

static ENCRYPTION_KEY_KMS: Struct = Struct {
    name: "v1alpha1.EncryptionKeyKMS",
    fields: &[("KMSEndpoint", "endpoint", Kind::Text)],
};

static ENCRYPTION_KEY_TPM: Struct = Struct {
    name: "v1alpha1.EncryptionKeyTPM",
    fields: &[("TPMCheckSecurebootStatusOnEnroll", "checkSecurebootStatusOnEnroll", Kind::Flag)],
};
