//! Rules for the network interfaces of the oldest document.

use std::collections::BTreeMap;

use super::go_compat::{self, quoted};
use super::{Cursor, Findings};

const EXCLUSIVE: &str = "config sections are mutually exclusive";

pub(super) fn check(network: Cursor<'_>, findings: &mut Findings) {
    let mut members: BTreeMap<&str, &str> = BTreeMap::new();
    for device in network.at("interfaces").items() {
        let name = device.at("interface").text();
        let (bond, bridge) = (device.at("bond"), device.at("bridge"));
        if bond.is_set() && bridge.is_set() {
            let name = quoted(name);
            let message =
                format!("interface has both bridge and bond sections set {name}: {EXCLUSIVE}");
            findings.error(device, message);
        }
        if !bond.at("interfaces").is_empty() && !bond.at("deviceSelectors").is_empty() {
            let name = quoted(name);
            let message =
                format!("interface {name} has both interfaces and selectors set: {EXCLUSIVE}");
            findings.error(bond, message);
        }
        let links = if bridge.is_set() { bridge } else { bond };
        for member in links.at("interfaces").items() {
            let other = members.insert(member.text(), name);
            if let Some(other) = other.filter(|other| *other != name) {
                let message = format!(
                    "interface {} is declared as part of two separate links: {} and {}",
                    quoted(member.text()),
                    quoted(other),
                    quoted(name)
                );
                findings.error(member, message);
            }
        }
    }
    for device in network.at("interfaces").items() {
        if device.at("ignore").flag() {
            continue;
        }
        check_one(device, |name| members.contains_key(name), findings);
    }
    let kubespan = network.at("kubespan");
    let mtu = kubespan.at("mtu");
    if kubespan.at("enabled").flag() && (1..1280).contains(&mtu.number()) {
        findings.error(mtu, "kubespan link MTU must be at least 1280");
    }
}

/// The rules that one interface must keep; `is_member`: whether an interface of a name is part of another.
pub(super) fn check_one(
    device: Cursor<'_>,
    is_member: impl Fn(&str) -> bool,
    findings: &mut Findings,
) {
    selection(device, findings);
    if device.at("bond").is_set() {
        check_bond(device.at("bond"), findings);
    }
    if device.at("wireguard").is_set() {
        wireguard(device.at("wireguard"), findings);
    }
    vlans(device, findings);
    addressing(device, is_member, findings);
    routes(device.at("routes"), findings);
}

fn selection(device: Cursor<'_>, findings: &mut Findings) {
    const KEYS: &str = "[networking.os.device.interface], [networking.os.device.deviceSelector]";
    let selector = device.at("deviceSelector");
    match (device.at("interface").text().is_empty(), selector.is_set()) {
        (true, false) => {
            findings.error(device, format!("{KEYS}: required either config section to be set"));
        }
        (false, true) => findings.error(device, format!("{KEYS}: {EXCLUSIVE}")),
        _ => {}
    }
    if selector.is_set() && selector.is_empty() {
        findings.error(
            selector,
            "[networking.os.device.deviceSelector]: config section should contain at least one \
             field",
        );
    }
}

/// The words of a bond's settings, and what a wrong one is called.
const BOND_WORDS: &[(&str, &[&str], &str)] = &[
    (
        "mode",
        &[
            "balance-rr",
            "active-backup",
            "balance-xor",
            "broadcast",
            "802.3ad",
            "balance-tlb",
            "balance-alb",
        ],
        "bond type",
    ),
    (
        "xmitHashPolicy",
        &["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4"],
        "xmit hash policy",
    ),
    ("lacpRate", &["slow", "fast"], "lacp rate"),
    (
        "arpValidate",
        &["none", "active", "backup", "all", "filter", "filter-active", "filter-backup"],
        "arp_validate mode",
    ),
    ("arpAllTargets", &["any", "all"], "arp_all_targets mode"),
    ("primaryReselect", &["always", "better", "failure"], "primary_reselect mode"),
    ("failOverMac", &["none", "active", "follow"], "fail_over_mac value"),
    ("adSelect", &["stable", "bandwidth", "count"], "ad_select mode"),
];

