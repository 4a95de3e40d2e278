//! The words that fields choose from. A field that is not a pointer writes nothing for the first.

use crate::schema::{Choice, Contract, choice};

pub(super) const ADLACP_ACTIVE: Choice = choice("ADLACPActive", &["off", "on"]);

pub(super) const AD_SELECT: Choice = choice("ADSelect", &["stable", "bandwidth", "count"]);

pub(super) const ARP_ALL_TARGETS: Choice = choice("ARPAllTargets", &["any", "all"]);

pub(super) const ARP_VALIDATE: Choice = choice(
    "ARPValidate",
    &["none", "active", "backup", "all", "filter", "filter-active", "filter-backup"],
);

pub(super) const AUTO_HOSTNAME_KIND: Choice =
    choice("AutoHostnameKind", &["off", "talos-addr", "stable"]);

pub(super) const BOND_MODE: Choice = choice(
    "BondMode",
    &[
        "balance-rr",
        "active-backup",
        "balance-xor",
        "broadcast",
        "802.3ad",
        "balance-tlb",
        "balance-alb",
    ],
);

pub(super) const BOND_XMIT_HASH_POLICY: Choice =
    choice("BondXmitHashPolicy", &["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"]);

pub(super) const CLIENT_IDENTIFIER: Choice = choice("ClientIdentifier", &["none", "mac", "duid"]);

pub(super) const DEFAULT_ACTION: Choice = choice("DefaultAction", &["accept", "block"]);

pub(super) const DNS_PROTOCOL: Choice = choice("DNSProtocol", &["Do53", "DoT", "DoH"]);

pub(super) const ENCRYPTION_PROVIDER_TYPE: Choice =
    choice("EncryptionProviderType", &["none", "luks2"]);

pub(super) const FAIL_OVER_MAC: Choice = choice("FailOverMAC", &["none", "active", "follow"])
    .exact_case()
    // A number before.
    .later(&[
        ("none", Contract::new(1, 13)),
        ("active", Contract::new(1, 13)),
        ("follow", Contract::new(1, 13)),
    ]);

pub(super) const FILESYSTEM_TYPE: Choice = choice(
    "FilesystemType",
    &["none", "xfs", "vfat", "ext4", "iso9660", "swapi", "virtiofs", "btrfs"],
)
.later(&[
    ("swapi", Contract::new(1, 13)),
    ("virtiofs", Contract::new(1, 13)),
    ("btrfs", Contract::new(1, 14)),
]);

pub(super) const LACP_RATE: Choice = choice("LACPRate", &["slow", "fast"]);

pub(super) const LVM_LOGICAL_VOLUME_TYPE: Choice =
    choice("LVMLogicalVolumeType", &["linear", "raid1", "raid0", "raid10"]);

pub(super) const MD_LEVEL: Choice = choice("MDLevel", &["raid1"]);

pub(super) const MD_METADATA: Choice = choice("MDMetadata", &["1.0", "1.2"]);

pub(super) const PRIMARY_RESELECT: Choice =
    choice("PrimaryReselect", &["always", "better", "failure"]);

pub(super) const PROTOCOL: Choice =
    choice("Protocol", &["icmp", "tcp", "udp", "icmpv6"]).unset_as("Protocol(0)");

pub(super) const ROUTING_RULE_ACTION: Choice =
    choice("RoutingRuleAction", &["unspec", "unicast", "blackhole", "unreachable", "prohibit"]);

pub(super) const VLAN_PROTOCOL: Choice = choice("VLANProtocol", &["802.1q", "802.1ad"]);

pub(super) const VOLUME_TYPE: Choice = choice(
    "VolumeType",
    &["partition", "disk", "tmpfs", "directory", "symlink", "overlay", "external"],
)
.later(&[("external", Contract::new(1, 13))]);

pub(super) const WOL_MODE: Choice = choice(
    "WOLMode",
    &["phy", "unicast", "multicast", "broadcast", "magic", "magicsecure", "filter"],
);
