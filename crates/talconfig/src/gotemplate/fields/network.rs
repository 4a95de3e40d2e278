//! The network of a machine.

use super::{Kind, Struct};

pub(super) static NETWORK_CONFIG: Struct = Struct {
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
        ("KubeSpanMTU", "mtu", Kind::Free),
        ("KubeSpanFilters", "filters", Kind::Pointer(&KUBE_SPAN_FILTERS)),
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
