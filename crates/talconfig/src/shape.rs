//! Every key of a talconfig: its name, what it holds, and what it is for.
//!
//! Reading, complaints about types, group defaults and the JSON schema all follow these tables.

/// An object with known keys.
#[derive(Debug)]
pub(crate) struct Object {
    /// What complaints call it.
    pub(crate) go: &'static str,
    /// Its keys, in groups that objects may share.
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
    pub(crate) shape: Shape,
    /// Whether there is nothing to be done without it.
    pub(crate) required: bool,
    pub(crate) about: &'static str,
}

/// What a key holds. A value that equals none, such as `false` or an empty text, is as good as no key,
/// except where the shape says that it is set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
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
    /// Anything.
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
    /// Set as soon as it is written, be it empty.
    Whole(&'static Object),
}

impl Shape {
    /// What complaints call it.
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

const fn key(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, shape, required: false, about }
}

const fn required(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, shape, required: true, about }
}

const TEXTS: Shape = Shape::List { go: "[]string", item: &Shape::Text };
const INT: Shape = Shape::Int { go: "int", min: i64::MIN as i128, max: i64::MAX as i128 };
const UINT: Shape = Shape::Int { go: "uint", min: 0, max: u64::MAX as i128 };
const U8: Shape = Shape::Int { go: "uint8", min: 0, max: u8::MAX as i128 };
const U16: Shape = Shape::Int { go: "uint16", min: 0, max: u16::MAX as i128 };
const U32: Shape = Shape::Int { go: "uint32", min: 0, max: u32::MAX as i128 };
const U64: Shape = Shape::Int { go: "uint64", min: 0, max: u64::MAX as i128 };
const MODE: Shape = Shape::Int { go: "v1alpha1.FileMode", min: 0, max: u32::MAX as i128 };

/// A whole talconfig.
pub(crate) static TALCONFIG: Object = Object { go: "config.TalhelperConfig", parts: &[CLUSTER] };

const CLUSTER: &[Key] = &[
    required("clusterName", Shape::Text, "The name of the cluster and of its context"),
    key("talosVersion", Shape::Text, "The release of Talos, such as v1.13.0"),
    required("kubernetesVersion", Shape::Text, "The release of Kubernetes, such as v1.34.1"),
    required("endpoint", Shape::Text, "Where the Kubernetes API is reached: https://host:port"),
    key("domain", Shape::Text, "The domain of the cluster"),
    key("allowSchedulingOnMasters", Shape::Bool, "The old name of allowSchedulingOnControlPlanes"),
    key("allowSchedulingOnControlPlanes", Shape::Bool, "Whether workloads run on control planes"),
    key("additionalMachineCertSans", TEXTS, "Further names of all machines; deprecated"),
    key("additionalApiServerCertSans", TEXTS, "Further names of the Kubernetes API"),
    key(
        "inlineManifests",
        Shape::Objects { go: "config.ClusterInlineManifests", item: &INLINE_MANIFEST },
        "Manifests that control planes apply",
    ),
    key("clusterPodNets", TEXTS, "Subnets of pods"),
    key("clusterSvcNets", TEXTS, "Subnets of services"),
    key("cniConfig", Shape::Whole(&CNI), "The network between pods"),
    key("patches", TEXTS, "Patches for all machines, applied last"),
    required("nodes", Shape::Objects { go: "[]config.Node", item: &NODE }, "The machines"),
    key("imageFactory", Shape::Part(&IMAGE_FACTORY), "Where images come from"),
    key("controlPlane", Shape::Part(&GROUP), "What control planes have unless they say otherwise"),
    key("worker", Shape::Part(&GROUP), "What workers have unless they say otherwise"),
];

