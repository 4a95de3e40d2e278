//! The document without a kind

use super::shared::{CERTIFICATE, KEY, KEY_PAIR};
use crate::schema::{
    BASE64, Contract, DISK_SIZE, DURATION, Format, INT, Kind, Match, Nulls, OCTAL, SIZE_MATCH,
    TEXT_MAP, TEXTS, Type, U8, U16, U32, U64, URL, field,
};
use crate::yaml::Dialect;

pub(super) const KIND: Kind = Kind {
    name: "v1alpha1",
    named: false,
    since: Contract::new(1, 0),
    fields: &[
        field("version", Type::Text).always(),
        field("debug", Type::Bool).optional(),
        field("persist", Type::Bool).optional(),
        field(
            "machine",
            Type::Object(&[
                field("type", Type::Text).always().about("controlplane or worker"),
                field("token", Type::Text).always().secret(),
                field("ca", KEY_PAIR).optional(),
                field("acceptedCAs", Type::StrictList(&CERTIFICATE)).since(1, 7),
                field("certSANs", TEXTS).always(),
                field(
                    "controlPlane",
                    Type::Object(&[
                        field(
                            "controllerManager",
                            Type::Object(&[field("disabled", Type::Bool).optional()]),
                        )
                        .optional(),
                        field(
                            "scheduler",
                            Type::Object(&[field("disabled", Type::Bool).optional()]),
                        )
                        .optional(),
                    ]),
                )
                .optional(),
                field(
                    "kubelet",
                    Type::Object(&[
                        field("image", Type::Text),
                        field("clusterDNS", TEXTS),
                        field("extraArgs", Type::Arguments),
                        field(
                            "extraMounts",
                            Type::List(&Type::Object(&[
                                field("destination", Type::Text).always(),
                                field("type", Type::Text),
                                field("source", Type::Text),
                                field("options", TEXTS),
                                field("uidMappings", Type::List(&ID_MAPPING)),
                                field("gidMappings", Type::List(&ID_MAPPING)),
                            ])),
                        ),
                        field("extraConfig", Type::Any),
                        field("credentialProviderConfig", Type::Any).since(1, 6),
                        field("defaultRuntimeSeccompProfileEnabled", Type::Bool)
                            .optional()
                            .since(1, 2),
                        field("registerWithFQDN", Type::Bool).optional(),
                        field("nodeIP", Type::Object(&[field("validSubnets", TEXTS)])).optional(),
                        field("skipNodeRegistration", Type::Bool).optional().since(1, 2),
                        field("disableManifestsDirectory", Type::Bool).optional().since(1, 3),
                    ]),
                )
                .optional()
                .about("superseded by KubeletConfig and KubeNodeConfig"),
                field("pods", Type::List(&Type::Any)).about("superseded by KubeStaticPodConfig"),
                field(
                    "network",
                    Type::Object(&[
                        field("hostname", Type::Text).about("superseded by HostnameConfig"),
                        field(
                            "interfaces",
                            Type::KeyedList(
                                &Type::Object(&[
                                    field("interface", Type::Text),
                                    field(
                                        "deviceSelector",
                                        Type::Object(&[
                                            field("busPath", Type::Text).since(1, 1),
                                            field("hardwareAddr", Type::Text).since(1, 1),
                                            field("permanentAddr", Type::Text).since(1, 9),
                                            field("pciID", Type::Text).since(1, 1),
                                            field("driver", Type::Text).since(1, 1),
                                            field("physical", Type::Bool).optional().since(1, 7),
                                        ]),
                                    )
                                    .optional()
                                    .since(1, 1),
                                    field("addresses", TEXTS),
                                    field("cidr", Type::Text),
                                    field("routes", Type::StrictList(&ROUTE)),
                                    field(
                                        "bond",
                                        Type::Object(&[
                                            field("interfaces", TEXTS).always(),
                                            field(
                                                "deviceSelectors",
                                                Type::List(&Type::Object(&[
                                                    field("busPath", Type::Text).since(1, 4),
                                                    field("hardwareAddr", Type::Text).since(1, 4),
                                                    field("permanentAddr", Type::Text).since(1, 9),
                                                    field("pciID", Type::Text).since(1, 4),
                                                    field("driver", Type::Text).since(1, 4),
                                                    field("physical", Type::Bool)
                                                        .optional()
                                                        .since(1, 7),
                                                ])),
                                            )
                                            .since(1, 4),
                                            field("arpIPTarget", TEXTS),
                                            field("mode", Type::Text).always(),
                                            field("xmitHashPolicy", Type::Text),
                                            field("lacpRate", Type::Text),
                                            field("adActorSystem", Type::Text),
                                            field("arpValidate", Type::Text),
                                            field("arpAllTargets", Type::Text),
                                            field("primary", Type::Text),
                                            field("primaryReselect", Type::Text),
                                            field("failOverMac", Type::Text),
                                            field("adSelect", Type::Text),
                                            field("miimon", U32),
                                            field("updelay", U32),
                                            field("downdelay", U32),
                                            field("arpInterval", U32),
                                            field("resendIgmp", U32),
                                            field("minLinks", U32),
                                            field("lpInterval", U32),
                                            field("packetsPerSlave", U32),
                                            field("numPeerNotif", U8),
                                            field("tlbDynamicLb", U8),
                                            field("allSlavesActive", U8),
                                            field("useCarrier", Type::Bool).optional(),
                                            field("adActorSysPrio", U16),
                                            field("adUserPortKey", U16),
                                            field("peerNotifyDelay", U32),
                                        ]),
                                    )
                                    .optional(),
                                    field(
                                        "bridge",
                                        Type::Object(&[
                                            field("interfaces", TEXTS).always().since(1, 2),
                                            field(
                                                "stp",
                                                Type::Object(&[field("enabled", Type::Bool)
                                                    .optional()
                                                    .since(1, 2)]),
                                            )
                                            .optional()
                                            .since(1, 2),
                                            field(
                                                "vlan",
                                                Type::Object(&[field("vlanFiltering", Type::Bool)
                                                    .optional()
                                                    .since(1, 8)]),
                                            )
                                            .optional()
                                            .since(1, 8),
                                        ]),
                                    )
                                    .optional()
                                    .since(1, 2),
                                    field(
                                        "bridgePort",
                                        Type::Object(&[field("master", Type::Text).since(1, 9)]),
                                    )
                                    .optional()
                                    .since(1, 9),
                                    field(
                                        "vlans",
                                        Type::KeyedList(
                                            &Type::Object(&[
                                                field("addresses", TEXTS),
                                                field("cidr", Type::Text),
                                                field("routes", Type::StrictList(&ROUTE)).always(),
                                                field("dhcp", Type::Bool).optional(),
                                                field("vlanId", U16).always(),
                                                field("mtu", U32),
                                                field("vip", VIP).optional(),
                                                field(
                                                    "dhcpOptions",
                                                    Type::Object(&[
                                                        field("routeMetric", U32)
                                                            .always()
                                                            .since(1, 2),
                                                        field("ipv4", Type::Bool)
                                                            .optional()
                                                            .since(1, 2),
                                                        field("ipv6", Type::Bool)
                                                            .optional()
                                                            .since(1, 2),
                                                        field("duidv6", Type::Text).since(1, 2),
                                                    ]),
                                                )
                                                .optional()
                                                .since(1, 2),
                                            ]),
                                            Match::Merge("vlanId"),
                                            Nulls::Refused,
                                        ),
                                    ),
                                    field("mtu", INT),
                                    field("dhcp", Type::Bool).optional(),
                                    field("ignore", Type::Bool).optional(),
                                    field("dummy", Type::Bool).optional(),
                                    field(
                                        "dhcpOptions",
                                        Type::Object(&[
                                            field("routeMetric", U32).always(),
                                            field("ipv4", Type::Bool).optional(),
                                            field("ipv6", Type::Bool).optional(),
                                            field("duidv6", Type::Text).since(1, 1),
                                        ]),
                                    )
                                    .optional(),
                                    field(
                                        "wireguard",
                                        Type::Object(&[
                                            field("privateKey", Type::Text).secret(),
                                            field("listenPort", INT),
                                            field("firewallMark", INT),
                                            field(
                                                "peers",
                                                Type::StrictList(&Type::Object(&[
                                                    field("publicKey", Type::Text),
                                                    field("endpoint", Type::Text),
                                                    field("persistentKeepaliveInterval", DURATION),
                                                    field("allowedIPs", TEXTS),
                                                ])),
                                            ),
                                        ]),
                                    )
                                    .optional(),
                                    field("vip", VIP).optional(),
                                ]),
                                Match::Interface,
                                Nulls::Refused,
                            ),
                        )
                        .about("superseded by the link, DHCP and VIP documents"),
                        field("nameservers", TEXTS).about("superseded by ResolverConfig"),
                        field("searchDomains", TEXTS)
                            .since(1, 9)
                            .about("superseded by ResolverConfig"),
                        field(
                            "extraHostEntries",
                            Type::StrictList(&Type::Object(&[
                                field("ip", Type::Text).always(),
                                field("aliases", TEXTS).always(),
                            ])),
                        )
                        .about("superseded by StaticHostConfig"),
                        field(
                            "kubespan",
                            Type::Object(&[
                                field("enabled", Type::Bool).optional(),
                                field("advertiseKubernetesNetworks", Type::Bool)
                                    .optional()
                                    .since(1, 2),
                                field("allowDownPeerBypass", Type::Bool).optional(),
                                field("harvestExtraEndpoints", Type::Bool).optional().since(1, 6),
                                field("mtu", U32).optional().since(1, 3),
                                field(
                                    "filters",
                                    Type::Object(&[
                                        field("endpoints", TEXTS).since(1, 3),
                                        field("excludeAdvertisedNetworks", TEXTS).since(1, 12),
                                    ]),
                                )
                                .optional()
                                .since(1, 3),
                            ]),
                        )
                        .optional()
                        .about("superseded by KubeSpanConfig"),
                        field("disableSearchDomain", Type::Bool)
                            .optional()
                            .since(1, 1)
                            .about("superseded by ResolverConfig"),
                    ]),
                )
                .optional(),
                field(
                    "disks",
                    Type::StrictList(&Type::Object(&[
                        field("device", Type::Text),
                        field(
                            "partitions",
                            Type::StrictList(&Type::Object(&[
                                field("size", DISK_SIZE),
                                field("mountpoint", Type::Text),
                            ])),
                        ),
                    ])),
                )
                .about("superseded by UserVolumeConfig"),
                field(
                    "install",
                    Type::Object(&[
                        field("disk", Type::Text),
                        field(
                            "diskSelector",
                            Type::Object(&[
                                field("size", SIZE_MATCH).optional(),
                                field("name", Type::Text),
                                field("model", Type::Text),
                                field("serial", Type::Text),
                                field("modalias", Type::Text),
                                field("uuid", Type::Text),
                                field("wwid", Type::Text),
                                field("type", Type::Text),
                                field("busPath", Type::Text),
                            ]),
                        )
                        .optional(),
                        field("extraKernelArgs", TEXTS),
                        field("image", Type::Text),
                        field(
                            "extensions",
                            Type::List(&Type::Object(&[field("image", Type::Text).always()])),
                        ),
                        field("bootloader", Type::Bool).optional(),
                        field("wipe", Type::Bool).optional().always(),
                        field("legacyBIOSSupport", Type::Bool).optional(),
                        field("grubUseUKICmdline", Type::Bool).optional().since(1, 12),
                    ]),
                )
                .optional()
                .about("superseded by UnattendedInstallConfig"),
                field(
                    "files",
                    Type::StrictList(&Type::Object(&[
                        field("content", Type::Text).always().private(),
                        field("permissions", OCTAL).always(),
                        field("path", Type::Text).always(),
                        field("op", Type::Text).always(),
                    ])),
                )
                .about("superseded by EtcFileConfig and CRICustomizationConfig"),
                field("env", TEXT_MAP).private().about("superseded by EnvironmentConfig"),
                field(
                    "time",
                    Type::Object(&[
                        field("disabled", Type::Bool).optional(),
                        field("servers", TEXTS),
                        field("bootTimeout", DURATION),
                    ]),
                )
                .optional()
                .about("superseded by TimeSyncConfig"),
                field("sysctls", TEXT_MAP).about("superseded by SysctlConfig"),
                field("sysfs", TEXT_MAP).about("superseded by SysfsConfig"),
                field(
                    "registries",
                    Type::Object(&[
                        field(
                            "mirrors",
                            Type::Map(&Type::Object(&[
                                field("endpoints", TEXTS).always(),
                                field("overridePath", Type::Bool).optional().since(1, 3),
                                field("skipFallback", Type::Bool).optional().since(1, 9),
                            ])),
                        ),
                        field(
                            "config",
                            Type::Map(&Type::Object(&[
                                field(
                                    "tls",
                                    Type::Object(&[
                                        field("clientIdentity", KEY_PAIR).optional(),
                                        field("ca", BASE64),
                                        field("insecureSkipVerify", Type::Bool).optional(),
                                    ]),
                                )
                                .optional(),
                                field(
                                    "auth",
                                    Type::Object(&[
                                        field("username", Type::Text),
                                        field("password", Type::Text).secret(),
                                        field("auth", Type::Text).secret(),
                                        field("identityToken", Type::Text).secret(),
                                    ]),
                                )
                                .optional(),
                            ])),
                        ),
                    ]),
                )
                .about("superseded by the RegistryMirror, RegistryAuth and RegistryTLS documents"),
                field(
                    "systemDiskEncryption",
                    Type::Object(&[
                        field("state", EPHEMERAL).optional(),
                        field("ephemeral", EPHEMERAL).optional(),
                    ]),
                )
                .optional()
                .about("superseded by VolumeConfig"),
                field(
                    "features",
                    Type::Object(&[
                        field("rbac", Type::Bool).optional(),
                        field("stableHostname", Type::Bool)
                            .optional()
                            .since(1, 2)
                            .about("superseded by HostnameConfig"),
                        field(
                            "kubernetesTalosAPIAccess",
                            Type::Object(&[
                                field("enabled", Type::Bool).optional().since(1, 2),
                                field("allowedRoles", TEXTS).since(1, 2),
                                field("allowedKubernetesNamespaces", TEXTS).since(1, 2),
                            ]),
                        )
                        .optional()
                        .since(1, 2)
                        .about("superseded by KubeTalosAPIAccessConfig"),
                        field("apidCheckExtKeyUsage", Type::Bool).optional().since(1, 3),
                        field("diskQuotaSupport", Type::Bool).optional().since(1, 5),
                        field(
                            "kubePrism",
                            Type::Object(&[
                                field("enabled", Type::Bool).optional().since(1, 5),
                                field("port", INT).since(1, 5),
                            ]),
                        )
                        .optional()
                        .since(1, 5)
                        .about("superseded by KubePrismConfig"),
                        field(
                            "hostDNS",
                            Type::Object(&[
                                field("enabled", Type::Bool).optional().since(1, 7),
                                field("forwardKubeDNSToHost", Type::Bool).optional().since(1, 7),
                                field("resolveMemberNames", Type::Bool).optional().since(1, 7),
                            ]),
                        )
                        .optional()
                        .since(1, 7)
                        .about("superseded by ResolverConfig"),
                        field(
                            "imageCache",
                            Type::Object(&[field("localEnabled", Type::Bool)
                                .optional()
                                .since(1, 9)]),
                        )
                        .optional()
                        .since(1, 9)
                        .about("superseded by ImageCacheConfig"),
                        field("nodeAddressSortAlgorithm", Type::Text).since(1, 9),
                    ]),
                )
                .optional(),
                field("udev", Type::Object(&[field("rules", TEXTS)]))
                    .optional()
                    .about("superseded by UdevRulesConfig"),
                field(
                    "logging",
                    Type::Object(&[field(
                        "destinations",
                        Type::List(&Type::Object(&[
                            field("endpoint", URL).optional().always(),
                            field("format", Type::Text).always(),
                            field("extraTags", TEXT_MAP).since(1, 7),
                        ])),
                    )
                    .always()]),
                )
                .optional(),
                field(
                    "kernel",
                    Type::Object(&[field(
                        "modules",
                        Type::StrictList(&Type::Object(&[
                            field("name", Type::Text).always(),
                            field("parameters", TEXTS).since(1, 3),
                        ])),
                    )
                    .about("superseded by KernelModuleConfig")]),
                )
                .optional(),
                field(
                    "seccompProfiles",
                    Type::StrictList(&Type::Object(&[
                        field("name", Type::Text).always().since(1, 2),
                        field("value", Type::Any).always().since(1, 2),
                    ])),
                )
                .since(1, 2),
                field("baseRuntimeSpecOverrides", Type::Any)
                    .since(1, 9)
                    .about("superseded by CRIBaseRuntimeSpecConfig"),
                field("nodeLabels", TEXT_MAP).since(1, 3).about("superseded by KubeNodeConfig"),
                field("nodeAnnotations", TEXT_MAP)
                    .since(1, 8)
                    .about("superseded by KubeNodeConfig"),
                field("nodeTaints", TEXT_MAP).since(1, 6).about("superseded by KubeNodeConfig"),
            ]),
        )
        .optional()
        .always(),
        field(
            "cluster",
            Type::Object(&[
                field("id", Type::Text).about("superseded by DiscoveryIdentityConfig"),
                field("secret", Type::Text).secret().about("superseded by DiscoveryIdentityConfig"),
                field(
                    "controlPlane",
                    Type::Object(&[
                        field("endpoint", URL)
                            .optional()
                            .always()
                            .about("superseded by KubeClusterConfig"),
                        field("localAPIServerPort", INT).about("superseded by KubeAPIServerConfig"),
                    ]),
                )
                .optional()
                .always_before(Dialect::V1_14),
                field("clusterName", Type::Text).about("superseded by KubeClusterConfig"),
                field(
                    "network",
                    Type::Object(&[
                        field(
                            "cni",
                            Type::Object(&[
                                field("name", Type::Text),
                                field("urls", TEXTS),
                                field(
                                    "flannel",
                                    Type::Object(&[
                                        field("extraArgs", TEXTS).since(1, 6),
                                        field("kubeNetworkPoliciesEnabled", Type::Bool)
                                            .optional()
                                            .since(1, 13),
                                    ]),
                                )
                                .optional()
                                .since(1, 6),
                            ]),
                        )
                        .optional(),
                        field("dnsDomain", Type::Text).always(),
                        field("podSubnets", TEXTS).always().replace(),
                        field("serviceSubnets", TEXTS).always().replace(),
                    ]),
                )
                .optional()
                .about("superseded by KubeNetworkConfig and KubeFlannelCNIConfig"),
                field("token", Type::Text).secret(),
                field("aescbcEncryptionSecret", Type::Text)
                    .secret()
                    .about("superseded by KubeEtcdEncryptionConfig"),
                field("secretboxEncryptionSecret", Type::Text)
                    .secret()
                    .since(1, 3)
                    .about("superseded by KubeEtcdEncryptionConfig"),
                field("ca", KEY_PAIR).optional().about("superseded by KubeAPIServerCAConfig"),
                field("acceptedCAs", Type::StrictList(&CERTIFICATE))
                    .since(1, 7)
                    .about("superseded by KubeAPIServerCAConfig"),
                field("aggregatorCA", KEY_PAIR)
                    .optional()
                    .about("superseded by KubeAggregatorCAConfig"),
                field("serviceAccount", KEY)
                    .optional()
                    .about("superseded by KubeServiceAccountConfig"),
                field(
                    "apiServer",
                    Type::Object(&[
                        field("image", Type::Text),
                        field("extraArgs", Type::Arguments),
                        field("extraVolumes", Type::List(&VOLUME)),
                        field("env", TEXT_MAP).private(),
                        field("certSANs", TEXTS),
                        field("disablePodSecurityPolicy", Type::Bool).optional(),
                        field(
                            "admissionControl",
                            Type::KeyedList(
                                &Type::Object(&[
                                    field("name", Type::Text).always(),
                                    field("configuration", Type::Any).always(),
                                ]),
                                Match::Merge("name"),
                                Nulls::Refused,
                            ),
                        )
                        .about("superseded by KubeAdmissionControlConfig"),
                        field("auditPolicy", Type::Any)
                            .replace()
                            .since(1, 3)
                            .about("superseded by KubeAuditPolicyConfig"),
                        field("resources", RESOURCES).optional().since(1, 5),
                        field(
                            "authorizationConfig",
                            Type::StrictList(&Type::Object(&[
                                field("type", Type::Text).always().since(1, 9),
                                field("name", Type::Text).always().since(1, 9),
                                field("webhook", Type::Any).since(1, 9),
                            ])),
                        )
                        .since(1, 9)
                        .about("superseded by KubeAuthorizerConfig"),
                    ]),
                )
                .optional()
                .about("superseded by KubeAPIServerConfig"),
                field(
                    "controllerManager",
                    Type::Object(&[
                        field("image", Type::Text),
                        field("extraArgs", Type::Arguments),
                        field("extraVolumes", Type::List(&VOLUME)),
                        field("env", TEXT_MAP).private(),
                        field("resources", RESOURCES).optional().since(1, 5),
                    ]),
                )
                .optional()
                .about("superseded by KubeControllerManagerConfig"),
                field(
                    "proxy",
                    Type::Object(&[
                        field("disabled", Type::Bool).optional(),
                        field("image", Type::Text),
                        field("mode", Type::Text),
                        field("extraArgs", Type::Arguments),
                    ]),
                )
                .optional()
                .about("superseded by KubeProxyConfig"),
                field(
                    "scheduler",
                    Type::Object(&[
                        field("image", Type::Text),
                        field("extraArgs", Type::Arguments),
                        field("extraVolumes", Type::List(&VOLUME)),
                        field("env", TEXT_MAP).private(),
                        field("resources", RESOURCES).optional().since(1, 5),
                        field("config", Type::Any).since(1, 6),
                    ]),
                )
                .optional()
                .about("superseded by KubeSchedulerConfig"),
                field(
                    "discovery",
                    Type::Object(&[
                        field("enabled", Type::Bool).optional(),
                        field(
                            "registries",
                            Type::Object(&[
                                field(
                                    "kubernetes",
                                    Type::Object(&[field("disabled", Type::Bool).optional()]),
                                )
                                .always(),
                                field(
                                    "service",
                                    Type::Object(&[
                                        field("disabled", Type::Bool).optional(),
                                        field("endpoint", Type::Text),
                                    ]),
                                )
                                .always(),
                            ]),
                        )
                        .always(),
                    ]),
                )
                .optional()
                .about("superseded by DiscoveryServiceConfig"),
                field(
                    "etcd",
                    Type::Object(&[
                        field("image", Type::Text),
                        field("ca", KEY_PAIR).optional().always(),
                        field("extraArgs", Type::Arguments),
                        field("subnet", Type::Text),
                        field("advertisedSubnets", TEXTS).since(1, 2),
                        field("listenSubnets", TEXTS).since(1, 2),
                    ]),
                )
                .optional(),
                field(
                    "coreDNS",
                    Type::Object(&[
                        field("disabled", Type::Bool).optional(),
                        field("image", Type::Text),
                    ]),
                )
                .optional()
                .about("superseded by KubeCoreDNSConfig"),
                field(
                    "externalCloudProvider",
                    Type::Object(&[
                        field("enabled", Type::Bool).optional(),
                        field("manifests", TEXTS),
                    ]),
                )
                .optional(),
                field("extraManifests", TEXTS).about("superseded by KubeExternalManifestConfig"),
                field("extraManifestHeaders", TEXT_MAP).private(),
                field(
                    "inlineManifests",
                    Type::List(&Type::Object(&[
                        field("name", Type::Text).always(),
                        field("contents", Type::Format(Format::Manifest)).always().private(),
                    ])),
                )
                .about("superseded by KubeInlineManifestConfig"),
                field("adminKubeconfig", Type::Object(&[field("certLifetime", DURATION)]))
                    .optional(),
                field("allowSchedulingOnMasters", Type::Bool)
                    .optional()
                    .about("superseded by KubeNodeConfig"),
                field("allowSchedulingOnControlPlanes", Type::Bool)
                    .optional()
                    .since(1, 2)
                    .about("superseded by KubeNodeConfig"),
            ]),
        )
        .optional()
        .always(),
    ],
    about: "The document that every machine has: its role and secrets, and everything before 1.14",
};

