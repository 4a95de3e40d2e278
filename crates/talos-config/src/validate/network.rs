//! Rules for the documents about the network.

use std::collections::BTreeSet;

use super::Findings;
use super::cursor::Cursor;
use super::go_compat::{self, Prefix, quoted};
use crate::cel::{self, Environment};

/// Checks a document; false when its kind is none of these.
pub(super) fn check(kind: &str, root: Cursor<'_>, findings: &mut Findings) -> bool {
    match kind {
        "HostnameConfig" => hostname(root, findings),
        "ResolverConfig" => resolver(root, findings),
        "TimeSyncConfig" => time_sync(root, findings),
        "KubeSpanConfig" => kubespan(root, findings),
        "LinkConfig" | "DummyLinkConfig" | "BridgeConfig" => {
            name_specified(root, findings);
            link(root, findings);
        }
        "BondConfig" => bond(root, findings),
        "VLANConfig" => vlan(root, findings),
        "VRFConfig" => vrf(root, findings),
        "VethConfig" => veth(root, findings),
        "WireguardConfig" => wireguard(root, findings),
        "LinkAliasConfig" => link_alias(root, findings),
        "DHCPv4Config" | "DHCPv6Config" => dhcp(root, findings),
        "EthernetConfig" => findings.require(root.at("name"), "name is required"),
        "StaticHostConfig" => static_host(root, findings),
        "Layer2VIPConfig" => vip(root, findings),
        "HCloudVIPConfig" => {
            vip(root, findings);
            findings.require(root.at("apiToken"), "apiToken must be specified");
        }
        "BlackholeRouteConfig" => {
            let name = root.at("name");
            name_specified(root, findings);
            if let Err(reason) = go_compat::parse_prefix(name.text()) {
                findings.error(name, format!("name must be a valid address prefix: {reason}"));
            }
        }
        "RoutingRuleConfig" => routing_rule(root, findings),
        "NetworkRuleConfig" => rule(root, findings),
        "TCPProbeConfig" => {
            findings.require(root.at("name"), "probe name is required");
            findings.require(root.at("endpoint"), "TCP probe endpoint is required");
            probe(root, "TCP", findings);
        }
        "HTTPProbeConfig" => http_probe(root, findings),
        "BGPInstanceConfig" => bgp(root, findings),
        _ => return false,
    }
    true
}

fn name_specified(root: Cursor<'_>, findings: &mut Findings) {
    findings.require(root.at("name"), "name must be specified");
}

fn hostname(root: Cursor<'_>, findings: &mut Findings) {
    let (auto, hostname) = (root.at("auto"), root.at("hostname"));
    if !auto.is_set() && hostname.text().is_empty() {
        findings.error(root, "either 'auto' or 'hostname' must be set");
    }
    let off = matches!(auto.text(), "" | "off");
    if !off && !hostname.text().is_empty() {
        findings.error(root, "'auto' and 'hostname' cannot be set at the same time");
    }
    if !off && auto.text() != "stable" {
        findings.error(auto, format!("invalid value for 'auto': {}", auto.text()));
    }
    let length = hostname.text().len();
    if length > 253 {
        findings.error(hostname, format!("fqdn is too long: {length}"));
    }
    let first = hostname.text().split('.').next().unwrap_or_default();
    if length > 0 && (first.is_empty() || first.len() > 63) {
        findings.error(hostname, format!("invalid hostname {}", quoted(first)));
    }
}

fn resolver(root: Cursor<'_>, findings: &mut Findings) {
    let host_dns = root.at("hostDNS");
    for key in ["forwardKubeDNSToHost", "resolveMemberNames"] {
        if host_dns.at(key).flag() && !host_dns.at("enabled").flag() {
            let message = format!("hostDNS.{key} cannot be enabled when hostDNS.enabled is false");
            findings.error(host_dns.at(key), message);
        }
    }
    let servers = root.at("nameservers");
    let mut encrypted = 0;
    for (index, server) in servers.items().enumerate() {
        let named = !server.at("tlsServerName").text().is_empty();
        match server.at("protocol").text() {
            "" | "Do53" => {
                if named {
                    let message =
                        format!("tlsServerName must be empty when protocol is Do53: entry {index}");
                    findings.error(server, message);
                }
            }
            protocol => {
                encrypted += 1;
                if !named {
                    let message = format!(
                        "tlsServerName must be set when protocol is {protocol}: entry {index}"
                    );
                    findings.error(server, message);
                }
            }
        }
        if server.at("address").text().is_empty() {
            findings.error(server, format!("nameserver address must be a valid IP: entry {index}"));
        }
    }
    if encrypted > 0 && encrypted == servers.items().len() {
        findings.warn(
            servers,
            "all configured nameservers use encrypted DNS (DoT or DoH): validating certificates \
             requires a correct system clock, so boot may stall when NTP servers are configured by \
             hostname; consider keeping at least one plain-DNS fallback or configuring NTP servers \
             by IP address",
        );
    }
}

