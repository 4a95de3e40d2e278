//! Network interfaces.

use serde_json::{Value, json};

use super::{Key, Maker};

impl Maker {
    /// One interface of a list; those of a list do not come into each other's way.
    pub(super) fn interface(&mut self, index: u32) -> Value {
        let mut device = self.object(DEVICE);
        if self.random.one_in(3) {
            device["deviceSelector"] = self.one_of(DEVICE_SELECTORS);
        } else {
            device["interface"] = json!(format!("eth{index}"));
        }
        if self.often(3) {
            device["routes"] = self.list(|maker, _| maker.route());
        }
        if self.often(5) && self.has_shared_addresses() {
            device["vip"] = self.shared_address(&format!("10.{index}.0.100"));
        }
        if self.often(4) {
            device["vlans"] = self.list(|maker, vlan| maker.vlan(index, vlan));
        }
        // Only one of these, or the interface would be two things.
        match self.random.below(9) {
            0..=2 => device["bond"] = self.bond(index),
            3 => device["bridge"] = self.bridge(index),
            4 => device["wireguard"] = self.wireguard(),
            _ => {}
        }
        device
    }

    /// Before 1.12 only control planes have addresses that they share.
    fn has_shared_addresses(&self) -> bool {
        self.minor >= 12 || self.control_plane
    }

    fn shared_address(&mut self, address: &str) -> Value {
        let mut shared = self.object(SHARED_ADDRESS);
        shared["ip"] = json!(address);
        shared
    }

    fn route(&mut self) -> Value {
        let mut route = self.object(ROUTE);
        // One of the two has to be there.
        if route.get("network").is_none() {
            route["gateway"] = self.one_of(GATEWAYS);
        }
        route
    }

    fn vlan(&mut self, device: u32, index: u32) -> Value {
        let mut vlan = self.object(VLAN);
        vlan["vlanId"] = json!(if self.random.one_in(8) { 0 } else { 10 * (index + 1) });
        match self.random.below(4) {
            0 => vlan["cidr"] = json!(format!("10.1{device}.{index}.2/24")),
            1 | 2 => vlan["addresses"] = self.one_of(VLAN_ADDRESSES),
            _ => {}
        }
        if self.often(3) {
            vlan["routes"] = self.list(|maker, _| maker.route());
        }
        if self.often(4) && self.has_shared_addresses() {
            vlan["vip"] = self.shared_address(&format!("10.1{device}.{index}.100"));
        }
        vlan
    }

    fn bond(&mut self, index: u32) -> Value {
        let mode = *self.random.pick(MODES);
        let mut bond = self.object(BOND);
        bond["mode"] = json!(mode);
        let links = json!([format!("eth{index}8"), format!("eth{index}9")]);
        match self.random.below(4) {
            0 => {
                bond["deviceSelectors"] = json!([self.one_of(DEVICE_SELECTORS)]);
                bond["interfaces"] = json!([]);
            }
            1 => {
                let selectors = [self.one_of(DEVICE_SELECTORS), self.one_of(DEVICE_SELECTORS)];
                bond["deviceSelectors"] = json!(selectors);
            }
            2 => {
                bond["interfaces"] = json!([links[0]]);
                bond["deviceSelectors"] = json!([]);
            }
            _ => bond["interfaces"] = links,
        }
        // What a mode has, and others have not.
        let own = match mode {
            "802.3ad" => BOND_802_3AD,
            "active-backup" => BOND_ACTIVE_BACKUP,
            "balance-alb" | "balance-tlb" => BOND_BALANCED,
            "balance-rr" => BOND_ROUND_ROBIN,
            _ => BOND_WITH_ARP,
        };
        if let (Value::Object(bond), Value::Object(own)) = (&mut bond, self.object(own)) {
            bond.extend(own);
        }
        // The delays are counted in looks at the links.
        if self.random.one_in(2) {
            bond["miimon"] = json!(100);
            bond["updelay"] = json!(200);
            bond["downdelay"] = json!(300);
            bond["peerNotifyDelay"] = json!(500);
        }
        bond
    }

    fn bridge(&mut self, index: u32) -> Value {
        let mut bridge = self.object(BRIDGE);
        let links = [format!("eth{index}6"), format!("eth{index}7")];
        let count = self.random.below(3) as usize;
        bridge["interfaces"] = json!(links[..count]);
        bridge
    }

    fn wireguard(&mut self) -> Value {
        let mut wireguard = self.object(WIREGUARD);
        wireguard["privateKey"] = json!(KEY);
        if !self.random.one_in(6) {
            wireguard["peers"] = self.list(|maker, _| {
                let mut peer = maker.object(PEER);
                peer["publicKey"] = json!(KEY);
                peer
            });
        }
        wireguard
    }
}

/// 32 bytes that are nobody's key.
const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