/// The keys of a machine that no group can have.
pub(crate) const NODE_ONLY: &[Key] = &[
    required("hostname", Shape::Text, "The name of the machine"),
    required("ipAddress", Shape::Text, "Its address, or several with commas between them"),
    key("controlPlane", Shape::Bool, "Whether it is a control plane"),
    key("installDisk", Shape::Text, "The disk to install to"),
    key("installDiskSelector", Shape::Whole(&DISK_SELECTOR), "What the disk to install to is like"),
    key("ignoreHostname", Shape::Bool, "Whether the machine chooses its name itself"),
    key("overridePatches", Shape::Bool, "Whether its patches replace those of its group"),
    key(
        "overrideExtraManifests",
        Shape::Bool,
        "Whether its extraManifests replace those of its group",
    ),
    key("overrideMachineCertSANs", Shape::Bool, "Whether its certSANs replace those of its group"),
];

/// The keys that a machine and its group have.
pub(crate) const SHARED: &[Key] = &[
    key("nodeLabels", Shape::TextMap, "Labels of the node, instead of the default ones"),
    key("nodeAnnotations", Shape::TextMap, "Annotations of the node"),
    key("nodeTaints", Shape::TextMap, "Taints of the node"),
    key(
        "machineDisks",
        Shape::Objects { go: "[]*v1alpha1.MachineDisk", item: &MACHINE_DISK },
        "Disks to partition; deprecated",
    ),
    key(
        "machineFiles",
        Shape::Objects { go: "config.MachineFiles", item: &MACHINE_FILE },
        "Files to write",
    ),
    key("disableSearchDomain", Shape::Bool, "Whether there is no search domain from the host name"),
    key(
        "kernelModules",
        Shape::Objects { go: "[]*v1alpha1.KernelModuleConfig", item: &KERNEL_MODULE },
        "Kernel modules to load",
    ),
    key("nameservers", TEXTS, "Name servers"),
    key(
        "networkInterfaces",
        Shape::Objects { go: "[]*v1alpha1.Device", item: &DEVICE },
        "Network interfaces",
    ),
    key("extraManifests", TEXTS, "Files with further documents; deprecated"),
    key("certSANs", TEXTS, "Further names of the machine"),
    key("patches", TEXTS, "Patches, as text or as @file"),
    key("talosImageURL", Shape::Text, "The installer's image without its tag"),
    key(
        "noSchematicValidate",
        Shape::Bool,
        "Whether extensions are not compared with the known ones",
    ),
    key("schematic", Shape::Whole(&SCHEMATIC), "What the installer's image is made of"),
    key("imageSchematic", Shape::Whole(&SCHEMATIC), "What the boot image is made of"),
    key("machineSpec", Shape::Part(&MACHINE_SPEC), "Which image fits the machine"),
    key("ingressFirewall", Shape::Whole(&FIREWALL), "What may reach the machine"),
    key(
        "extensionServices",
        Shape::Objects { go: "[]*config.ExtensionService", item: &EXTENSION_SERVICE },
        "Settings of extension services",
    ),
    key(
        "volumes",
        Shape::Objects { go: "[]*config.Volume", item: &VOLUME },
        "Volumes of the system",
    ),
    key(
        "userVolumes",
        Shape::Objects { go: "[]*config.UserVolume", item: &USER_VOLUME },
        "Further volumes",
    ),
    key("filenameTmpl", Shape::Text, "The template of the file's name"),
];

static GROUP: Object = Object { go: "config.NodeConfigs", parts: &[SHARED] };
static NODE: Object = Object { go: "config.Node", parts: &[NODE_ONLY, SHARED] };

static IMAGE_FACTORY: Object = Object {
    go: "config.ImageFactory",
    parts: &[&[
        key("registryURL", Shape::Text, "The host of the factory"),
        key("schematicEndpoint", Shape::Text, "The path where schematics are registered"),
        key("protocol", Shape::Text, "https or http"),
        key("installerURLTmpl", Shape::Text, "The template of the installer's name"),
        key("ISOURLTmpl", Shape::Text, "The template of the boot image's URL"),
    ]],
};

static MACHINE_SPEC: Object = Object {
    go: "config.MachineSpec",
    parts: &[&[
        key("mode", Shape::Text, "The platform, such as metal"),
        key("arch", Shape::Text, "amd64 or arm64"),
        key("secureboot", Shape::Bool, "Whether the machine boots securely"),
        key("useUKI", Shape::Bool, "Whether it boots a unified kernel image"),
        key("bootMethod", Shape::Text, "iso, disk-image or pxe"),
        key("imageSuffix", Shape::Text, "The suffix of the boot image"),
    ]],
};

