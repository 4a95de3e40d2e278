//! Network interfaces as documents, for the Talos releases that have them.
//!
//! Settings without a document are left out, as in talhelper: the check of the talconfig has
//! reported them, or they never had an effect.

use std::collections::BTreeSet;

use talos_config::{Data, Document, Value, rules};

use crate::door::documents::{document, object, text, texts};
use crate::error::{Error, ErrorDetail};
use crate::value_ext::ValueExt;

/// A receiver of debug lines.
pub(crate) type DebugSink<'a> = &'a dyn Fn(&dyn Fn() -> String);

/// Adds the documents of a list of interfaces.
pub(crate) fn documents(
    devices: &[Value],
    hostname: &str,
    debug: DebugSink<'_>,
    documents: &mut Vec<Document>,
) -> Result<(), Error> {
    if devices.is_empty() {
        return Ok(());
    }
    let say = |what: &str| debug(&|| format!("generating {what} config for {hostname}"));
    let named = named(devices);
    say("link alias");
    for (name, device) in &named {
        let Some(selector) = device.get("deviceSelector") else { continue };
        documents.extend(alias(name, selector, "link alias", debug)?);
    }
    say("bond member alias");
    for (name, device) in &named {
        let Some(bond) = device.get("bond") else { continue };
        for (index, selector) in bond.items_at("deviceSelectors").iter().enumerate() {
            let name = format!("{name}-m{index}");
            documents.extend(alias(&name, selector, "bond member alias", debug)?);
        }
    }
    say("bond");
    for (name, device) in &named {
        if let Some(bond) = device.get("bond") {
            documents.push(bond_document(name, bond, device)?);
        }
    }
    say("dhcp");
    for (name, device) in &named {
        if device.flag_at("dhcp") {
            dhcp(name, device.get("dhcpOptions"), documents);
        }
    }
    say("vip");
    for (name, device) in &named {
        if let Some(vip) = device.get("vip").filter(|vip| vip.has("ip")) {
            documents.push(shared_address(vip.text_at("ip"), name));
        }
    }
    say("link");
    for (name, device) in &named {
        let special = device.has("bond") || device.has("bridge") || device.has("wireguard");
        let says_something = !device.items_at("addresses").is_empty()
            || !device.items_at("routes").is_empty()
            || device.number_at("mtu") > 0;
        if !special && says_something {
            let mut fields = vec![("name", text(name))];
            fields.extend(common(device)?);
            documents.push(document("LinkConfig", fields));
        }
    }
    say("vlan");
    for (name, device) in &named {
        for vlan in device.items_at("vlans") {
            vlan_documents(name, vlan, documents);
        }
    }
    say("wireguard");
    for (name, device) in &named {
        if let Some(wireguard) = device.get("wireguard") {
            documents.push(wireguard_document(name, wireguard, device)?);
        }
    }
    say("bridge");
    for (name, device) in &named {
        if let Some(bridge) = device.get("bridge") {
            documents.push(bridge_document(name, bridge, device)?);
        }
    }
    Ok(())
}