const DEVICE: &[Key] = &[
    (
        "addresses",
        2,
        &["[]", r#"["10.0.0.10/24"]"#, r#"["fd00::10/64", "10.0.0.11"]"#, r#"["FD00:0::0002"]"#],
    ),
    ("mtu", 3, &["1500", "9000", "0"]),
    ("dhcp", 3, &["true", "true", "false"]),
    (
        "dhcpOptions",
        5,
        &[
            r#"{"routeMetric": 1024}"#,
            r#"{"routeMetric": 0, "ipv4": true, "ipv6": true}"#,
            r#"{"ipv4": false, "ipv6": true, "duidv6": "0001"}"#,
            r#"{"ipv4": false, "ipv6": false}"#,
        ],
    ),
    ("bridgePort", 9, &[r#"{"master": "br0"}"#]),
    ("ignore", 12, &["true", "false"]),
    ("dummy", 12, &["true", "false"]),
    // Anything else is deprecated, which is an error.
    ("cidr", 12, &[r#""""#]),
];

const DEVICE_SELECTORS: &[&str] = &[
    r#"{"hardwareAddr": "00:11:22:33:44:5*"}"#,
    r#"{"hardwareAddr": "00:11:22:33:44:55"}"#,
    r#"{"driver": "mlx5*", "physical": true}"#,
    r#"{"busPath": "0000:03:00.*", "physical": false}"#,
    r#"{"pciID": "8086:*", "permanentAddr": "aa:*"}"#,
    r#"{"physical": true}"#,
];

const SHARED_ADDRESS: &[Key] = &[
    ("hcloud", 4, &[r#"{"apiToken": "token"}"#]),
    ("equinixMetal", 4, &[r#"{"apiToken": "token"}"#]),
];

const GATEWAYS: &[&str] = &[r#""10.0.0.1""#, r#""fd00::1""#];

const ROUTE: &[Key] = &[
    ("network", 2, &[r#""0.0.0.0/0""#, r#""::/0""#, r#""10.20.0.0/16""#, r#""10.20.0.5/16""#]),
    ("gateway", 2, GATEWAYS),
    ("metric", 3, &["100", "0"]),
    ("source", 4, &[r#""10.0.0.10""#]),
    ("mtu", 4, &["1400"]),
];

const VLAN: &[Key] = &[
    ("dhcp", 2, &["true", "true", "false"]),
    (
        "dhcpOptions",
        3,
        &[
            r#"{"routeMetric": 50}"#,
            r#"{"ipv4": false, "ipv6": true}"#,
            r#"{"ipv4": true, "ipv6": true, "duidv6": "0002"}"#,
        ],
    ),
    ("mtu", 3, &["1400", "0"]),
];

const VLAN_ADDRESSES: &[&str] = &["[]", r#"["10.10.0.2/24"]"#, r#"["fd00:10::2", "10.10.0.3/24"]"#];

const MODES: &[&str] = &[
    "802.3ad",
    "active-backup",
    "balance-rr",
    "balance-alb",
    "balance-tlb",
    "balance-xor",
    "broadcast",
];

/// What bonds of all modes have.
const BOND: &[Key] = &[
    // These two only say something when they are refused.
    ("arpIPTarget", 4, &["[]"]),
    ("adActorSystem", 4, &[r#""""#]),
    ("arpAllTargets", 4, &[r#""any""#, r#""all""#]),
    ("xmitHashPolicy", 4, &[r#""layer2""#, r#""layer3+4""#, r#""layer2+3""#]),
    ("primaryReselect", 4, &[r#""always""#, r#""better""#, r#""failure""#]),
    ("failOverMac", 4, &[r#""none""#, r#""active""#, r#""follow""#]),
    ("adSelect", 4, &[r#""stable""#, r#""bandwidth""#, r#""count""#]),
    ("miimon", 3, &["100", "0"]),
    ("resendIgmp", 4, &["3"]),
    ("minLinks", 4, &["1", "0"]),
    ("lpInterval", 4, &["1"]),
    ("numPeerNotif", 4, &["2"]),
    ("allSlavesActive", 4, &["1", "0"]),
    ("useCarrier", 4, &["true", "false"]),
];

const BOND_802_3AD: &[Key] = &[
    ("lacpRate", 2, &[r#""fast""#, r#""slow""#]),
    ("adActorSysPrio", 2, &["65535"]),
    ("adUserPortKey", 2, &["7"]),
];

const BOND_ACTIVE_BACKUP: &[Key] = &[
    ("arpInterval", 3, &["100"]),
    ("arpValidate", 3, &[r#""none""#, r#""active""#, r#""all""#]),
    ("primary", 3, &[r#""eth8""#]),
];

const BOND_BALANCED: &[Key] = &[("primary", 3, &[r#""eth8""#]), ("tlbDynamicLb", 2, &["1", "0"])];

const BOND_ROUND_ROBIN: &[Key] = &[
    ("packetsPerSlave", 2, &["1", "4"]),
    ("arpInterval", 3, &["100"]),
    ("arpValidate", 3, &[r#""none""#, r#""all""#]),
];

const BOND_WITH_ARP: &[Key] =
    &[("arpInterval", 3, &["100"]), ("arpValidate", 3, &[r#""none""#, r#""backup""#])];

const BRIDGE: &[Key] = &[
    ("stp", 2, &["{}", r#"{"enabled": true}"#, r#"{"enabled": false}"#]),
    ("vlan", 2, &["{}", r#"{"vlanFiltering": true}"#, r#"{"vlanFiltering": false}"#]),
];

const WIREGUARD: &[Key] = &[("listenPort", 2, &["51820", "0"]), ("firewallMark", 3, &["16", "0"])];

const PEER: &[Key] = &[
    ("endpoint", 2, &[r#""10.0.0.9:51820""#, r#""[fd00::9]:51820""#, r#""vpn.lan:51820""#]),
    ("persistentKeepaliveInterval", 2, &[r#""25s""#, r#""90s""#]),
    ("allowedIPs", 2, &["[]", r#"["10.8.0.0/24"]"#, r#"["10.8.0.0/24", "fd00:8::/64"]"#]),
];