static INLINE_MANIFEST: Object = Object {
    go: "config.ClusterInlineManifest",
    parts: &[&[
        key("name", Shape::Text, "Its name"),
        key("contents", Shape::Text, "The manifest, or @file"),
        key("skipEnvsubst", Shape::Bool, "Whether variables in the file stay as they are"),
    ]],
};

static CNI: Object = Object {
    go: "v1alpha1.CNIConfig",
    parts: &[&[
        key("name", Shape::Text, "flannel, custom or none"),
        key("urls", TEXTS, "Manifests of a custom network"),
        key("flannel", Shape::Whole(&FLANNEL), "Settings of flannel"),
    ]],
};

static FLANNEL: Object = Object {
    go: "v1alpha1.FlannelCNIConfig",
    parts: &[&[
        key("extraArgs", TEXTS, "Further arguments"),
        key("kubeNetworkPoliciesEnabled", Shape::Flag, "Whether network policies are kept"),
    ]],
};

static DISK_SELECTOR: Object = Object {
    go: "v1alpha1.InstallDiskSelector",
    parts: &[&[
        key("size", Shape::SizeMatch, "Its size, such as >= 10GB"),
        key("name", Shape::Text, "Not supported any more"),
        key("model", Shape::Text, "Its model"),
        key("serial", Shape::Text, "Its serial number"),
        key("modalias", Shape::Text, "Its modalias"),
        key("uuid", Shape::Text, "Its UUID"),
        key("wwid", Shape::Text, "Its WWID"),
        key("type", Shape::Text, "nvme, sd, hdd or ssd"),
        key("busPath", Shape::Text, "Where it is attached"),
    ]],
};

static MACHINE_DISK: Object = Object {
    go: "v1alpha1.MachineDisk",
    parts: &[&[
        key("device", Shape::Text, "The disk"),
        key(
            "partitions",
            Shape::Objects { go: "[]*v1alpha1.DiskPartition", item: &PARTITION },
            "Its partitions",
        ),
    ]],
};

static PARTITION: Object = Object {
    go: "v1alpha1.DiskPartition",
    parts: &[&[
        key("size", Shape::DiskSize, "Its size; the rest of the disk when left out"),
        key("mountpoint", Shape::Text, "Where it is mounted"),
    ]],
};

static MACHINE_FILE: Object = Object {
    go: "config.MachineFile",
    parts: &[&[
        key("content", Shape::Text, "What is in it, or @file"),
        key("permissions", MODE, "Its permissions, such as 0o644"),
        key("path", Shape::Text, "Its path"),
        key("op", Shape::Text, "create, append or overwrite"),
        key("skipEnvsubst", Shape::Bool, "Whether variables in the file stay as they are"),
    ]],
};

static KERNEL_MODULE: Object = Object {
    go: "v1alpha1.KernelModuleConfig",
    parts: &[&[key("name", Shape::Text, "Its name"), key("parameters", TEXTS, "Its parameters")]],
};

static DEVICE: Object = Object {
    go: "v1alpha1.Device",
    parts: &[&[
        key("interface", Shape::Text, "Its name"),
        key("deviceSelector", Shape::Whole(&DEVICE_SELECTOR), "What it is like"),
        key("addresses", TEXTS, "Its addresses"),
        key("cidr", Shape::Text, "Its address; deprecated"),
        key("routes", Shape::Objects { go: "[]*v1alpha1.Route", item: &ROUTE }, "Its routes"),
        key("bond", Shape::Whole(&BOND), "The links that it bundles"),
        key("bridge", Shape::Whole(&BRIDGE), "The links that it bridges"),
        key("bridgePort", Shape::Whole(&BRIDGE_PORT), "The bridge that it belongs to"),
        key("vlans", Shape::Objects { go: "v1alpha1.VlanList", item: &VLAN }, "VLANs on it"),
        key("mtu", INT, "The greatest packet"),
        key("dhcp", Shape::Flag, "Whether it asks for an address"),
        key("ignore", Shape::Flag, "Whether it is left alone"),
        key("dummy", Shape::Flag, "Whether it is no real one"),
        key("dhcpOptions", Shape::Whole(&DHCP_OPTIONS), "How it asks for an address"),
        key("wireguard", Shape::Whole(&WIREGUARD), "A WireGuard tunnel"),
        key("vip", Shape::Whole(&VIP), "An address that control planes share"),
    ]],
};

