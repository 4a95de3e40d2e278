//! Text to trees and back, as talhelper's YAML library does it.
//!
//! A talconfig is read three times: comments are removed and the text is rewritten; variables are
//! substituted; and the result is read as free-form data and written once more, with keys sorted
//! and every scalar in the canonical form of its type. Line numbers in errors, and small losses of
//! text, follow from that.

use std::collections::{BTreeMap, BTreeSet};

use talos_config::yaml::{self, Content, Document, Limits, Node, Resolved, SyntaxError};
use talos_config::{Location, SourceId};

use crate::door::environment::Environment;
use crate::door::substitute::{self, SubstitutionError};
use crate::error::ErrorDetail;

/// Removes comments from a text and substitutes variables.
pub(crate) fn substitute(text: &str, environment: &Environment) -> Result<String, ErrorDetail> {
    let documents = parse(text)?;
    if documents.is_empty() {
        return Err(ErrorDetail::new("yaml: expected STREAM-START")
            .hint("there is nothing but comments in it"));
    }
    let bare = yaml::rewrite(&documents, 2, false);
    substitute::substitute(&bare, environment).map_err(|error| {
        let hint = match &error {
            SubstitutionError::NotSet(name) | SubstitutionError::Empty(name) => {
                let line = text.lines().position(|line| line.contains(name.as_str()));
                let place = line.map_or(String::new(), |line| format!("line {}: ", line + 1));
                format!(
                    "{place}set {name} in the environment or in an env file, or write $$ for a dollar sign"
                )
            }
            SubstitutionError::Unclosed => "a `${` has no `}` on its line".to_owned(),
        };
        ErrorDetail::new(error.to_string()).hint(hint)
    })
}

/// Reads a text as YAML.
pub(crate) fn parse(text: &str) -> Result<Vec<Document>, ErrorDetail> {
    yaml::parse(text, SourceId::default(), Limits::default())
        .map_err(|error| ErrorDetail::new(syntax(&error)))
}

/// Formats a YAML error in the words that talhelper's users know.
pub(crate) fn syntax(error: &SyntaxError) -> String {
    format!("yaml: line {}: {}", error.origin.line, error.problem)
}

/// Rewrites the first document as free-form data: aliases and merges resolved, paths of files
/// absolute, keys sorted, scalars in canonical form.
pub(crate) fn absolutize_paths(
    text: &str,
    absolute: &dyn Fn(&str) -> String,
) -> Result<String, ErrorDetail> {
    let documents = parse(text)?;
    let Some(document) = documents.into_iter().next() else { return Ok("null\n".to_owned()) };
    let mut duplicates = Vec::new();
    let node = plain(&document.root, &mut duplicates);
    if !duplicates.is_empty() {
        return Err(unmarshal_errors(&duplicates));
    }
    let node = with_paths(node, Reference::No, absolute);
    let document = Document { origin: Location::default(), root: node, comments: Vec::new() };
    Ok(yaml::rewrite(&[document], 4, false))
}

/// Joins complaints about values into one error.
pub(crate) fn unmarshal_errors(complaints: &[String]) -> ErrorDetail {
    ErrorDetail::new(format!("yaml: unmarshal errors:\n  {}", complaints.join("\n  ")))
}

/// Merges the keys of `<<` into a mapping, whose own keys win.
pub(crate) fn merged(entries: &[(Node, Node)]) -> Vec<(&Node, &Node)> {
    let mut own: Vec<(&Node, &Node)> = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut sources = Vec::new();
    for (key, value) in entries {
        if is_merge(key) {
            match &value.content {
                Content::Sequence(items) => sources.extend(items.iter()),
                _ => sources.push(value),
            }
        } else {
            known.extend(key.scalar().map(|(text, _)| text));
            own.push((key, value));
        }
    }
    for source in sources {
        let Content::Mapping(entries) = &source.content else { continue };
        for (key, value) in merged(entries) {
            if key.scalar().is_none_or(|(text, _)| known.insert(text)) {
                own.push((key, value));
            }
        }
    }
    own
}

fn is_merge(key: &Node) -> bool {
    yaml::resolve_node(key) == Resolved::Merge
}

/// The keys that a mapping has twice, with their lines.
pub(crate) fn duplicates(entries: &[(Node, Node)], complaints: &mut Vec<String>) {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for (key, _) in entries {
        let Some((text, _)) = key.scalar() else { continue };
        match seen.get(text) {
            Some(first) => complaints.push(format!(
                "line {}: mapping key {text:?} already defined at line {first}",
                key.origin.line
            )),
            None => {
                seen.insert(text, key.origin.line);
            }
        }
    }
}

