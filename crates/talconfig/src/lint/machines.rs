//! Rules about what machines and their groups say.

use std::collections::BTreeMap;

use talos_config::rules;
use talos_config::yaml::Node;

use super::Violation;
use super::directory::{
    Directory, PatchText, entries, entry, is_null, is_true, items, key_text, word,
};
use crate::door::schema::{SHARED, Type};

/// Labels of a control plane take the place of the one that keeps load balancers away from it.
pub(super) fn default_label(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let schedulable = ["allowSchedulingOnMasters", "allowSchedulingOnControlPlanes"]
        .iter()
        .any(|key| is_true(directory.root.get(key)));
    // A cluster with workloads on control planes wants load balancers to reach them.
    if schedulable || !directory.since(8) {
        return;
    }
    for (index, node) in directory.nodes().iter().enumerate() {
        let given = entry(node, "nodeLabels").filter(|(_, value)| !is_null(Some(value)));
        let group = directory.group(node);
        let given = given.or_else(|| group.and_then(|group| entry(group, "nodeLabels")));
        let Some((key, labels)) = given.filter(|_| is_true(node.get("controlPlane"))) else {
            continue;
        };
        let patches = directory.machines.get(index).into_iter().flat_map(|it| &it.patches);
        let patched = patches.filter_map(|index| directory.patches.get(*index)).any(
            |patch| matches!(&patch.content, PatchText::Text(text) if text.contains(EXCLUDED)),
        );
        // An empty map removes all labels on purpose.
        if labels.get(EXCLUDED).is_none() && !patched && !entries(labels).is_empty() {
            found.push(Violation::new(
                directory.location(key.origin),
                format!("these labels replace the default one, {EXCLUDED}"),
                format!(
                    "add `{EXCLUDED}: \"\"` so that load balancers keep away from control planes"
                ),
            ));
        }
    }
}

/// A firewall that lets everything in which no rule mentions.
pub(super) fn default_action(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for holder in holders(directory) {
        let Some((key, firewall)) = entry(holder, "ingressFirewall") else { continue };
        if word(firewall.get("defaultAction")).is_empty() {
            found.push(Violation::new(
                directory.location(key.origin),
                "without defaultAction everything is let in that no rule mentions",
                "write `defaultAction: block`, or `accept` where it is meant",
            ));
        }
    }
}

/// Keys of interfaces that no document has a place for.
pub(super) fn lost_key(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    if !directory.since(12) {
        return;
    }
    for holder in holders(directory) {
        for device in items(holder.get("networkInterfaces")) {
            let mut parts = vec![(device, DEVICE)];
            parts.extend(items(device.get("vlans")).iter().map(|vlan| (vlan, VLAN)));
            for (part, lost) in parts {
                for (path, advice) in lost {
                    if let Some(key) = find(part, path) {
                        found.push(Violation::new(
                            directory.location(key.origin),
                            format!("{} gets lost: no document has a place for it", path.join(".")),
                            *advice,
                        ));
                    }
                }
            }
            for vlan in items(device.get("vlans")) {
                let id = word(vlan.get("vlanId"));
                if id.parse::<u64>().is_ok_and(|id| id == 0) || id.is_empty() {
                    found.push(Violation::new(
                        directory.location(vlan.origin),
                        "a VLAN without a number gets lost",
                        "vlanId is a number from 1 to 4094",
                    ));
                }
            }
            let wireguard = device.get("wireguard").and_then(|it| it.get("peers"));
            for peer in items(wireguard) {
                let Some((key, endpoint)) = entry(peer, "endpoint") else { continue };
                let endpoint = word(Some(endpoint));
                if !endpoint.is_empty() && rules::address_and_port(endpoint).is_none() {
                    found.push(Violation::new(
                        directory.location(key.origin),
                        "an endpoint that is a name gets lost: documents take an address and a port",
                        "write the address of the peer",
                    ));
                }
            }
        }
    }
}

/// Two machines of one name write one file; two of one address are one machine.
pub(super) fn same_machine(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for key in ["hostname", "ipAddress"] {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for node in directory.nodes() {
            let Some((_, value)) = entry(node, key) else { continue };
            for part in word(Some(value)).split(',').map(str::trim).filter(|part| !part.is_empty())
            {
                // A variable that is not set says nothing about the machine.
                if part.contains('$') {
                    continue;
                }
                let line = value.origin.line;
                if let Some(first) = seen.insert(part.to_owned(), line).filter(|it| *it != line) {
                    let (what, hint) = if key == "hostname" {
                        ("name", "the file of the second machine overwrites that of the first")
                    } else {
                        ("address", "what is meant for one machine is sent to the other")
                    };
                    found.push(Violation::new(
                        directory.location(value.origin),
                        format!("the machine in line {first} has the same {what}"),
                        hint,
                    ));
                }
            }
        }
    }
}

