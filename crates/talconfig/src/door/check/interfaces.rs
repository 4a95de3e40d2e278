//! Rules for network interfaces: bonds and bridges, and the rules of Talos.

use std::collections::BTreeMap;

use talos_config::{Value, rules};

use super::Scope;
use crate::value_ext::ValueExt;

pub(super) fn check(devices: &[Value], scope: &mut Scope<'_, '_>) {
    let mut messages = Vec::new();
    let mut warnings = Vec::new();
    let mut bonded: BTreeMap<String, String> = BTreeMap::new();
    let mut bridged: BTreeMap<String, String> = BTreeMap::new();
    for device in devices {
        let name = device.text_at("interface");
        let quoted = rules::quoted(name);
        let (bond, bridge) = (device.get("bond"), device.get("bridge"));
        if bond.is_some() && bridge.is_some() {
            messages.push(format!("interface has both bridge and bond section set {quoted}"));
        }
        if let Some(bond) = bond {
            members(bond, name, "bonds", &mut bonded, &bridged, &mut messages);
            if !bond.items_at("interfaces").is_empty()
                && !bond.items_at("deviceSelectors").is_empty()
            {
                messages.push(format!("interface {quoted} has both interfaces and selectors set"));
            }
        }
        if let Some(bridge) = bridge {
            members(bridge, name, "bridges", &mut bridged, &bonded, &mut messages);
        }
        // One that is left alone may be anything.
        if !device.flag_at("ignore") {
            let problems = rules::interface(device, |name| bonded.contains_key(name));
            messages.extend(problems.errors);
            warnings.extend(problems.warnings);
        }
        // Warnings of earlier interfaces are repeated, as in talhelper.
        messages.extend(warnings.iter().cloned());
    }
    scope.error("InvalidNodeNetworkInterfaces", "networkInterfaces", messages);
}

/// Records the members of a bond or bridge, and reports those that belong to another one.
fn members(
    link: &Value,
    name: &str,
    kind: &str,
    own: &mut BTreeMap<String, String>,
    others: &BTreeMap<String, String>,
    messages: &mut Vec<String>,
) {
    for member in link.texts_at("interfaces") {
        let quoted = rules::quoted(&member);
        let this = rules::quoted(name);
        if let Some(other) = own.get(&member).filter(|other| *other != name) {
            let other = rules::quoted(other);
            messages.push(format!(
                "interface {quoted} is declared as part of two {kind}: {other} and {this}"
            ));
        }
        if let Some(other) = others.get(&member) {
            let other = rules::quoted(other);
            messages.push(format!(
                "interface {quoted} is declared as part of an interface and a bond: {other} and {this}"
            ));
        }
        own.insert(member, name.to_owned());
    }
}