static DEVICE_SELECTOR: Object = Object {
    go: "v1alpha1.NetworkDeviceSelector",
    parts: &[&[
        key("busPath", Shape::Text, "Where it is attached"),
        key("hardwareAddr", Shape::Text, "Its hardware address"),
        key("permanentAddr", Shape::Text, "Its permanent hardware address"),
        key("pciID", Shape::Text, "Its PCI id"),
        key("driver", Shape::Text, "Its driver"),
        key("physical", Shape::Flag, "Whether it is hardware"),
    ]],
};

static ROUTE: Object = Object {
    go: "v1alpha1.Route",
    parts: &[&[
        key("network", Shape::Text, "Where it leads; everywhere when left out"),
        key("gateway", Shape::Text, "The next hop"),
        key("source", Shape::Text, "The address that packets come from"),
        key("metric", U32, "Its priority; lower ones win"),
        key("mtu", U32, "The greatest packet"),
    ]],
};

static BRIDGE: Object = Object {
    go: "v1alpha1.Bridge",
    parts: &[&[
        key("interfaces", TEXTS, "Its links"),
        key("stp", Shape::Whole(&STP), "The spanning tree protocol"),
        key("vlan", Shape::Whole(&BRIDGE_VLAN), "Its VLANs"),
    ]],
};

static STP: Object =
    Object { go: "v1alpha1.STP", parts: &[&[key("enabled", Shape::Flag, "Whether it is used")]] };

static BRIDGE_VLAN: Object = Object {
    go: "v1alpha1.BridgeVLAN",
    parts: &[&[key("vlanFiltering", Shape::Flag, "Whether VLANs are kept apart")]],
};

static BRIDGE_PORT: Object = Object {
    go: "v1alpha1.BridgePort",
    parts: &[&[key("master", Shape::Text, "The name of the bridge")]],
};

static VLAN: Object = Object {
    go: "v1alpha1.Vlan",
    parts: &[&[
        key("addresses", TEXTS, "Its addresses"),
        key("cidr", Shape::Text, "Its address; deprecated"),
        key("routes", Shape::Objects { go: "[]*v1alpha1.Route", item: &ROUTE }, "Its routes"),
        key("dhcp", Shape::Flag, "Whether it asks for an address"),
        key("vlanId", U16, "Its number"),
        key("mtu", U32, "The greatest packet"),
        key("vip", Shape::Whole(&VIP), "An address that control planes share"),
        key("dhcpOptions", Shape::Whole(&DHCP_OPTIONS), "How it asks for an address"),
    ]],
};

static DHCP_OPTIONS: Object = Object {
    go: "v1alpha1.DHCPOptions",
    parts: &[&[
        key("routeMetric", U32, "The priority of its routes"),
        key("ipv4", Shape::Flag, "Whether it asks for an IPv4 address"),
        key("ipv6", Shape::Flag, "Whether it asks for an IPv6 address"),
        key("duidv6", Shape::Text, "By which id it asks for an IPv6 address"),
    ]],
};

static WIREGUARD: Object = Object {
    go: "v1alpha1.DeviceWireguardConfig",
    parts: &[&[
        key("privateKey", Shape::Text, "The private key"),
        key("listenPort", INT, "The port"),
        key("firewallMark", INT, "The mark of its packets"),
        key(
            "peers",
            Shape::Objects { go: "[]*v1alpha1.DeviceWireguardPeer", item: &PEER },
            "The other ends",
        ),
    ]],
};