/// Returns the interfaces with their names. An interface with a selector gets a generated name.
fn named(devices: &[Value]) -> Vec<(String, &Value)> {
    let mut used: BTreeSet<String> = devices
        .iter()
        .map(|device| device.text_at("interface").to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    devices
        .iter()
        .map(|device| {
            let name = device.text_at("interface");
            if !name.is_empty() || !device.has("deviceSelector") {
                return (name.to_owned(), device);
            }
            let kind = if device.has("bond") {
                "bond"
            } else if device.has("bridge") {
                "br"
            } else if device.has("wireguard") {
                "wg"
            } else {
                "ethSel"
            };
            let mut free = (0..).map(|number: u32| format!("{kind}{number}"));
            let name = free.find(|name| !used.contains(name)).unwrap_or_default();
            used.insert(name.clone());
            (name, device)
        })
        .collect()
}

/// Returns an alias for the link of a selector; `None` if the selector is empty.
fn alias(
    name: &str,
    selector: &Value,
    what: &str,
    debug: DebugSink<'_>,
) -> Result<Option<Document>, Error> {
    let mut conditions: Vec<String> = [
        ("hardwareAddr", "mac(link.hardware_addr)"),
        ("permanentAddr", "mac(link.permanent_addr)"),
        ("busPath", "link.bus_path"),
        ("driver", "link.driver"),
        ("pciID", "link.pciid"),
    ]
    .into_iter()
    .filter(|(key, _)| selector.has(key))
    .map(|(key, of)| format!("glob(\"{}\", {of})", selector.text_at(key)))
    .collect();
    if selector.has("physical") {
        let sign = if selector.flag_at("physical") { "==" } else { "!=" };
        conditions.push(format!("link.type {sign} 1"));
    }
    if conditions.is_empty() {
        return Ok(None);
    }
    let expression = conditions.join(" && ");
    rules::link_expression(&expression).map_err(|reason| {
        wrong(format!(
            "failed to generate {what} config for {name}: invalid CEL expression: {reason}"
        ))
    })?;
    debug(&|| {
        "WARNING: the selector MUST match exactly one device or Talos will refuse to continue, globbing is \
         technically not possible with LinkAliasConfig"
            .to_owned()
    });
    let selector = object(vec![("match", text(&expression))]);
    Ok(Some(document("LinkAliasConfig", vec![("name", text(name)), ("selector", selector)])))
}

fn bond_document(name: &str, bond: &Value, device: &Value) -> Result<Document, Error> {
    let mut links = bond.texts_at("interfaces");
    links.extend(
        (0..bond.items_at("deviceSelectors").len()).map(|index| format!("{name}-m{index}")),
    );
    let mut fields = vec![("name", text(name)), ("links", texts(&links))];
    for (from, to) in BOND_WORDS {
        if bond.has(from) {
            fields.push((to, text(bond.text_at(from))));
        }
    }
    for (from, to) in BOND_NUMBERS {
        if bond.number_at(from) > 0 {
            fields.push((to, Value::new(Data::Int(bond.number_at(from)))));
        }
    }
    if bond.has("useCarrier") {
        fields.push(("useCarrier", Value::new(Data::Bool(bond.flag_at("useCarrier")))));
    }
    fields.extend(common(device)?);
    Ok(document("BondConfig", fields))
}

/// The settings of a bond: the key of the talconfig and that of the document.
const BOND_WORDS: [(&str, &str); 8] = [
    ("mode", "bondMode"),
    ("xmitHashPolicy", "xmitHashPolicy"),
    ("lacpRate", "lacpRate"),
    ("arpValidate", "arpValidate"),
    ("arpAllTargets", "arpAllTargets"),
    ("primaryReselect", "primaryReselect"),
    ("failOverMac", "failOverMac"),
    ("adSelect", "adSelect"),
];

const BOND_NUMBERS: [(&str, &str); 14] = [
    ("miimon", "miimon"),
    ("updelay", "updelay"),
    ("downdelay", "downdelay"),
    ("arpInterval", "arpInterval"),
    ("resendIgmp", "resendIGMP"),
    ("minLinks", "minLinks"),
    ("lpInterval", "lpInterval"),
    ("packetsPerSlave", "packetsPerSlave"),
    ("numPeerNotif", "numPeerNotif"),
    ("tlbDynamicLb", "tlbLogicalLb"),
    ("allSlavesActive", "allSlavesActive"),
    ("adActorSysPrio", "adActorSysPrio"),
    ("adUserPortKey", "adUserPortKey"),
    ("peerNotifyDelay", "peerNotifDelay"),
];

fn dhcp(name: &str, options: Option<&Value>, documents: &mut Vec<Document>) {
    let nothing = object(Vec::new());
    let options = options.unwrap_or(&nothing);
    let metric = options.number_at("routeMetric");
    let mut fields = vec![("name", text(name))];
    if metric > 0 {
        fields.push(("routeMetric", Value::new(Data::Int(metric))));
    }
    if !options.has("ipv4") || options.flag_at("ipv4") {
        documents.push(document("DHCPv4Config", fields.clone()));
    }
    if options.flag_at("ipv6") {
        documents.push(document("DHCPv6Config", fields));
    }
}

fn shared_address(address: &str, link: &str) -> Document {
    document("Layer2VIPConfig", vec![("name", text(address)), ("link", text(link))])
}

fn vlan_documents(parent: &str, vlan: &Value, documents: &mut Vec<Document>) {
    let id = vlan.number_at("vlanId");
    if id <= 0 {
        return;
    }
    let name = format!("{parent}.{id}");
    let mut fields = vec![
        ("name", text(&name)),
        ("vlanID", Value::new(Data::Int(id))),
        ("parent", text(parent)),
    ];
    if vlan.number_at("mtu") > 0 {
        fields.push(("mtu", Value::new(Data::Int(vlan.number_at("mtu")))));
    }
    let addresses = vlan.texts_at("addresses");
    let addresses = addresses.iter().filter_map(|address| rules::prefix(address));
    fields.push((
        "addresses",
        list(addresses.map(|address| object(vec![("address", text(&address))]))),
    ));
    fields
        .push(("routes", list(vlan.items_at("routes").iter().filter_map(|item| route(item).ok()))));
    documents.push(document("VLANConfig", fields));
    if vlan.flag_at("dhcp") {
        dhcp(&name, vlan.get("dhcpOptions"), documents);
    }
    if let Some(vip) = vlan.get("vip") {
        documents.push(shared_address(vip.text_at("ip"), &name));
    }
}

fn wireguard_document(name: &str, wireguard: &Value, device: &Value) -> Result<Document, Error> {
    let mut fields = vec![("name", text(name))];
    if wireguard.has("privateKey") {
        fields.push(("privateKey", text(wireguard.text_at("privateKey"))));
    }
    for key in ["listenPort", "firewallMark"] {
        if wireguard.number_at(key) > 0 {
            fields.push((key, Value::new(Data::Int(wireguard.number_at(key)))));
        }
    }
    let peers = wireguard.items_at("peers").iter().map(|peer| {
        let mut fields = vec![("publicKey", text(peer.text_at("publicKey")))];
        // A host name cannot be written.
        if let Some(endpoint) = rules::address_and_port(peer.text_at("endpoint")) {
            fields.push(("endpoint", text(&endpoint)));
        }
        let interval = peer.text_at("persistentKeepaliveInterval");
        if rules::duration(interval).is_some_and(|nanoseconds| nanoseconds > 0) {
            fields.push(("persistentKeepaliveInterval", text(interval)));
        }
        let allowed: Vec<String> =
            peer.texts_at("allowedIPs").iter().filter_map(|net| rules::network(net).ok()).collect();
        fields.push(("allowedIPs", texts(&allowed)));
        object(fields)
    });
    fields.push(("peers", list(peers)));
    fields.extend(common(device)?);
    Ok(document("WireguardConfig", fields))
}

fn bridge_document(name: &str, bridge: &Value, device: &Value) -> Result<Document, Error> {
    let mut fields = vec![("name", text(name)), ("links", texts(&bridge.texts_at("interfaces")))];
    let flag = |value: bool| Value::new(Data::Bool(value));
    if let Some(stp) = bridge.get("stp").filter(|stp| stp.has("enabled")) {
        fields.push(("stp", object(vec![("enabled", flag(stp.flag_at("enabled")))])));
    }
    if bridge.get("vlan").is_some_and(|vlan| vlan.flag_at("vlanFiltering")) {
        fields.push(("vlan", object(vec![("filtering", flag(true))])));
    }
    fields.extend(common(device)?);
    Ok(document("BridgeConfig", fields))
}

/// Returns the fields that all links share.
fn common(device: &Value) -> Result<Vec<(&'static str, Value)>, Error> {
    let mut fields = Vec::new();
    let mtu = device.number_at("mtu");
    if mtu > 0 {
        fields.push(("mtu", Value::new(Data::Int(mtu))));
    }
    let mut addresses = Vec::new();
    for address in device.texts_at("addresses") {
        let prefix = rules::prefix(&address)
            .ok_or_else(|| wrong(rules::address(&address).err().unwrap_or_default()))?;
        addresses.push(object(vec![("address", text(&prefix))]));
    }
    if !addresses.is_empty() {
        fields.push(("addresses", list(addresses)));
    }
    let routes: Result<Vec<Value>, String> = device.items_at("routes").iter().map(route).collect();
    let routes = routes.map_err(wrong)?;
    if !routes.is_empty() {
        fields.push(("routes", list(routes)));
    }
    Ok(fields)
}

fn route(route: &Value) -> Result<Value, String> {
    let mut fields = Vec::new();
    let network = route.text_at("network");
    if !network.is_empty() {
        let network = rules::network(network)
            .map_err(|reason| format!("invalid network prefix: {reason}"))?;
        // No destination means everywhere, and is the only way to say so.
        if network != "0.0.0.0/0" && network != "::/0" {
            fields.push(("destination", text(&network)));
        }
    }
    for key in ["gateway", "source"] {
        if route.has(key) {
            fields.push((key, text(&rules::address(route.text_at(key))?)));
        }
    }
    for key in ["metric", "mtu"] {
        if route.number_at(key) > 0 {
            fields.push((key, Value::new(Data::Int(route.number_at(key)))));
        }
    }
    Ok(object(fields))
}

fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::new(Data::List(items.into_iter().collect()))
}

fn wrong(message: String) -> Error {
    Error::Machine(ErrorDetail::new(message))
}
