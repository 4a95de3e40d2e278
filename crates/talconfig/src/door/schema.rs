//! The keys of a talconfig, with their types and descriptions.
//!
//! Reading, complaints about types, group defaults and the JSON schema all follow these tables.

/// An object with known keys.
#[derive(Debug)]
pub(crate) struct Object {
    /// The name of the Go type, for error messages.
    pub(crate) go: &'static str,
    /// The keys, in groups that objects may share.
    pub(crate) parts: &'static [&'static [Key]],
}

impl Object {
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> {
        self.parts.iter().flat_map(|part| part.iter())
    }
}

/// One key of an object.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) ty: Type,
    pub(crate) required: bool,
    pub(crate) about: &'static str,
}

/// The type of a key's value. A value that equals the zero value, such as `false` or an empty text,
/// counts as unset, unless the type says otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Text,
    Bool,
    /// A boolean that can also be unset.
    Flag,
    Int {
        go: &'static str,
        min: i128,
        max: i128,
    },
    /// `1m30s`
    Duration,
    /// One of several words.
    Word {
        go: &'static str,
        words: &'static [&'static str],
    },
    /// A size of a partition: `10GB`.
    DiskSize,
    /// A size with a comparison in front: `>= 10GB`.
    SizeMatch,
    /// A size: `10GiB`, or a share where `share`: `50%`.
    Size {
        share: bool,
    },
    /// An address with a prefix length.
    Prefix,
    /// A port, or several: `80`, `100-200`.
    Ports,
    /// Free-form data.
    Any,
    TextMap,
    List {
        go: &'static str,
        item: &'static Self,
    },
    /// A list of things that cannot be null.
    Objects {
        go: &'static str,
        item: &'static Object,
    },
    /// Set as soon as one of its keys is.
    Part(&'static Object),
    /// Set as soon as it is written, even if it is empty.
    Whole(&'static Object),
}

impl Type {
    /// Returns the name of the Go type, for error messages.
    /// Returns what a value should be, for people.
    pub(crate) fn wanted(self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Bool | Self::Flag => "true or false".to_owned(),
            Self::Int { min, max, .. } if max > u32::MAX.into() => {
                if min < 0 { "a whole number" } else { "a number from 0 on" }.to_owned()
            }
            Self::Int { min, max, .. } => format!("a number from {min} to {max}"),
            Self::Duration => "a length of time, as 10m or 1h30m".to_owned(),
            Self::Word { words, .. } => format!("one of {}", words.join(", ")),
            Self::DiskSize => "a size, as 100GB".to_owned(),
            Self::SizeMatch => "a size, as 100GB or >= 100GB".to_owned(),
            Self::Size { share: false } => "a size, as 100GiB".to_owned(),
            Self::Size { share: true } => "a size or a share, as 100GiB or 50%".to_owned(),
            Self::Prefix => "a network, as 10.0.0.0/24".to_owned(),
            Self::Ports => "a port or a range of ports, as 80 or 100-200".to_owned(),
            Self::Any | Self::TextMap | Self::Part(_) | Self::Whole(_) => "a mapping".to_owned(),
            Self::List { .. } | Self::Objects { .. } => "a list".to_owned(),
        }
    }

    pub(crate) fn go(self) -> &'static str {
        match self {
            Self::Text | Self::SizeMatch | Self::DiskSize => "string",
            Self::Bool | Self::Flag => "bool",
            Self::Duration => "time.Duration",
            Self::Size { .. } => "block.ByteSize",
            Self::Prefix => "meta.Prefix",
            Self::Ports => "network.PortRange",
            Self::Any => "map[string]interface {}",
            Self::TextMap => "map[string]string",
            Self::Int { go, .. }
            | Self::Word { go, .. }
            | Self::List { go, .. }
            | Self::Objects { go, .. } => go,
            Self::Part(object) | Self::Whole(object) => object.go,
        }
    }
}