static PEER: Object = Object {
    go: "v1alpha1.DeviceWireguardPeer",
    parts: &[&[
        key("publicKey", Shape::Text, "The public key"),
        key("endpoint", Shape::Text, "Its address and port"),
        key("persistentKeepaliveInterval", Shape::Duration, "How often it is greeted, such as 25s"),
        key("allowedIPs", TEXTS, "What is behind it"),
    ]],
};

static VIP: Object = Object {
    go: "v1alpha1.DeviceVIPConfig",
    parts: &[&[
        key("ip", Shape::Text, "The address"),
        key("equinixMetal", Shape::Whole(&EQUINIX), "Where the address is moved by Equinix Metal"),
        key("hcloud", Shape::Whole(&HCLOUD), "Where the address is moved by Hetzner Cloud"),
    ]],
};

static EQUINIX: Object = Object {
    go: "v1alpha1.VIPEquinixMetalConfig",
    parts: &[&[key("apiToken", Shape::Text, "The token of its API")]],
};

static HCLOUD: Object = Object {
    go: "v1alpha1.VIPHCloudConfig",
    parts: &[&[key("apiToken", Shape::Text, "The token of its API")]],
};

static BOND: Object = Object {
    go: "v1alpha1.Bond",
    parts: &[&[
        key("interfaces", TEXTS, "Its links by name"),
        key(
            "deviceSelectors",
            Shape::List {
                go: "[]v1alpha1.NetworkDeviceSelector",
                item: &Shape::Whole(&DEVICE_SELECTOR),
            },
            "Its links by what they are like",
        ),
        key("arpIPTarget", TEXTS, "Not supported"),
        key("mode", Shape::Text, "How links are used, such as 802.3ad"),
        key("xmitHashPolicy", Shape::Text, "How a link is chosen"),
        key("lacpRate", Shape::Text, "slow or fast"),
        key("adActorSystem", Shape::Text, "Not supported"),
        key("arpValidate", Shape::Text, "Which ARP packets count"),
        key("arpAllTargets", Shape::Text, "any or all"),
        key("primary", Shape::Text, "The link that is used first"),
        key("primaryReselect", Shape::Text, "When the primary link is used again"),
        key("failOverMac", Shape::Text, "Whose hardware address is used"),
        key("adSelect", Shape::Text, "How an aggregator is chosen"),
        key("miimon", U32, "Milliseconds between looks at the links"),
        key("updelay", U32, "Milliseconds before a link is used"),
        key("downdelay", U32, "Milliseconds before a link is given up"),
        key("arpInterval", U32, "Milliseconds between ARP requests"),
        key("resendIgmp", U32, "IGMP reports after a change"),
        key("minLinks", U32, "The least links that make it work"),
        key("lpInterval", U32, "Seconds between learning packets"),
        key("packetsPerSlave", U32, "Packets before the next link is used"),
        key("numPeerNotif", U8, "Notifications after a change"),
        key("tlbDynamicLb", U8, "Whether load is balanced as it comes"),
        key("allSlavesActive", U8, "Whether duplicate frames count"),
        key("useCarrier", Shape::Flag, "Whether the driver's word about a link counts"),
        key("adActorSysPrio", U16, "The priority of the system"),
        key("adUserPortKey", U16, "The upper bits of the port key"),
        key("peerNotifyDelay", U32, "Milliseconds between notifications"),
    ]],
};

static SCHEMATIC: Object = Object {
    go: "schematic.Schematic",
    parts: &[&[
        key("owner", Shape::Text, "Who may use it"),
        key("overlay", Shape::Part(&OVERLAY), "What a single-board computer needs"),
        key("customization", Shape::Part(&CUSTOMIZATION), "What is in the image"),
    ]],
};

static OVERLAY: Object = Object {
    go: "schematic.Overlay",
    parts: &[&[
        key("image", Shape::Text, "Its image"),
        key("name", Shape::Text, "Its name"),
        key("options", Shape::Any, "Its options"),
    ]],
};