/// Rewrites a node as free-form data: no anchors, aliases and merges, keys sorted, scalars in
/// canonical form.
fn plain(node: &Node, complaints: &mut Vec<String>) -> Node {
    let content = match &node.content {
        Content::Scalar { text, .. } => return scalar(node, text),
        Content::Sequence(items) => {
            Content::Sequence(items.iter().map(|item| plain(item, complaints)).collect())
        }
        Content::Mapping(entries) => {
            duplicates(entries, complaints);
            let mut sorted: Vec<(Node, Node)> = merged(entries)
                .into_iter()
                .map(|(key, value)| (plain(key, complaints), plain(value, complaints)))
                .collect();
            sorted.sort_by(|(left, _), (right, _)| {
                yaml::compare_keys(key_text(left), key_text(right))
            });
            Content::Mapping(sorted)
        }
    };
    // An empty collection is written in brackets.
    Node::new(content, node.origin)
}

fn key_text(key: &Node) -> &str {
    key.scalar().map_or("", |(text, _)| text)
}

fn scalar(node: &Node, text: &str) -> Node {
    match yaml::resolve_node(node) {
        Resolved::Null => Node::plain("null", node.origin),
        Resolved::Bool(value) => Node::plain(if value { "true" } else { "false" }, node.origin),
        Resolved::Int(number) => Node::plain(&number.to_string(), node.origin),
        Resolved::Float(number) => Node::plain(&yaml::float(number), node.origin),
        Resolved::Timestamp => Node::plain(&timestamp(text), node.origin),
        Resolved::Merge | Resolved::Text => Node::of_text(text),
    }
}

/// Formats a date with its time of day, which may be missing in the text.
fn timestamp(text: &str) -> String {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, ""),
    };
    let date: Vec<String> = date
        .split('-')
        .enumerate()
        .map(|(index, part)| if index == 0 { part.to_owned() } else { format!("{part:0>2}") })
        .collect();
    let date = date.join("-");
    if time.is_empty() {
        return format!("{date}T00:00:00Z");
    }
    let zone_at = time.find(['Z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone_at);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let clock: Vec<String> = clock.split(':').map(|part| format!("{part:0>2}")).collect();
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
    let zone = if matches!(zone, "" | "+00:00" | "-00:00") { "Z" } else { zone };
    format!("{date}T{}{fraction}{zone}", clock.join(":"))
}

/// The texts at a path that are references to files.
#[derive(Clone, Copy, PartialEq)]
enum Reference {
    No,
    /// Those that begin with `@`.
    Marked,
    /// All of them.
    Always,
}

fn with_paths(node: Node, reference: Reference, absolute: &dyn Fn(&str) -> String) -> Node {
    let origin = node.origin;
    let content = match node.content {
        Content::Sequence(items) => Content::Sequence(
            items.into_iter().map(|item| with_paths(item, reference, absolute)).collect(),
        ),
        Content::Mapping(entries) => Content::Mapping(
            entries
                .into_iter()
                .map(|(key, value)| {
                    let inner = match (reference, key_text(&key)) {
                        (Reference::No, "extraManifests") => Reference::Always,
                        (Reference::No, "machineFiles" | "patches" | "inlineManifests") => {
                            Reference::Marked
                        }
                        _ => reference,
                    };
                    (key, with_paths(value, inner, absolute))
                })
                .collect(),
        ),
        Content::Scalar { text, style } => {
            let is_text = yaml::resolve(&text, style) == Resolved::Text;
            let marked = match (reference, text.strip_prefix('@')) {
                (Reference::No, _) => None,
                (_, Some(path)) => Some(path),
                (Reference::Always, None) => Some(&*text),
                (Reference::Marked, None) => None,
            };
            match marked.map(str::trim).filter(|_| is_text) {
                Some("") if text.starts_with('@') => Content::Scalar { text, style },
                Some(path) => return Node::of_text(&format!("@{}", absolute(path))),
                None => Content::Scalar { text, style },
            }
        }
    };
    Node { content, origin, ..node }
}

/// Formats a node for complaints: its type and the beginning of its text.
pub(crate) fn shown(node: &Node) -> String {
    let Some((text, _)) = node.scalar() else {
        return match &node.content {
            Content::Sequence(_) => "!!seq",
            _ => "!!map",
        }
        .to_owned();
    };
    let tag = match yaml::resolve_node(node) {
        Resolved::Null => "!!null",
        Resolved::Bool(_) => "!!bool",
        Resolved::Int(_) => "!!int",
        Resolved::Float(_) => "!!float",
        Resolved::Timestamp => "!!timestamp",
        Resolved::Merge => "!!merge",
        Resolved::Text => "!!str",
    };
    let part: String = text.chars().take(7).collect();
    if text.len() > 10 { format!("{tag} `{part}...`") } else { format!("{tag} `{text}`") }
}