fn time_sync(root: Cursor<'_>, findings: &mut Findings) {
    findings.not_negative(root.at("bootTimeout"), "bootTimeout cannot be negative");
    let (ntp, ptp) = (root.at("ntp"), root.at("ptp"));
    if ntp.is_set() && ptp.is_set() {
        findings.error(ptp, "only one of ntp or ptp configuration can be specified");
    }
    if ntp.at("useNTS").flag() {
        for server in ntp.at("servers").items().filter(|server| go_compat::is_ip(server.text())) {
            let text = quoted(server.text());
            findings.error(server, format!("NTS requires hostnames, not IP addresses: {text}"));
        }
    }
}

fn kubespan(root: Cursor<'_>, findings: &mut Findings) {
    let mtu = root.at("mtu");
    if mtu.is_set() && mtu.number() < 1280 {
        findings.error(mtu, "kubespan link MTU must be at least 1280");
    }
    kubespan_endpoints(root.at("filters.endpoints"), findings);
}

pub(super) fn kubespan_endpoints(endpoints: Cursor<'_>, findings: &mut Findings) {
    for endpoint in endpoints.items() {
        let text = endpoint.without_negation();
        if !go_compat::is_subnet_or_address(text) {
            let message = format!("KubeSpan endpoint filter is not valid: {}", quoted(text));
            findings.error(endpoint, message);
        }
    }
}

/// What all links have.
fn link(root: Cursor<'_>, findings: &mut Findings) {
    for (index, item) in root.at("addresses").items().enumerate() {
        let address = item.at("address");
        if address.text().is_empty() {
            findings.error(item, format!("address {index} must be specified"));
        } else if is_unspecified(address) {
            findings.error(address, format!("address {index} must be a valid IP address"));
        }
    }
    for (index, route) in root.at("routes").items().enumerate() {
        for (key, what) in
            [("destination", "IP prefix"), ("gateway", "IP address"), ("source", "IP address")]
        {
            if is_unspecified(route.at(key)) {
                let message = format!("route {index} {key} must be a valid {what}");
                findings.error(route.at(key), message);
            }
        }
    }
}

/// Whether an address, with or without a prefix length, is all zeros.
fn is_unspecified(cursor: Cursor<'_>) -> bool {
    let text = cursor.text();
    let address = text.split_once('/').map_or(text, |(address, _)| address);
    matches!(address, "0.0.0.0" | "::")
}

fn bond(root: Cursor<'_>, findings: &mut Findings) {
    name_specified(root, findings);
    if root.at("links").is_empty() {
        findings.error(root.at("links"), "at least one link must be specified");
    }
    let mode = root.at("bondMode");
    if !mode.is_set() {
        findings.error(mode, "bond mode must be specified");
    } else if mode.text() == "802.3ad" {
        for key in ["miimon", "updelay", "downdelay"] {
            if !root.at(key).is_set() {
                findings.warn(root, format!("{key} was not specified for 802.3ad bond"));
            }
        }
    }
    link(root, findings);
}

fn vlan(root: Cursor<'_>, findings: &mut Findings) {
    name_specified(root, findings);
    let id = root.at("vlanID");
    if !(1..=4094).contains(&id.number()) {
        findings.error(id, "vlanID must be specified and between 1 and 4094");
    }
    findings.require(root.at("parent"), "parent must be specified");
    link(root, findings);
}

fn vrf(root: Cursor<'_>, findings: &mut Findings) {
    name_specified(root, findings);
    let table = root.at("table");
    let name = if table.is_set() { table.text() } else { "unspec" };
    if matches!(name, "unspec" | "local" | "main" | "default") {
        findings.error(table, format!("cannot create vrf with reserved table {name}"));
    }
    link(root, findings);
}