fn check_bond(bond: Cursor<'_>, findings: &mut Findings) {
    for (key, words, what) in BOND_WORDS {
        let word = bond.at(key);
        if !word.text().is_empty() && !words.contains(&word.text()) {
            findings.error(word, format!("invalid {what} {}", word.text()));
        }
    }
    let monitor = bond.at("miimon").number();
    for (key, name) in [("updelay", "upDelay"), ("downdelay", "downDelay")] {
        let delay = bond.at(key);
        if monitor == 0 && delay.number() != 0 {
            findings.error(delay, format!("bond.{name} can't be set if miiMon is zero"));
        } else if monitor != 0 && delay.number() % monitor != 0 {
            findings.error(delay, format!("bond.{name} should be a multiple of miiMon"));
        }
    }
    // A mode that is none counts as the first one.
    let written = bond.at("mode").text();
    let known = BOND_WORDS[0].1.iter().find(|word| **word == written);
    let mode = known.copied().unwrap_or("balance-rr");
    let lacp = mode == "802.3ad";
    let balancing = matches!(mode, "balance-tlb" | "balance-alb");
    let one_at_a_time = mode == "active-backup" || balancing;
    let text = |key: &str| !bond.at(key).text().is_empty();
    let positive = |key: &str| bond.at(key).number() > 0;
    let only_lacp = |name: &str| format!("bond.{name} is only available in 802.3ad mode");
    let unavailable = |name: &str| format!("bond.{name} is not available in {mode} mode");
    let unsupported = |name: &str| format!("bond.{name} is not supported");
    for (wrong, key, message) in [
        (!bond.at("arpIPTarget").is_empty(), "arpIPTarget", unsupported("arpIPTarget")),
        (text("lacpRate") && !lacp, "lacpRate", only_lacp("lacpRate")),
        (text("adActorSystem"), "adActorSystem", unsupported("adActorSystem")),
        (text("arpValidate") && (lacp || balancing), "arpValidate", unavailable("arpValidate")),
        (text("primary") && !one_at_a_time, "primary", unavailable("primary")),
        (positive("arpInterval") && (lacp || balancing), "arpInterval", unavailable("arpInterval")),
        (
            bond.at("packetsPerSlave").number() > 1 && mode != "balance-rr",
            "packetsPerSlave",
            unavailable("packetsPerSlave"),
        ),
        (positive("tlbDynamicLb") && !balancing, "tlbDynamicLb", unavailable("tlbDynamicTLB")),
        (positive("adActorSysPrio") && !lacp, "adActorSysPrio", only_lacp("adActorSysPrio")),
        (positive("adUserPortKey") && !lacp, "adUserPortKey", only_lacp("adUserPortKey")),
    ] {
        if wrong {
            findings.error(bond.at(key), message);
        }
    }
}

fn wireguard(wireguard: Cursor<'_>, findings: &mut Findings) {
    if let Err(reason) = key(wireguard.at("privateKey").text(), true) {
        findings.error(wireguard, format!("private key is invalid: {reason}"));
    }
    for peer in wireguard.at("peers").items() {
        if let Err(reason) = key(peer.at("publicKey").text(), false) {
            findings.error(peer, format!("public key invalid: {reason}"));
        }
        let endpoint = peer.at("endpoint");
        if !endpoint.text().is_empty() && !has_port(endpoint.text()) {
            let message = format!("peer endpoint {} is invalid", quoted(endpoint.text()));
            findings.error(endpoint, message);
        }
        for allowed in peer.at("allowedIPs").items() {
            if let Err(reason) = go_compat::parse_cidr(allowed.text()) {
                let allowed_ip = quoted(allowed.text());
                findings
                    .error(allowed, format!("peer allowed IP {allowed_ip} is invalid: {reason}"));
            }
        }
    }
}

/// A key of 32 bytes. A private one is not shown.
fn key(text: &str, private: bool) -> Result<(), String> {
    match go_compat::base64_length(text)? {
        32 => Ok(()),
        length => {
            let shown = if private && !text.is_empty() { crate::REDACTED } else { text };
            Err(format!("wrong key {} length: {length}", quoted(shown)))
        }
    }
}

