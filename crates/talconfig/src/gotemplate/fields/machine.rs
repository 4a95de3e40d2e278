//! Fields of the machine in its configuration.

use super::network::NETWORK_CONFIG;
use super::{CERTIFICATE_AND_KEY, Kind, Struct, UNSTRUCTURED};

pub(super) static MACHINE_CONFIG: Struct = Struct {
    name: "v1alpha1.MachineConfig",
    fields: &[
        ("MachineType", "type", Kind::Text),
        ("MachineToken", "token", Kind::Text),
        ("MachineCA", "ca", Kind::Pointer(&CERTIFICATE_AND_KEY)),
        ("MachineAcceptedCAs", "acceptedCAs", Kind::Free),
        ("MachineCertSANs", "certSANs", Kind::Texts),
        ("MachineControlPlane", "controlPlane", Kind::Pointer(&MACHINE_CONTROL_PLANE_CONFIG)),
        ("MachineKubelet", "kubelet", Kind::Pointer(&KUBELET_CONFIG)),
        ("MachinePods", "pods", Kind::Free),
        ("MachineNetwork", "network", Kind::Pointer(&NETWORK_CONFIG)),
        ("MachineDisks", "disks", Kind::Objects(&MACHINE_DISK)),
        ("MachineInstall", "install", Kind::Pointer(&INSTALL_CONFIG)),
        ("MachineFiles", "files", Kind::Objects(&MACHINE_FILE)),
        ("MachineEnv", "env", Kind::TextMap),
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
        ("MachineBaseRuntimeSpecOverrides", "baseRuntimeSpecOverrides", Kind::Inner(&UNSTRUCTURED)),
        ("MachineNodeLabels", "nodeLabels", Kind::TextMap),
        ("MachineNodeAnnotations", "nodeAnnotations", Kind::TextMap),
        ("MachineNodeTaints", "nodeTaints", Kind::TextMap),
        ("Type", "type", Kind::Role),
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
        ("KubeletExtraConfig", "extraConfig", Kind::Inner(&UNSTRUCTURED)),
        ("KubeletCredentialProviderConfig", "credentialProviderConfig", Kind::Inner(&UNSTRUCTURED)),
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
        ("MachineSeccompProfileValue", "value", Kind::Inner(&UNSTRUCTURED)),
    ],
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

static DISK_PARTITION: Struct = Struct {
    name: "v1alpha1.DiskPartition",
    fields: &[("DiskSize", "size", Kind::Free), ("DiskMountPoint", "mountpoint", Kind::Text)],
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
        ("HostDNSEnabled", "enabled", Kind::Bool),
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

static LINUX_ID_MAPPING: Struct = Struct {
    name: "v1alpha1.LinuxIDMapping",
    fields: &[
        ("ContainerID", "containerID", Kind::Number),
        ("HostID", "hostID", Kind::Number),
        ("Size", "size", Kind::Number),
    ],
};

static INSTALL_DISK_SIZE_MATCHER: Struct =
    Struct { name: "v1alpha1.InstallDiskSizeMatcher", fields: &[] };

static REGISTRY_TLS_CONFIG: Struct = Struct {
    name: "v1alpha1.RegistryTLSConfig",
    fields: &[
        ("TLSClientIdentity", "clientIdentity", Kind::Pointer(&CERTIFICATE_AND_KEY)),
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
        ("KeyNodeID", "nodeID", Kind::Pointer(&ENCRYPTION_KEY_NODE_ID)),
        ("KeyKMS", "kms", Kind::Pointer(&ENCRYPTION_KEY_KMS)),
        ("KeySlot", "slot", Kind::Number),
        ("KeyTPM", "tpm", Kind::Pointer(&ENCRYPTION_KEY_TPM)),
    ],
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

static ENCRYPTION_KEY_NODE_ID: Struct =
    Struct { name: "v1alpha1.EncryptionKeyNodeID", fields: &[] };