fn veth(root: Cursor<'_>, findings: &mut Findings) {
    let (name, peer) = (root.at("name"), root.at("peer.name"));
    for (cursor, what) in [(name, "name"), (peer, "peer name")] {
        if let Some(problem) = link_name_problem(cursor.text()) {
            findings.error(cursor, format!("{what} must {problem}"));
        }
    }
    if !name.text().is_empty() && name.text() == peer.text() {
        findings.error(peer, "name and peer name must be different");
    }
    link(root, findings);
    link(root.at("peer"), findings);
}

fn link_name_problem(name: &str) -> Option<String> {
    let invisible = |c: char| !go_compat::is_print(c) || c.is_whitespace();
    Some(match name {
        "" => "be specified".to_owned(),
        _ if name.len() > 15 => "not exceed 15 bytes".to_owned(),
        "." | ".." => format!("not be {}", quoted(name)),
        _ if name.contains(['/', ':']) => "not contain '/' or ':'".to_owned(),
        _ if name.contains(invisible) => {
            "not contain whitespace or non-printable characters".to_owned()
        }
        _ => return None,
    })
}

fn wireguard(root: Cursor<'_>, findings: &mut Findings) {
    name_specified(root, findings);
    let private = root.at("privateKey");
    if private.text().is_empty() {
        findings.error(private, "wireguard private key must be specified");
    } else if let Err(reason) = wireguard_key(private.text()) {
        findings.error(private, format!("wireguard private key is invalid: {reason}"));
    }
    let port = root.at("listenPort");
    if !(0..=65535).contains(&port.number()) {
        findings.error(port, "wireguard listen port must be between 0 and 65535");
    }
    for (index, peer) in root.at("peers").items().enumerate() {
        let at = format!("(peer index {index})");
        let (public, shared) = (peer.at("publicKey"), peer.at("presharedKey"));
        if public.text().is_empty() {
            findings.error(peer, format!("wireguard peer public key must be specified {at}"));
        } else if let Err(reason) = wireguard_key(public.text()) {
            findings.error(public, format!("wireguard peer public key is invalid {at}: {reason}"));
        }
        if !shared.text().is_empty()
            && let Err(reason) = wireguard_key(shared.text())
        {
            let message = format!("wireguard peer preshared key is invalid {at}: {reason}");
            findings.error(shared, message);
        }
        findings.not_negative(
            peer.at("persistentKeepaliveInterval"),
            format!("wireguard peer persistent keepalive interval cannot be negative {at}"),
        );
    }
    link(root, findings);
}

fn wireguard_key(text: &str) -> Result<(), String> {
    match go_compat::base64_length(text)? {
        32 => Ok(()),
        _ => Err("invalid wireguard key length".to_owned()),
    }
}

fn link_alias(root: Cursor<'_>, findings: &mut Findings) {
    let name = root.at("name");
    name_specified(root, findings);
    if let Some((prefix, verb)) = name.text().split_once('%')
        && (verb != "d" || prefix.is_empty())
    {
        let text = quoted(name.text());
        let message = format!("name {text} contains an invalid format verb, use %d suffix");
        findings.error(name, message);
    }
    let selector = root.at("selector.match");
    if !selector.is_set() {
        findings.error(root.at("selector"), "link selector is required");
    } else if let Err(reason) = cel::check(selector.text(), Environment::Link) {
        findings.error(selector, format!("link selector is invalid: {reason}"));
    }
}

fn dhcp(root: Cursor<'_>, findings: &mut Findings) {
    name_specified(root, findings);
    let duid = root.at("duidRaw");
    let by_duid = root.at("clientIdentifier").text() == "duid";
    if !duid.text().is_empty() && !by_duid {
        findings.error(duid, "duidRaw can only be set if clientIdentifier is 'duid'");
    }
    if duid.text().is_empty() && by_duid {
        findings.error(root, "duidRaw must be set if clientIdentifier is 'duid'");
    }
}

fn static_host(root: Cursor<'_>, findings: &mut Findings) {
    let name = root.at("name");
    findings.require(name, "name is required");
    if go_compat::parse_addr(name.text()).is_err() {
        findings.error(name, "name must be a valid IP address");
    }
    if root.at("hostnames").is_empty() {
        findings.error(root, "at least one hostname is required");
    }
}

fn vip(root: Cursor<'_>, findings: &mut Findings) {
    let name = root.at("name");
    if name.text().is_empty() {
        findings.error(name, "name must be specified");
    } else if let Err(reason) = go_compat::parse_addr(name.text()) {
        findings.error(name, format!("name must be a valid IP address: {reason}"));
    }
    findings.require(root.at("link"), "link must be specified");
}

