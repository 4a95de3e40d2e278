//! Rules about unknown keys and values that change when they are read.

use talos_config::suggest;
use talos_config::yaml::{self, Content, Node, Resolved, Style};

use super::Violation;
use super::directory::{Directory, entries, is_null, items, key_text};
use crate::door::schema::{NODE_ONLY, Object, SHARED, TALCONFIG, Type};

/// An unknown key, which has no effect.
pub(super) fn unknown(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    walk(&directory.root, Type::Whole(&TALCONFIG), &mut |node, ty| {
        let (Type::Whole(object) | Type::Part(object)) = ty else { return };
        for (key, value) in entries(node) {
            let name = key_text(key);
            if object.keys().any(|known| known.name == name) || holds_anchors(value) {
                continue;
            }
            found.push(Violation::new(
                directory.location(key.origin),
                format!("unknown key {name:?}: it has no effect"),
                instead(name, object),
            ));
        }
    });
}

/// A text without quotes that is taken for a number or a date, and comes out in another spelling.
pub(super) fn respelt(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    walk(&directory.root, Type::Whole(&TALCONFIG), &mut |node, ty| {
        let values: Vec<&Node> = match ty {
            Type::Text => vec![node],
            Type::TextMap => entries(node).iter().map(|(_, value)| value).collect(),
            _ => return,
        };
        for value in values {
            let Some((text, Style::Plain)) = value.scalar() else { continue };
            let (what, spelt) = match yaml::resolve_node(value) {
                Resolved::Float(number) => ("a number", yaml::float(number)),
                Resolved::Int(number) => ("a number", number.to_string()),
                Resolved::Timestamp => ("a date", String::new()),
                _ => continue,
            };
            if spelt != text {
                found.push(Violation::new(
                    directory.location(value.origin),
                    format!("this is read as {what}, and its spelling is lost"),
                    "put it in quotes",
                ));
            }
        }
    });
}

/// Only the first document of a talconfig is read.
pub(super) fn second_document(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    if let Some(origin) = directory.second {
        found.push(Violation::new(
            directory.location(origin),
            "what follows is not read: a talconfig is one document",
            "remove the line `---` or what follows it",
        ));
    }
}

/// Visits every part of a tree together with its shape.
fn walk(node: &Node, ty: Type, visit: &mut dyn FnMut(&Node, Type)) {
    if is_null(Some(node)) {
        return;
    }
    visit(node, ty);
    match ty {
        Type::Whole(object) | Type::Part(object) => {
            for (key, value) in entries(node) {
                if let Some(known) = object.keys().find(|known| known.name == key_text(key)) {
                    walk(value, known.ty, visit);
                }
            }
        }
        Type::Objects { item, .. } => {
            for node in items(Some(node)) {
                walk(node, Type::Whole(item), visit);
            }
        }
        Type::List { item, .. } => {
            for node in items(Some(node)) {
                walk(node, *item, visit);
            }
        }
        _ => {}
    }
}

/// Returns true if a part only holds anchors for references.
fn holds_anchors(node: &Node) -> bool {
    if node.alias.is_some() {
        return false;
    }
    node.anchor().is_some()
        || match &node.content {
            Content::Scalar { .. } => false,
            Content::Sequence(items) => items.iter().any(holds_anchors),
            Content::Mapping(entries) => entries.iter().any(|(_, value)| holds_anchors(value)),
        }
}

/// Returns the suggestion for an unknown key.
fn instead(name: &str, object: &Object) -> String {
    if let Some((_, advice)) = OLD.iter().find(|(old, _)| *old == name) {
        return (*advice).to_owned();
    }
    if let Some(near) = suggest(name, object.keys().map(|known| known.name)) {
        return format!("did you mean {near:?}?");
    }
    let in_table =
        |table: &[crate::door::schema::Key]| table.iter().any(|known| known.name == name);
    if in_table(NODE_ONLY) {
        return format!("{name} belongs to an entry of `nodes`");
    }
    if in_table(SHARED) {
        return format!("{name} belongs to an entry of `nodes`, to `controlPlane` or to `worker`");
    }
    if TALCONFIG.keys().any(|known| known.name == name) {
        return format!("{name} belongs to the talconfig as a whole");
    }
    "what no key is for can be said in a patch".to_owned()
}

/// Keys that earlier releases had, or that people expect.
const OLD: &[(&str, &str)] = &[
    ("configPatches", "write it as strategic merge patches under `patches`"),
    ("inlinePatch", "write it as an entry of `patches`"),
    ("extensions", "name them in schematic.customization.systemExtensions.officialExtensions"),
    ("global", "settings of all machines are top-level keys, patches are under `patches`"),
    ("stableHostname", "`ignoreHostname: true` lets a machine choose its name"),
    ("ImageURLTmpl", "the key is called ISOURLTmpl"),
    ("imageURLTmpl", "the key is called ISOURLTmpl"),
];