/// A number of voters that is even tolerates no more losses than one less.
pub(super) fn even_control_planes(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let Some((count, location)) = &directory.control_planes else { return };
    if *count > 0 && count % 2 == 0 {
        let tolerated = (count - 1) / 2;
        found.push(Violation::new(
            location.clone(),
            format!(
                "{count} control planes: etcd survives the loss of {tolerated}, as with {}",
                count - 1
            ),
            format!("have {} or {} control planes", count - 1, count + 1),
        ));
    }
}

/// `false` of a machine counts as unset, so that `true` of its group applies.
pub(super) fn group_wins(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for node in directory.nodes() {
        let Some(group) = directory.group(node) else { continue };
        for key in SHARED {
            let Some((name, own)) = entry(node, key.name) else { continue };
            let of_group = group.get(key.name);
            let wins = match key.ty {
                Type::Bool => !is_null(Some(own)) && !is_true(Some(own)) && is_true(of_group),
                Type::Part(_) => {
                    let says_nothing = |node: &Node| {
                        entries(node).iter().all(|(_, value)| {
                            !is_true(Some(value)) && matches!(word(Some(value)), "" | "false")
                        })
                    };
                    !entries(own).is_empty()
                        && says_nothing(own)
                        && of_group.is_some_and(|group| !says_nothing(group))
                }
                _ => false,
            };
            if wins {
                found.push(Violation::new(
                    directory.location(name.origin),
                    format!("{} has no effect: what the group says holds", key.name),
                    "set it on the machines that want it, and not in the group",
                ));
            }
        }
    }
}

/// A machine's map takes the place of its group's, and what the group says is lost.
pub(super) fn group_replaced(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for node in directory.nodes() {
        let Some(group) = directory.group(node) else { continue };
        for name in ["nodeLabels", "nodeAnnotations", "nodeTaints", "machineSpec"] {
            let Some((key, own)) = entry(node, name) else { continue };
            let Some(of_group) = group.get(name).filter(|_| !entries(own).is_empty()) else {
                continue;
            };
            let lost: Vec<&str> = entries(of_group)
                .iter()
                .map(|(key, _)| key_text(key))
                .filter(|key| own.get(key).is_none())
                .collect();
            let says_something = entries(own).iter().any(|(_, value)| {
                name != "machineSpec" || !matches!(word(Some(value)), "" | "false")
            });
            if !lost.is_empty() && says_something {
                found.push(Violation::new(
                    directory.location(key.origin),
                    format!("{name} replaces the group's, which also has {}", lost.join(", ")),
                    "repeat here what should stay, or say it in a patch, which is merged",
                ));
            }
        }
    }
}

/// A switch that replaces the group's list by the machine's, without a list.
pub(super) fn no_override(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for node in directory.nodes() {
        let Some(group) = directory.group(node) else { continue };
        for (switch, list) in [
            ("overridePatches", "patches"),
            ("overrideExtraManifests", "extraManifests"),
            ("overrideMachineCertSANs", "certSANs"),
        ] {
            let Some((key, value)) = entry(node, switch) else { continue };
            if is_true(Some(value)) && is_null(node.get(list)) && !items(group.get(list)).is_empty()
            {
                found.push(Violation::new(
                    directory.location(key.origin),
                    format!("without {list} of its own the machine keeps those of its group"),
                    format!("write `{list}: []` to have none"),
                ));
            }
        }
    }
}

/// Returns the machines and both groups.
fn holders<'d>(directory: &'d Directory<'_>) -> impl Iterator<Item = &'d Node> {
    let groups = ["controlPlane", "worker"].iter().filter_map(|key| directory.root.get(key));
    groups.chain(directory.nodes())
}

/// Returns the location of the last key of a path.
fn find<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Node> {
    let (last, above) = path.split_last()?;
    let holder = above.iter().try_fold(node, |node, key| node.get(key))?;
    let (key, value) = entry(holder, last)?;
    (!is_null(Some(value)) && !matches!(word(Some(value)), "false")).then_some(key)
}

/// The label that Talos gives control planes.
const EXCLUDED: &str = "node.kubernetes.io/exclude-from-external-load-balancers";

/// Keys of an interface that are lost.
const DEVICE: &[(&[&str], &str)] = &[
    (&["ignore"], "leave the interface out"),
    (&["dummy"], "write a DummyLinkConfig in a patch"),
    (&["bridgePort"], "name it among the interfaces of the bridge"),
    (&["bond", "primary"], "documents know no primary link: leave it out"),
    (&["vip", "hcloud"], "write an HCloudVIPConfig in a patch"),
    (&["vip", "equinixMetal"], "Talos has no document for it: use Layer 2"),
    (&["dhcpOptions", "duidv6"], "write a DHCPv6Config with duidRaw in a patch"),
];

/// Keys of a VLAN that are lost.
const VLAN: &[(&[&str], &str)] = &[
    (&["cidr"], "write it under addresses"),
    (&["vip", "hcloud"], "write an HCloudVIPConfig in a patch"),
    (&["vip", "equinixMetal"], "Talos has no document for it: use Layer 2"),
    (&["dhcpOptions", "duidv6"], "write a DHCPv6Config with duidRaw in a patch"),
];