const fn key(name: &'static str, ty: Type, about: &'static str) -> Key {
    Key { name, ty, required: false, about }
}

const fn required(name: &'static str, ty: Type, about: &'static str) -> Key {
    Key { name, ty, required: true, about }
}

const TEXTS: Type = Type::List { go: "[]string", item: &Type::Text };
const INT: Type = Type::Int { go: "int", min: i64::MIN as i128, max: i64::MAX as i128 };
const UINT: Type = Type::Int { go: "uint", min: 0, max: u64::MAX as i128 };
const U8: Type = Type::Int { go: "uint8", min: 0, max: u8::MAX as i128 };
const U16: Type = Type::Int { go: "uint16", min: 0, max: u16::MAX as i128 };
const U32: Type = Type::Int { go: "uint32", min: 0, max: u32::MAX as i128 };
const U64: Type = Type::Int { go: "uint64", min: 0, max: u64::MAX as i128 };
const MODE: Type = Type::Int { go: "v1alpha1.FileMode", min: 0, max: u32::MAX as i128 };

/// A whole talconfig.
pub(crate) static TALCONFIG: Object = Object { go: "config.TalhelperConfig", parts: &[CLUSTER] };

const CLUSTER: &[Key] = &[
    required("clusterName", Type::Text, "The name of the cluster and of its context"),
    key("talosVersion", Type::Text, "The release of Talos, such as v1.13.0"),
    required("kubernetesVersion", Type::Text, "The release of Kubernetes, such as v1.34.1"),
    required("endpoint", Type::Text, "The URL of the Kubernetes API: https://host:port"),
    key("domain", Type::Text, "The domain of the cluster"),
    key("allowSchedulingOnMasters", Type::Bool, "The old name of allowSchedulingOnControlPlanes"),
    key("allowSchedulingOnControlPlanes", Type::Bool, "Run workloads on control planes"),
    key("additionalMachineCertSans", TEXTS, "Further names of all machines; deprecated"),
    key("additionalApiServerCertSans", TEXTS, "Further names of the Kubernetes API"),
    key(
        "inlineManifests",
        Type::Objects { go: "config.ClusterInlineManifests", item: &INLINE_MANIFEST },
        "Manifests that control planes apply",
    ),
    key("clusterPodNets", TEXTS, "Subnets of pods"),
    key("clusterSvcNets", TEXTS, "Subnets of services"),
    key("cniConfig", Type::Whole(&CNI), "The network between pods"),
    key("patches", TEXTS, "Patches for all machines, applied last"),
    required("nodes", Type::Objects { go: "[]config.Node", item: &NODE }, "The machines"),
    key("imageFactory", Type::Part(&IMAGE_FACTORY), "The image factory"),
    key("controlPlane", Type::Part(&GROUP), "Defaults of control planes"),
    key("worker", Type::Part(&GROUP), "Defaults of workers"),
];

/// The keys of a machine that no group can have.
pub(crate) const NODE_ONLY: &[Key] = &[
    required("hostname", Type::Text, "The name of the machine"),
    required("ipAddress", Type::Text, "Its address, or several with commas between them"),
    key("controlPlane", Type::Bool, "The machine is a control plane"),
    key("installDisk", Type::Text, "The disk to install to"),
    key("installDiskSelector", Type::Whole(&DISK_SELECTOR), "A selector of the disk to install to"),
    key("ignoreHostname", Type::Bool, "Let the machine choose its host name"),
    key(
        "overridePatches",
        Type::Bool,
        "Replace the patches of the group instead of adding to them",
    ),
    key(
        "overrideExtraManifests",
        Type::Bool,
        "Replace the extraManifests of the group instead of adding to them",
    ),
    key(
        "overrideMachineCertSANs",
        Type::Bool,
        "Replace the certSANs of the group instead of adding to them",
    ),
];