const EPHEMERAL: Type = Type::Object(&[
    field("provider", Type::Text).always(),
    field(
        "keys",
        Type::StrictList(&Type::Object(&[
            field("static", Type::Object(&[field("passphrase", Type::Text).secret()])).optional(),
            field("nodeID", Type::Object(&[])).optional(),
            field("kms", Type::Object(&[field("endpoint", Type::Text).always().since(1, 5)]))
                .optional()
                .since(1, 5),
            field("slot", INT).always(),
            field(
                "tpm",
                Type::Object(&[field("checkSecurebootStatusOnEnroll", Type::Bool)
                    .optional()
                    .since(1, 6)]),
            )
            .optional()
            .since(1, 5),
        ])),
    )
    .always(),
    field("cipher", Type::Text),
    field("keySize", U64),
    field("blockSize", U64),
    field("options", TEXTS),
]);

const VIP: Type = Type::Object(&[
    field("ip", Type::Text),
    field("equinixMetal", Type::Object(&[field("apiToken", Type::Text).always().secret()]))
        .optional(),
    field("hcloud", Type::Object(&[field("apiToken", Type::Text).always().secret()])).optional(),
]);

const ROUTE: Type = Type::Object(&[
    field("network", Type::Text).always(),
    field("gateway", Type::Text).always(),
    field("source", Type::Text),
    field("metric", U32),
    field("mtu", U32).since(1, 3),
]);

const VOLUME: Type = Type::Object(&[
    field("hostPath", Type::Text).always(),
    field("mountPath", Type::Text).always(),
    field("readonly", Type::Bool),
]);

const ID_MAPPING: Type = Type::Object(&[
    field("containerID", U32).always(),
    field("hostID", U32).always(),
    field("size", U32).always(),
]);

const RESOURCES: Type = Type::Object(&[
    field("requests", Type::Any).since(1, 5),
    field("limits", Type::Any).since(1, 5),
]);