fn routing_rule(root: Cursor<'_>, findings: &mut Findings) {
    let name = root.at("name");
    name_specified(root, findings);
    let priority = go_compat::parse_uint(name.text(), 32);
    if let Err(reason) = &priority {
        let message = format!("invalid name: must be priority parsable unsigned integer: {reason}");
        findings.error(name, message);
    }
    // Go's reader leaves the greatest number behind when a number is too great, and zero otherwise.
    let too_great = priority.as_ref().is_err_and(|reason| reason.ends_with("value out of range"));
    let priority = priority.unwrap_or(if too_great { u64::from(u32::MAX) } else { 0 });
    if [0, 32500, 32766, 32767].contains(&priority) {
        findings.error(
            name,
            "priority must be between 1 and 32765 (excluding reserved priorities [0 32500 32766 \
             32767])",
        );
    }
    let unicast = matches!(root.at("action").text(), "" | "unspec" | "unicast");
    if !root.at("table").is_set() && unicast {
        findings.error(root, "either table or a non-unicast action must be specified");
    }
    if root.at("fwMask").number() != 0 && root.at("fwMark").number() == 0 {
        findings.error(root.at("fwMask"), "fwMask requires fwMark to be set");
    }
}

fn rule(root: Cursor<'_>, findings: &mut Findings) {
    if root.at("name").text().is_empty() {
        findings.error(root, "name is required");
        return;
    }
    let ports = root.at("portSelector.ports");
    if ports.is_empty() {
        findings.error(ports, "portSelector.ports is required");
        return;
    }
    if let Err(reason) = port_ranges(ports) {
        findings.error(ports, reason);
        return;
    }
    for ingress in root.at("ingress").items() {
        if ingress.at("subnet").text().is_empty() {
            findings.error(ingress, "invalid subnet: invalid Prefix");
            return;
        }
    }
}

fn port_ranges(ports: Cursor<'_>) -> Result<(), String> {
    let mut ranges: Vec<(u32, u32)> = ports.items().map(port_range).collect();
    ranges.sort_by_key(|(first, _)| *first);
    let show = |(first, last): (u32, u32)| format!("{first}-{last}");
    let mut before = None;
    for range in ranges {
        if range.0 > range.1 {
            return Err(format!("invalid port range: {}", show(range)));
        }
        if let Some(other) = before.filter(|other: &(u32, u32)| range.0 <= other.1) {
            let (range, other) = (show(range), show(other));
            return Err(format!("invalid port range: {range}, overlaps with {other}"));
        }
        before = Some(range);
    }
    Ok(())
}

fn port_range(cursor: Cursor<'_>) -> (u32, u32) {
    match cursor.text().split_once('-') {
        Some((first, last)) => {
            (first.parse().unwrap_or_default(), last.parse().unwrap_or_default())
        }
        None => {
            let port = u32::try_from(cursor.number()).unwrap_or_default();
            (port, port)
        }
    }
}

fn http_probe(root: Cursor<'_>, findings: &mut Findings) {
    findings.require(root.at("name"), "probe name is required");
    let cursor = root.at("url");
    match cursor.url() {
        None => findings.error(cursor, "HTTP probe URL is required"),
        Some(url) if !matches!(url.scheme.as_str(), "http" | "https") => {
            let scheme = quoted(&url.scheme);
            let message = format!("HTTP probe URL scheme must be http or https, got {scheme}");
            findings.error(cursor, message);
        }
        Some(url) if !url.opaque.is_empty() || url.host_name().is_empty() => findings.error(
            cursor,
            "HTTP probe URL must be an absolute http or https URL with a non-empty host",
        ),
        Some(_) => {}
    }
    probe(root, "HTTP", findings);
}

/// What all probes have.
fn probe(root: Cursor<'_>, what: &str, findings: &mut Findings) {
    let (timeout, interval) = (root.at("timeout"), root.at("interval"));
    findings.not_negative(
        timeout,
        format!("{what} probe timeout cannot be negative: {}", timeout.text()),
    );
    findings
        .not_negative(interval, format!("probe interval cannot be negative: {}", interval.text()));
    let threshold = root.at("failureThreshold");
    if threshold.number() < 0 {
        let message = format!("probe failure threshold cannot be negative: {}", threshold.number());
        findings.error(threshold, message);
    }
}