/// The keys that a machine and its group have.
pub(crate) const SHARED: &[Key] = &[
    key("nodeLabels", Type::TextMap, "Labels of the node, instead of the default ones"),
    key("nodeAnnotations", Type::TextMap, "Annotations of the node"),
    key("nodeTaints", Type::TextMap, "Taints of the node"),
    key(
        "machineDisks",
        Type::Objects { go: "[]*v1alpha1.MachineDisk", item: &MACHINE_DISK },
        "Disks to partition; deprecated",
    ),
    key(
        "machineFiles",
        Type::Objects { go: "config.MachineFiles", item: &MACHINE_FILE },
        "Files to write",
    ),
    key("disableSearchDomain", Type::Bool, "Use no search domain from the host name"),
    key(
        "kernelModules",
        Type::Objects { go: "[]*v1alpha1.KernelModuleConfig", item: &KERNEL_MODULE },
        "Kernel modules to load",
    ),
    key("nameservers", TEXTS, "Name servers"),
    key(
        "networkInterfaces",
        Type::Objects { go: "[]*v1alpha1.Device", item: &DEVICE },
        "Network interfaces",
    ),
    key("extraManifests", TEXTS, "Files with further documents; deprecated"),
    key("certSANs", TEXTS, "Further names of the machine"),
    key("patches", TEXTS, "Patches, as text or as @file"),
    key("talosImageURL", Type::Text, "The installer's image without its tag"),
    key("noSchematicValidate", Type::Bool, "Do not compare extensions with the known ones"),
    key("schematic", Type::Whole(&SCHEMATIC), "The schematic of the installer image"),
    key("imageSchematic", Type::Whole(&SCHEMATIC), "The schematic of the boot image"),
    key("machineSpec", Type::Part(&MACHINE_SPEC), "The properties that select the machine's image"),
    key("ingressFirewall", Type::Whole(&FIREWALL), "The ingress firewall"),
    key(
        "extensionServices",
        Type::Objects { go: "[]*config.ExtensionService", item: &EXTENSION_SERVICE },
        "Settings of extension services",
    ),
    key(
        "volumes",
        Type::Objects { go: "[]*config.Volume", item: &VOLUME },
        "Volumes of the system",
    ),
    key(
        "userVolumes",
        Type::Objects { go: "[]*config.UserVolume", item: &USER_VOLUME },
        "Further volumes",
    ),
    key("filenameTmpl", Type::Text, "The template of the file's name"),
];

static GROUP: Object = Object { go: "config.NodeConfigs", parts: &[SHARED] };
static NODE: Object = Object { go: "config.Node", parts: &[NODE_ONLY, SHARED] };

static IMAGE_FACTORY: Object = Object {
    go: "config.ImageFactory",
    parts: &[&[
        key("registryURL", Type::Text, "The host of the factory"),
        key("schematicEndpoint", Type::Text, "The path where schematics are registered"),
        key("protocol", Type::Text, "https or http"),
        key("installerURLTmpl", Type::Text, "The template of the installer's name"),
        key("ISOURLTmpl", Type::Text, "The template of the boot image's URL"),
    ]],
};

static MACHINE_SPEC: Object = Object {
    go: "config.MachineSpec",
    parts: &[&[
        key("mode", Type::Text, "The platform, such as metal"),
        key("arch", Type::Text, "amd64 or arm64"),
        key("secureboot", Type::Bool, "Use Secure Boot"),
        key("useUKI", Type::Bool, "Boot a unified kernel image"),
        key("bootMethod", Type::Text, "iso, disk-image or pxe"),
        key("imageSuffix", Type::Text, "The suffix of the boot image"),
    ]],
};

static INLINE_MANIFEST: Object = Object {
    go: "config.ClusterInlineManifest",
    parts: &[&[
        key("name", Type::Text, "Its name"),
        key("contents", Type::Text, "The manifest, or @file"),
        key("skipEnvsubst", Type::Bool, "Do not substitute variables in the file"),
    ]],
};