fn has_port(address: &str) -> bool {
    go_compat::split_host_port(address)
        .is_ok_and(|(host, _)| !host.contains(':') || go_compat::parse_addr(host).is_ok())
}

fn vlans(device: Cursor<'_>, findings: &mut Findings) {
    let parent = device.at("interface").text();
    for vlan in device.at("vlans").items() {
        let name = format!("{parent}.{}", vlan.at("vlanId").number());
        let (cidr, addresses) = (vlan.at("cidr"), vlan.at("addresses"));
        if !addresses.is_empty() && !cidr.text().is_empty() {
            let message = format!(
                "[networking.os.device.vlan] {name}: vlan can't have both .cidr and .addresses set"
            );
            findings.error(vlan, message);
        }
        if !cidr.text().is_empty()
            && let Err(reason) = address(cidr.text())
        {
            findings.error(cidr, format!("[networking.os.device.vlan.CIDR] {name}: {reason}"));
        }
        for item in addresses.items() {
            if let Err(reason) = address(item.text()) {
                let message = format!("[networking.os.device.vlan.addresses] {name}: {reason}");
                findings.error(item, message);
            }
        }
    }
}

/// An address with or without a prefix length.
fn address(text: &str) -> Result<(), String> {
    if text.contains('/') {
        return go_compat::parse_cidr(text);
    }
    if go_compat::is_ip(text) {
        Ok(())
    } else {
        Err(format!("failed to parse IP address {}", quoted(text)))
    }
}

fn addressing(device: Cursor<'_>, is_member: impl Fn(&str) -> bool, findings: &mut Findings) {
    let interface = device.at("interface").text();
    let name = quoted(interface);
    let (cidr, addresses, vip) = (device.at("cidr"), device.at("addresses"), device.at("vip"));
    let has_cidr = !cidr.text().is_empty();
    let addressed = device.at("dhcp").flag() || has_cidr || !addresses.is_empty() || vip.is_set();
    if is_member(interface) && addressed {
        let message = format!(
            "[networking.os.device] {name}: bonded/bridged interface shouldn't have any addressing \
             methods configured"
        );
        findings.error(device, message);
    }
    if has_cidr && !addresses.is_empty() {
        let message = format!(
            "[networking.os.device] {name}: interface can't have both .cidr and .addresses set"
        );
        findings.error(device, message);
    }
    if has_cidr {
        if let Err(reason) = address(cidr.text()) {
            findings.error(cidr, format!("[networking.os.device.CIDR] {name}: {reason}"));
        }
        let message = format!(
            "{name}: machine.network.interface.cidr is deprecated, please use \
             machine.network.interface.addresses"
        );
        findings.warn(cidr, message);
    }
    for item in addresses.items() {
        if let Err(reason) = address(item.text()) {
            findings.error(item, format!("[networking.os.device.addresses] {name}: {reason}"));
        }
    }
    let ip = vip.at("ip");
    if vip.is_set() && !go_compat::is_ip(ip.text()) {
        let text = quoted(ip.text());
        let message = format!("[networking.os.device.vip] failed to parse {text} as IP address");
        findings.error(ip, message);
    }
}

fn routes(routes: Cursor<'_>, findings: &mut Findings) {
    for (index, route) in routes.items().enumerate() {
        let wrong = |findings: &mut Findings, key: &str| {
            let text = quoted(route.at(key).text());
            let message = format!(
                "[networking.os.device.route[{index}].{key}] {text}: invalid network address"
            );
            findings.error(route.at(key), message);
        };
        let (network, gateway) = (route.at("network").text(), route.at("gateway").text());
        if !network.is_empty() && go_compat::parse_cidr(network).is_err() {
            wrong(findings, "network");
        }
        if !gateway.is_empty() && !go_compat::is_ip(gateway) {
            wrong(findings, "gateway");
        }
        if gateway.is_empty() && network.is_empty() {
            let message = format!(
                "[networking.os.device.route[{index}]]: either network or gateway should be set"
            );
            findings.error(route, message);
        }
        let source = route.at("source").text();
        if !source.is_empty() && !go_compat::is_ip(source) {
            wrong(findings, "source");
        }
    }
}