static CUSTOMIZATION: Object = Object {
    go: "schematic.Customization",
    parts: &[&[
        key("embeddedMachineConfiguration", Shape::Text, "Machine configuration in the image"),
        key("extraKernelArgs", TEXTS, "Further kernel arguments"),
        key(
            "meta",
            Shape::List { go: "[]schematic.MetaValue", item: &Shape::Whole(&META) },
            "Values of the META partition",
        ),
        key("systemExtensions", Shape::Part(&EXTENSIONS), "System extensions"),
        key(
            "bootloader",
            Shape::Word { go: "BootloaderKind", words: &["none", "dual-boot", "sd-boot", "grub"] },
            "What boots it",
        ),
        key("secureboot", Shape::Part(&SECURE_BOOT), "How it boots securely"),
        key("diskImage", Shape::Part(&DISK_IMAGE), "The image of a disk"),
    ]],
};

static META: Object = Object {
    go: "schematic.MetaValue",
    parts: &[&[key("key", U8, "Its number"), key("value", Shape::Text, "The value")]],
};

static EXTENSIONS: Object = Object {
    go: "schematic.SystemExtensions",
    parts: &[&[key("officialExtensions", TEXTS, "Their names")]],
};

static SECURE_BOOT: Object = Object {
    go: "schematic.SecureBootCustomization",
    parts: &[&[key("includeWellKnownCertificates", Shape::Bool, "Whether UEFI's own are trusted")]],
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
            Shape::Word { go: "DefaultAction", words: &["accept", "block"] },
            "What happens where no rule speaks",
        ),
        key(
            "rules",
            Shape::List { go: "[]config.NetworkRule", item: &Shape::Whole(&RULE) },
            "What is let in",
        ),
    ]],
};

static RULE: Object = Object {
    go: "config.NetworkRule",
    parts: &[&[
        key("name", Shape::Text, "Its name"),
        key("portSelector", Shape::Part(&PORT_SELECTOR), "Which ports"),
        key(
            "ingress",
            Shape::List { go: "network.IngressConfig", item: &Shape::Whole(&INGRESS) },
            "From where",
        ),
    ]],
};

static PORT_SELECTOR: Object = Object {
    go: "network.RulePortSelector",
    parts: &[&[
        key(
            "ports",
            Shape::List { go: "network.PortRanges", item: &Shape::Ports },
            "Ports and ranges of them",
        ),
        key(
            "protocol",
            Shape::Word { go: "Protocol", words: &["icmp", "tcp", "udp", "icmpv6"] },
            "tcp, udp, icmp or icmpv6",
        ),
    ]],
};

static INGRESS: Object = Object {
    go: "network.IngressRule",
    parts: &[&[
        key("subnet", Shape::Prefix, "The subnet"),
        key("except", Shape::Prefix, "The part of it that is left out"),
    ]],
};

static EXTENSION_SERVICE: Object = Object {
    go: "config.ExtensionService",
    parts: &[&[
        key("name", Shape::Text, "Its name"),
        key(
            "configFiles",
            Shape::List { go: "extensions.ConfigFileList", item: &Shape::Whole(&CONFIG_FILE) },
            "Its files",
        ),
        key("environment", TEXTS, "Its variables: NAME=value"),
    ]],
};

static CONFIG_FILE: Object = Object {
    go: "extensions.ConfigFile",
    parts: &[&[
        key("content", Shape::Text, "What is in it"),
        key("mountPath", Shape::Text, "Where it is mounted"),
    ]],
};

static VOLUME: Object = Object {
    go: "config.Volume",
    parts: &[&[
        key("name", Shape::Text, "EPHEMERAL, STATE or IMAGECACHE"),
        key("provisioning", Shape::Part(&PROVISIONING), "Where it is and how large"),
        key("encryption", Shape::Part(&ENCRYPTION), "How it is encrypted"),
    ]],
};