static CNI: Object = Object {
    go: "v1alpha1.CNIConfig",
    parts: &[&[
        key("name", Type::Text, "flannel, custom or none"),
        key("urls", TEXTS, "Manifests of a custom network"),
        key("flannel", Type::Whole(&FLANNEL), "Settings of flannel"),
    ]],
};

static FLANNEL: Object = Object {
    go: "v1alpha1.FlannelCNIConfig",
    parts: &[&[
        key("extraArgs", TEXTS, "Further arguments"),
        key("kubeNetworkPoliciesEnabled", Type::Flag, "Enforce network policies"),
    ]],
};

static DISK_SELECTOR: Object = Object {
    go: "v1alpha1.InstallDiskSelector",
    parts: &[&[
        key("size", Type::SizeMatch, "Its size, such as >= 10GB"),
        key("name", Type::Text, "Not supported any more"),
        key("model", Type::Text, "Its model"),
        key("serial", Type::Text, "Its serial number"),
        key("modalias", Type::Text, "Its modalias"),
        key("uuid", Type::Text, "Its UUID"),
        key("wwid", Type::Text, "Its WWID"),
        key("type", Type::Text, "nvme, sd, hdd or ssd"),
        key("busPath", Type::Text, "The path on its bus"),
    ]],
};

static MACHINE_DISK: Object = Object {
    go: "v1alpha1.MachineDisk",
    parts: &[&[
        key("device", Type::Text, "The disk"),
        key(
            "partitions",
            Type::Objects { go: "[]*v1alpha1.DiskPartition", item: &PARTITION },
            "Its partitions",
        ),
    ]],
};

static PARTITION: Object = Object {
    go: "v1alpha1.DiskPartition",
    parts: &[&[
        key("size", Type::DiskSize, "Its size; the rest of the disk when left out"),
        key("mountpoint", Type::Text, "The mount point"),
    ]],
};

static MACHINE_FILE: Object = Object {
    go: "config.MachineFile",
    parts: &[&[
        key("content", Type::Text, "The content, or @file"),
        key("permissions", MODE, "Its permissions, such as 0o644"),
        key("path", Type::Text, "Its path"),
        key("op", Type::Text, "create, append or overwrite"),
        key("skipEnvsubst", Type::Bool, "Do not substitute variables in the file"),
    ]],
};

static KERNEL_MODULE: Object = Object {
    go: "v1alpha1.KernelModuleConfig",
    parts: &[&[key("name", Type::Text, "Its name"), key("parameters", TEXTS, "Its parameters")]],
};

static DEVICE: Object = Object {
    go: "v1alpha1.Device",
    parts: &[&[
        key("interface", Type::Text, "Its name"),
        key("deviceSelector", Type::Whole(&DEVICE_SELECTOR), "A selector of the device"),
        key("addresses", TEXTS, "Its addresses"),
        key("cidr", Type::Text, "Its address; deprecated"),
        key("routes", Type::Objects { go: "[]*v1alpha1.Route", item: &ROUTE }, "Its routes"),
        key("bond", Type::Whole(&BOND), "The links that it bundles"),
        key("bridge", Type::Whole(&BRIDGE), "The links that it bridges"),
        key("bridgePort", Type::Whole(&BRIDGE_PORT), "The bridge that it belongs to"),
        key("vlans", Type::Objects { go: "v1alpha1.VlanList", item: &VLAN }, "VLANs on it"),
        key("mtu", INT, "The greatest packet"),
        key("dhcp", Type::Flag, "Use DHCP"),
        key("ignore", Type::Flag, "Leave the interface unconfigured"),
        key("dummy", Type::Flag, "Create a dummy interface"),
        key("dhcpOptions", Type::Whole(&DHCP_OPTIONS), "Options of DHCP"),
        key("wireguard", Type::Whole(&WIREGUARD), "A WireGuard tunnel"),
        key("vip", Type::Whole(&VIP), "An address that control planes share"),
    ]],
};

