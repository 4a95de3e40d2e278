//! What is written once and meant in several places: anchors, aliases and merge keys.
//!
//! A written talconfig is a tree with marks, which [`super::written`] knows: `{"&": name, "=": value}` is a value with
//! an anchor, `{"*": name}` an alias, `{"!": text}` a text that is written as it is.

use serde_json::{Value, json};

use super::Maker;
use super::combinations::ANCHORS;

impl Maker {
    /// Lets machines have in common what an anchor is for.
    pub(super) fn share(&mut self, cluster: &mut Value) {
        if self.turn == "JSON" {
            return;
        }
        let name = self.one_shown(ANCHORS, 8);
        let Some(nodes) = cluster["nodes"].as_array_mut() else { return };
        let Some((first, others)) = nodes.split_first_mut() else { return };
        match name {
            "an anchor and an alias" => first["nodeLabels"] = shared_labels(),
            "an anchor that is defined twice" => first["nodeLabels"] = labels_by_anchor(),
            "scalars of other types" => first["nodeLabels"] = labels_by_scalar(),
            "octal permissions" => {
                for (path, mode) in [("/var/octal/a", 0o644), ("/var/octal/b", 0o600)] {
                    let file = json!({ "content": "x", "op": "create", "path": path, "permissions": mode });
                    push(&mut first["machineFiles"], file);
                }
            }
            _ => {}
        }
        for node in others {
            match name {
                "an anchor and an alias" => node["nodeLabels"] = shared_labels(),
                "a merge of a whole node" => {
                    let own = ["hostname", "ipAddress"].map(|key| (key, node[key].clone()));
                    *node = first.clone();
                    for (key, value) in own {
                        node[key] = value;
                    }
                    node["certSANs"] = json!(["own.lan"]);
                }
                "a merge key" => put(node, &shared_maps()[..1]),
                "a merge of several maps" => put(node, &shared_maps()),
                _ => {}
            }
        }
    }

    /// The talconfig with its marks.
    pub(super) fn marked(&self, cluster: &Value) -> Value {
        let mut written = cluster.clone();
        let mut names = ANCHORS.iter().map(|anchor| anchor.name);
        let name = names.find(|name| self.shown.contains(name)).unwrap_or_default();
        let Some(nodes) = written["nodes"].as_array_mut() else { return written };
        let Some((first, others)) = nodes.split_first_mut() else { return written };
        // A fault may have taken the place of what was shared; then it stays as it is.
        match name {
            "an anchor and an alias" if first["nodeLabels"] == shared_labels() => {
                for node in others {
                    if node["nodeLabels"] == shared_labels() {
                        node["nodeLabels"] = alias("labels");
                    }
                }
                first["nodeLabels"] = anchor("labels", &shared_labels());
            }
            "a merge of a whole node" => {
                for node in others {
                    merge(node, &[("machine", &*first)]);
                }
                *first = anchor("machine", first);
            }
            "a merge key" | "a merge of several maps" => {
                let [one, two] = shared_maps();
                let maps = [("one", &one), ("two", &two)];
                let count = if name == "a merge key" { 1 } else { 2 };
                for node in others {
                    merge(node, &maps[..count]);
                }
                written["anchors"] = json!([anchor("one", &one), anchor("two", &two)]);
            }
            "an anchor that is defined twice" if first["nodeLabels"] == labels_by_anchor() => {
                let (one, two) = (raw("&x \"1\""), raw("&x \"2\""));
                first["nodeLabels"] = json!({ "a": one, "b": two, "c": alias("x") });
            }
            "scalars of other types" if first["nodeLabels"] == labels_by_scalar() => {
                for (key, text, _) in SCALARS {
                    first["nodeLabels"][*key] = raw(text);
                }
            }
            "octal permissions" => {
                let files = first["machineFiles"].as_array_mut();
                for mode in
                    files.into_iter().flatten().filter_map(|file| file.get_mut("permissions"))
                {
                    match mode.as_u64() {
                        Some(0o644) => *mode = raw("0o644"),
                        Some(0o600) => *mode = raw("0600"),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        written
    }
}

fn anchor(name: &str, value: &Value) -> Value {
    json!({ "&": name, "=": value })
}

fn alias(name: &str) -> Value {
    json!({ "*": name })
}

fn raw(text: &str) -> Value {
    json!({ "!": text })
}

/// Adds to a list, which may not be there yet.
pub(super) fn push(list: &mut Value, item: Value) {
    match list.as_array_mut() {
        Some(items) => items.push(item),
        None => *list = json!([item]),
    }
}

fn put(node: &mut Value, maps: &[Value]) {
    for (key, value) in maps.iter().filter_map(Value::as_object).flatten() {
        node[key] = value.clone();
    }
}

/// Writes what a node has from maps as merge keys. It stays as it is where it has not all of that.
fn merge(node: &mut Value, maps: &[(&str, &Value)]) {
    let mut own = node.clone();
    let Some(keys) = own.as_object_mut() else { return };
    for (key, value) in maps.iter().filter_map(|(_, map)| map.as_object()).flatten() {
        if node.get(key).is_none() {
            return;
        }
        if node.get(key) == Some(value) {
            keys.remove(key);
        }
    }
    let aliases: Vec<Value> = maps.iter().map(|(name, _)| alias(name)).collect();
    own["<<"] = if aliases.len() == 1 { aliases[0].clone() } else { json!(aliases) };
    *node = own;
}

fn shared_labels() -> Value {
    json!({ "rack": "1", "shared": "yes" })
}

fn shared_maps() -> [Value; 2] {
    [
        json!({ "disableSearchDomain": true, "nodeTaints": { "shared": "NoSchedule" } }),
        json!({ "ignoreHostname": true, "kernelModules": [{ "name": "nvme" }] }),
    ]
}

fn labels_by_anchor() -> Value {
    json!({ "a": "1", "b": "2", "c": "2" })
}

fn labels_by_scalar() -> Value {
    SCALARS.iter().map(|(key, _, value)| ((*key).to_owned(), json!(value))).collect()
}

/// Labels, how they are written, and what that means.
const SCALARS: &[(&str, &str, &str)] = &[
    ("a", "1", "1"),
    ("b", "true", "true"),
    ("c", "1.50", "1.5"),
    ("d", "null", ""),
    ("e", "0x10", "16"),
    ("f", "0o17", "15"),
    ("g", "1e3", "1000"),
    ("h", ".5", "0.5"),
    ("i", "off", "off"),
    ("j", "~", ""),
];