static USER_VOLUME: Object = Object {
    go: "config.UserVolume",
    parts: &[&[
        key("name", Shape::Text, "Its name"),
        key(
            "volumeType",
            Shape::Word { go: "VolumeType", words: VOLUME_TYPES },
            "What it is made of",
        ),
        key("provisioning", Shape::Part(&PROVISIONING), "Where it is and how large"),
        key("filesystem", Shape::Part(&FILESYSTEM), "Its file system"),
        key("encryption", Shape::Part(&ENCRYPTION), "How it is encrypted"),
    ]],
};

const VOLUME_TYPES: &[&str] =
    &["partition", "disk", "tmpfs", "directory", "symlink", "overlay", "external"];

static PROVISIONING: Object = Object {
    go: "block.ProvisioningSpec",
    parts: &[&[
        key("diskSelector", Shape::Part(&SELECTOR), "Which disk"),
        key("grow", Shape::Flag, "Whether it takes all the room there is"),
        key("minSize", Shape::Size { share: false }, "The least that it needs"),
        key("maxSize", Shape::Size { share: true }, "The most that it takes"),
    ]],
};

static SELECTOR: Object = Object {
    go: "block.DiskSelector",
    parts: &[&[key("match", Shape::Text, "An expression about a disk")]],
};

static FILESYSTEM: Object = Object {
    go: "block.FilesystemSpec",
    parts: &[&[
        key("type", Shape::Word { go: "FilesystemType", words: FILESYSTEM_TYPES }, "xfs or ext4"),
        key("projectQuotaSupport", Shape::Flag, "Whether there are project quotas"),
    ]],
};

const FILESYSTEM_TYPES: &[&str] =
    &["none", "xfs", "vfat", "ext4", "iso9660", "swap", "virtiofs", "btrfs"];

static ENCRYPTION: Object = Object {
    go: "block.EncryptionSpec",
    parts: &[&[
        key(
            "provider",
            Shape::Word { go: "EncryptionProviderType", words: &["none", "luks2"] },
            "luks2",
        ),
        key(
            "keys",
            Shape::List { go: "[]block.EncryptionKey", item: &Shape::Whole(&ENCRYPTION_KEY) },
            "Its keys",
        ),
        key("cipher", Shape::Text, "The cipher"),
        key("keySize", UINT, "Bits of a key"),
        key("blockSize", U64, "Bytes of a block"),
        key("options", TEXTS, "Options of the kernel"),
        key("allowDiscards", Shape::Flag, "Whether the disk is told what is free"),
    ]],
};

static ENCRYPTION_KEY: Object = Object {
    go: "block.EncryptionKey",
    parts: &[&[
        key("slot", INT, "Its slot"),
        key("static", Shape::Whole(&STATIC_KEY), "A passphrase"),
        key("nodeID", Shape::Whole(&NODE_ID), "What only this machine knows"),
        key("kms", Shape::Whole(&KMS), "A server of keys"),
        key("tpm", Shape::Whole(&TPM), "The machine's own chip"),
        key("lockToState", Shape::Flag, "Whether it opens together with STATE only"),
    ]],
};

static STATIC_KEY: Object = Object {
    go: "block.EncryptionKeyStatic",
    parts: &[&[key("passphrase", Shape::Text, "The passphrase")]],
};

static NODE_ID: Object = Object { go: "block.EncryptionKeyNodeID", parts: &[] };

static KMS: Object = Object {
    go: "block.EncryptionKeyKMS",
    parts: &[&[key("endpoint", Shape::Text, "Where it is")]],
};

static TPM: Object = Object {
    go: "block.EncryptionKeyTPM",
    parts: &[&[
        key("options", Shape::Whole(&TPM_OPTIONS), "What it looks at"),
        key(
            "checkSecurebootStatusOnEnroll",
            Shape::Flag,
            "Whether secure boot must be on at first",
        ),
    ]],
};

static TPM_OPTIONS: Object = Object {
    go: "block.EncryptionKeyTPMOptions",
    parts: &[&[key("pcrs", Shape::List { go: "[]int", item: &INT }, "Its registers")]],
};

/// A schematic in a file of its own.
pub(crate) static SCHEMATIC_FILE: &Object = &SCHEMATIC;