static DEVICE_SELECTOR: Object = Object {
    go: "v1alpha1.NetworkDeviceSelector",
    parts: &[&[
        key("busPath", Type::Text, "The path on its bus"),
        key("hardwareAddr", Type::Text, "Its hardware address"),
        key("permanentAddr", Type::Text, "Its permanent hardware address"),
        key("pciID", Type::Text, "Its PCI id"),
        key("driver", Type::Text, "Its driver"),
        key("physical", Type::Flag, "A physical device"),
    ]],
};

static ROUTE: Object = Object {
    go: "v1alpha1.Route",
    parts: &[&[
        key("network", Type::Text, "The destination; the default route when left out"),
        key("gateway", Type::Text, "The next hop"),
        key("source", Type::Text, "The address that packets come from"),
        key("metric", U32, "Its priority; lower ones win"),
        key("mtu", U32, "The greatest packet"),
    ]],
};

static BRIDGE: Object = Object {
    go: "v1alpha1.Bridge",
    parts: &[&[
        key("interfaces", TEXTS, "Its links"),
        key("stp", Type::Whole(&STP), "The spanning tree protocol"),
        key("vlan", Type::Whole(&BRIDGE_VLAN), "Its VLANs"),
    ]],
};

static STP: Object =
    Object { go: "v1alpha1.STP", parts: &[&[key("enabled", Type::Flag, "Enable it")]] };

static BRIDGE_VLAN: Object = Object {
    go: "v1alpha1.BridgeVLAN",
    parts: &[&[key("vlanFiltering", Type::Flag, "Enable VLAN filtering")]],
};

static BRIDGE_PORT: Object = Object {
    go: "v1alpha1.BridgePort",
    parts: &[&[key("master", Type::Text, "The name of the bridge")]],
};

static VLAN: Object = Object {
    go: "v1alpha1.Vlan",
    parts: &[&[
        key("addresses", TEXTS, "Its addresses"),
        key("cidr", Type::Text, "Its address; deprecated"),
        key("routes", Type::Objects { go: "[]*v1alpha1.Route", item: &ROUTE }, "Its routes"),
        key("dhcp", Type::Flag, "Use DHCP"),
        key("vlanId", U16, "Its number"),
        key("mtu", U32, "The greatest packet"),
        key("vip", Type::Whole(&VIP), "An address that control planes share"),
        key("dhcpOptions", Type::Whole(&DHCP_OPTIONS), "Options of DHCP"),
    ]],
};

static DHCP_OPTIONS: Object = Object {
    go: "v1alpha1.DHCPOptions",
    parts: &[&[
        key("routeMetric", U32, "The priority of its routes"),
        key("ipv4", Type::Flag, "Use DHCP for IPv4"),
        key("ipv6", Type::Flag, "Use DHCP for IPv6"),
        key("duidv6", Type::Text, "By which id it asks for an IPv6 address"),
    ]],
};

static WIREGUARD: Object = Object {
    go: "v1alpha1.DeviceWireguardConfig",
    parts: &[&[
        key("privateKey", Type::Text, "The private key"),
        key("listenPort", INT, "The port"),
        key("firewallMark", INT, "The mark of its packets"),
        key(
            "peers",
            Type::Objects { go: "[]*v1alpha1.DeviceWireguardPeer", item: &PEER },
            "The other ends",
        ),
    ]],
};

static PEER: Object = Object {
    go: "v1alpha1.DeviceWireguardPeer",
    parts: &[&[
        key("publicKey", Type::Text, "The public key"),
        key("endpoint", Type::Text, "Its address and port"),
        key(
            "persistentKeepaliveInterval",
            Type::Duration,
            "The interval of keepalives, such as 25s",
        ),
        key("allowedIPs", TEXTS, "The networks behind the peer"),
    ]],
};