fn bgp(root: Cursor<'_>, findings: &mut Findings) {
    name_specified(root, findings);
    if root.at("localASN").number() == 0 {
        findings.error(root, "localASN must be specified");
    }
    let router = root.at("routerID");
    if router.text().contains(':') {
        findings.error(router, "routerID must be an IPv4 address");
    }
    let neighbors = root.at("neighbors");
    if neighbors.is_empty() {
        findings.warn(neighbors, "BGPInstanceConfig has no neighbors configured");
    }
    let mut seen = BTreeSet::new();
    for (index, neighbor) in neighbors.items().enumerate() {
        let (address, link) = (neighbor.at("address").text(), neighbor.at("link").text());
        let one = address.is_empty() != link.is_empty();
        if !one {
            let message = format!("neighbor[{index}]: exactly one of address or link must be set");
            findings.error(neighbor, message);
        }
        bgp_behavior(index, neighbor, root.at("vrf"), findings);
        let key = if address.is_empty() { link } else { address };
        if one && !seen.insert(key) {
            let message = format!("neighbor[{index}]: duplicate neighbor {}", quoted(key));
            findings.error(neighbor, message);
        }
    }
    bgp_imports(root, findings);
}

fn bgp_behavior(index: usize, neighbor: Cursor<'_>, vrf: Cursor<'_>, findings: &mut Findings) {
    let negative = |key: &str| format!("neighbor[{index}]: {key} must not be negative");
    findings.not_negative(neighbor.at("holdTime"), negative("holdTime"));
    let bfd = neighbor.at("bfd");
    if bfd.is_set() && !vrf.text().is_empty() {
        let message =
            format!("neighbor[{index}]: bfd is not supported for VRF-bound BGP instances");
        findings.error(bfd, message);
    }
    for key in ["bfd.transmitInterval", "bfd.receiveInterval"] {
        findings.not_negative(neighbor.at(key), negative(key));
    }
}

fn bgp_imports(root: Cursor<'_>, findings: &mut Findings) {
    let mut sources = BTreeSet::new();
    let mut earlier: Vec<(usize, &str, Prefix)> = Vec::new();
    for (index, route) in root.at("importRoutes").items().enumerate() {
        let at = format!("importRoutes[{index}]");
        let source = route.at("bgpInstance").text();
        // An instance without a name equals the one it imports from; that one is reported first.
        if source.is_empty() {
            findings.error(route, format!("{at}: bgpInstance must be specified"));
        } else if source == root.at("name").text() {
            let source = quoted(source);
            let message = format!("{at}: cannot import from the same BGP instance {source}");
            findings.error(route, message);
        }
        let prefixes: Vec<(Cursor<'_>, Option<Prefix>)> = route
            .at("prefixes")
            .items()
            .map(|cursor| (cursor, Prefix::parse(cursor.text())))
            .collect();
        if prefixes.is_empty() {
            findings.error(route, format!("{at}: at least one prefix must be specified"));
        }
        for (position, (cursor, prefix)) in prefixes.iter().enumerate() {
            let (at, text) = (format!("{at}.prefixes[{position}]"), cursor.text());
            let Some(prefix) = prefix else {
                findings.error(*cursor, format!("{at}: invalid prefix"));
                continue;
            };
            if !prefix.is_masked() {
                findings.error(*cursor, format!("{at}: prefix {text} must be masked"));
            }
            for (other_position, (other_place, other)) in prefixes[..position].iter().enumerate() {
                if other.as_ref().is_some_and(|other| other.overlaps(prefix)) {
                    let other = other_place.text();
                    let message =
                        format!("{at}: prefix {text} overlaps prefixes[{other_position}] {other}");
                    findings.error(*cursor, message);
                }
            }
        }
        if !source.is_empty() && !sources.insert(source) {
            let source = quoted(source);
            findings.error(route, format!("{at}: duplicate source BGP instance {source}"));
        }
        for (cursor, prefix) in prefixes {
            let Some(prefix) = prefix.filter(Prefix::is_masked) else { continue };
            for (other_index, other_text, other) in &earlier {
                if *other_index != index && other.overlaps(&prefix) {
                    let message = format!(
                        "{at}: prefix {} overlaps importRoutes[{other_index}] prefix {other_text}",
                        cursor.text()
                    );
                    findings.error(cursor, message);
                }
            }
            earlier.push((index, cursor.text(), prefix));
        }
    }
}