static VIP: Object = Object {
    go: "v1alpha1.DeviceVIPConfig",
    parts: &[&[
        key("ip", Type::Text, "The address"),
        key("equinixMetal", Type::Whole(&EQUINIX), "The settings of a virtual IP on Equinix Metal"),
        key("hcloud", Type::Whole(&HCLOUD), "The settings of a virtual IP on Hetzner Cloud"),
    ]],
};

static EQUINIX: Object = Object {
    go: "v1alpha1.VIPEquinixMetalConfig",
    parts: &[&[key("apiToken", Type::Text, "The token of its API")]],
};

static HCLOUD: Object = Object {
    go: "v1alpha1.VIPHCloudConfig",
    parts: &[&[key("apiToken", Type::Text, "The token of its API")]],
};

static BOND: Object = Object {
    go: "v1alpha1.Bond",
    parts: &[&[
        key("interfaces", TEXTS, "Its links by name"),
        key(
            "deviceSelectors",
            Type::List {
                go: "[]v1alpha1.NetworkDeviceSelector",
                item: &Type::Whole(&DEVICE_SELECTOR),
            },
            "Its links by what they are like",
        ),
        key("arpIPTarget", TEXTS, "Not supported"),
        key("mode", Type::Text, "The bonding mode, such as 802.3ad"),
        key("xmitHashPolicy", Type::Text, "The hash policy that selects a link"),
        key("lacpRate", Type::Text, "slow or fast"),
        key("adActorSystem", Type::Text, "Not supported"),
        key("arpValidate", Type::Text, "The ARP packets that are validated"),
        key("arpAllTargets", Type::Text, "any or all"),
        key("primary", Type::Text, "The link that is used first"),
        key("primaryReselect", Type::Text, "The policy for returning to the primary link"),
        key("failOverMac", Type::Text, "The policy for the hardware address"),
        key("adSelect", Type::Text, "The policy for selecting an aggregator"),
        key("miimon", U32, "Milliseconds between looks at the links"),
        key("updelay", U32, "Milliseconds before a link is used"),
        key("downdelay", U32, "Milliseconds before a link is given up"),
        key("arpInterval", U32, "Milliseconds between ARP requests"),
        key("resendIgmp", U32, "IGMP reports after a change"),
        key("minLinks", U32, "The least links that make it work"),
        key("lpInterval", U32, "Seconds between learning packets"),
        key("packetsPerSlave", U32, "Packets before the next link is used"),
        key("numPeerNotif", U8, "Notifications after a change"),
        key("tlbDynamicLb", U8, "Balance load dynamically"),
        key("allSlavesActive", U8, "Accept duplicate frames"),
        key("useCarrier", Type::Flag, "Use the driver's carrier state"),
        key("adActorSysPrio", U16, "The priority of the system"),
        key("adUserPortKey", U16, "The upper bits of the port key"),
        key("peerNotifyDelay", U32, "Milliseconds between notifications"),
    ]],
};

static SCHEMATIC: Object = Object {
    go: "schematic.Schematic",
    parts: &[&[
        key("owner", Type::Text, "The owner"),
        key("overlay", Type::Part(&OVERLAY), "The overlay of a single-board computer"),
        key("customization", Type::Part(&CUSTOMIZATION), "The contents of the image"),
    ]],
};

static OVERLAY: Object = Object {
    go: "schematic.Overlay",
    parts: &[&[
        key("image", Type::Text, "Its image"),
        key("name", Type::Text, "Its name"),
        key("options", Type::Any, "Its options"),
    ]],
};

static CUSTOMIZATION: Object = Object {
    go: "schematic.Customization",
    parts: &[&[
        key("embeddedMachineConfiguration", Type::Text, "Machine configuration in the image"),
        key("extraKernelArgs", TEXTS, "Further kernel arguments"),
        key(
            "meta",
            Type::List { go: "[]schematic.MetaValue", item: &Type::Whole(&META) },
            "Values of the META partition",
        ),
        key("systemExtensions", Type::Part(&EXTENSIONS), "System extensions"),
        key(
            "bootloader",
            Type::Word { go: "BootloaderKind", words: &["none", "dual-boot", "sd-boot", "grub"] },
            "The boot loader",
        ),
        key("secureboot", Type::Part(&SECURE_BOOT), "The settings of Secure Boot"),
        key("diskImage", Type::Part(&DISK_IMAGE), "The image of a disk"),
    ]],
};

static META: Object = Object {
    go: "schematic.MetaValue",
    parts: &[&[key("key", U8, "Its number"), key("value", Type::Text, "The value")]],
};

static EXTENSIONS: Object = Object {
    go: "schematic.SystemExtensions",
    parts: &[&[key("officialExtensions", TEXTS, "Their names")]],
};

static SECURE_BOOT: Object = Object {
    go: "schematic.SecureBootCustomization",
    parts: &[&[key(
        "includeWellKnownCertificates",
        Type::Bool,
        "Include the well-known UEFI certificates",
    )]],
};

static DISK_IMAGE: Object = Object {
    go: "schematic.DiskImageCustomization",
    parts: &[&[key("sectorSize", UINT, "Bytes of a sector")]],
};

static FIREWALL: Object = Object {
    go: "config.IngressFirewall",
    parts: &[&[
        key(
            "defaultAction",
            Type::Word { go: "DefaultAction", words: &["accept", "block"] },
            "The action if no rule matches",
        ),
        key(
            "rules",
            Type::List { go: "[]config.NetworkRule", item: &Type::Whole(&RULE) },
            "The rules",
        ),
    ]],
};

static RULE: Object = Object {
    go: "config.NetworkRule",
    parts: &[&[
        key("name", Type::Text, "Its name"),
        key("portSelector", Type::Part(&PORT_SELECTOR), "The ports"),
        key(
            "ingress",
            Type::List { go: "network.IngressConfig", item: &Type::Whole(&INGRESS) },
            "From where",
        ),
    ]],
};

static PORT_SELECTOR: Object = Object {
    go: "network.RulePortSelector",
    parts: &[&[
        key(
            "ports",
            Type::List { go: "network.PortRanges", item: &Type::Ports },
            "Ports and ranges of them",
        ),
        key(
            "protocol",
            Type::Word { go: "Protocol", words: &["icmp", "tcp", "udp", "icmpv6"] },
            "tcp, udp, icmp or icmpv6",
        ),
    ]],
};

static INGRESS: Object = Object {
    go: "network.IngressRule",
    parts: &[&[
        key("subnet", Type::Prefix, "The subnet"),
        key("except", Type::Prefix, "The part of it that is left out"),
    ]],
};

static EXTENSION_SERVICE: Object = Object {
    go: "config.ExtensionService",
    parts: &[&[
        key("name", Type::Text, "Its name"),
        key(
            "configFiles",
            Type::List { go: "extensions.ConfigFileList", item: &Type::Whole(&CONFIG_FILE) },
            "Its files",
        ),
        key("environment", TEXTS, "Its variables: NAME=value"),
    ]],
};

static CONFIG_FILE: Object = Object {
    go: "extensions.ConfigFile",
    parts: &[&[
        key("content", Type::Text, "The content"),
        key("mountPath", Type::Text, "The mount point"),
    ]],
};

static VOLUME: Object = Object {
    go: "config.Volume",
    parts: &[&[
        key("name", Type::Text, "EPHEMERAL, STATE or IMAGECACHE"),
        key("provisioning", Type::Part(&PROVISIONING), "The disk and the size"),
        key("encryption", Type::Part(&ENCRYPTION), "The encryption"),
    ]],
};

static USER_VOLUME: Object = Object {
    go: "config.UserVolume",
    parts: &[&[
        key("name", Type::Text, "Its name"),
        key(
            "volumeType",
            Type::Word { go: "VolumeType", words: VOLUME_TYPES },
            "The type of the volume",
        ),
        key("provisioning", Type::Part(&PROVISIONING), "The disk and the size"),
        key("filesystem", Type::Part(&FILESYSTEM), "Its file system"),
        key("encryption", Type::Part(&ENCRYPTION), "The encryption"),
    ]],
};

const VOLUME_TYPES: &[&str] =
    &["partition", "disk", "tmpfs", "directory", "symlink", "overlay", "external"];

static PROVISIONING: Object = Object {
    go: "block.ProvisioningSpec",
    parts: &[&[
        key("diskSelector", Type::Part(&SELECTOR), "The disk"),
        key("grow", Type::Flag, "Grow to the available space"),
        key("minSize", Type::Size { share: false }, "The least that it needs"),
        key("maxSize", Type::Size { share: true }, "The most that it takes"),
    ]],
};

static SELECTOR: Object = Object {
    go: "block.DiskSelector",
    parts: &[&[key("match", Type::Text, "An expression about a disk")]],
};

static FILESYSTEM: Object = Object {
    go: "block.FilesystemSpec",
    parts: &[&[
        key("type", Type::Word { go: "FilesystemType", words: FILESYSTEM_TYPES }, "xfs or ext4"),
        key("projectQuotaSupport", Type::Flag, "Enable project quotas"),
    ]],
};

const FILESYSTEM_TYPES: &[&str] =
    &["none", "xfs", "vfat", "ext4", "iso9660", "swap", "virtiofs", "btrfs"];

static ENCRYPTION: Object = Object {
    go: "block.EncryptionSpec",
    parts: &[&[
        key(
            "provider",
            Type::Word { go: "EncryptionProviderType", words: &["none", "luks2"] },
            "luks2",
        ),
        key(
            "keys",
            Type::List { go: "[]block.EncryptionKey", item: &Type::Whole(&ENCRYPTION_KEY) },
            "Its keys",
        ),
        key("cipher", Type::Text, "The cipher"),
        key("keySize", UINT, "Bits of a key"),
        key("blockSize", U64, "Bytes of a block"),
        key("options", TEXTS, "Options of the kernel"),
        key("allowDiscards", Type::Flag, "Pass discards to the disk"),
    ]],
};

static ENCRYPTION_KEY: Object = Object {
    go: "block.EncryptionKey",
    parts: &[&[
        key("slot", INT, "Its slot"),
        key("static", Type::Whole(&STATIC_KEY), "A passphrase"),
        key("nodeID", Type::Whole(&NODE_ID), "A key derived from the node id"),
        key("kms", Type::Whole(&KMS), "A server of keys"),
        key("tpm", Type::Whole(&TPM), "The machine's own chip"),
        key("lockToState", Type::Flag, "Unlock only together with STATE"),
    ]],
};

static STATIC_KEY: Object = Object {
    go: "block.EncryptionKeyStatic",
    parts: &[&[key("passphrase", Type::Text, "The passphrase")]],
};

static NODE_ID: Object = Object { go: "block.EncryptionKeyNodeID", parts: &[] };

static KMS: Object = Object {
    go: "block.EncryptionKeyKMS",
    parts: &[&[key("endpoint", Type::Text, "The endpoint")]],
};

static TPM: Object = Object {
    go: "block.EncryptionKeyTPM",
    parts: &[&[
        key("options", Type::Whole(&TPM_OPTIONS), "The options of the TPM"),
        key("checkSecurebootStatusOnEnroll", Type::Flag, "Require Secure Boot at enrolment"),
    ]],
};

static TPM_OPTIONS: Object = Object {
    go: "block.EncryptionKeyTPMOptions",
    parts: &[&[key("pcrs", Type::List { go: "[]int", item: &INT }, "Its registers")]],
};

/// A schematic in a file of its own.
pub(crate) static SCHEMATIC_FILE: &Object = &SCHEMATIC;
