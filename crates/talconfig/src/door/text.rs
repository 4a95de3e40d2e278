//! Text to trees and back, as talhelper's YAML library does it.
//!
//! A talconfig is read three times: comments are removed and the text is rewritten; variables are
//! substituted; and the result is read as free-form data and written once more, with keys sorted
//! and every scalar in the canonical form of its type. Line numbers in errors, and small losses of
//! text, follow from that.

use std::collections::{BTreeMap, BTreeSet};

use talos_config::yaml::{self, Content, Document, Limits, Node, Resolved, Style, SyntaxError};
use talos_config::{Confidential, Location, SourceId};

use crate::door::environment::Environment;
use crate::door::substitute::{self, SubstitutionError};
use crate::error::{ErrorDetail, Refusal, problem};

/// Removes comments from a text and substitutes variables.
pub(crate) fn substitute(text: &str, environment: &Environment) -> Result<String, Refusal> {
    substitute_documents(&parse(text)?, environment)
}

/// Writes documents without comments, and substitutes variables in the result.
pub(crate) fn substitute_documents(
    documents: &[Document],
    environment: &Environment,
) -> Result<String, Refusal> {
    if documents.is_empty() {
        let said = ErrorDetail::new("yaml: expected STREAM-START")
            .hint("there is nothing but comments in it");
        return Err(Refusal::new(said, Location::default(), "the file is empty".to_owned()));
    }
    let bare = yaml::rewrite(documents, 2, false);
    substitute::substitute(&bare, environment).map_err(|error| {
        let mut roots = documents.iter().map(|document| &document.root);
        let found = roots.find_map(|root| unsubstituted(root, "", environment));
        let (origin, key) = found.unwrap_or_default();
        let hint = match &error {
            SubstitutionError::NotSet(name) | SubstitutionError::Empty(name) => format!(
                "set {name} in the environment or in an env file, or write $$ for a dollar sign"
            ),
            SubstitutionError::Unclosed => "a `${` has no `}` on its line".to_owned(),
            SubstitutionError::TooLong(_) => "look for a variable with a long value".to_owned(),
        };
        let place = match origin.line {
            0 => String::new(),
            line => format!("line {line}: "),
        };
        let said = ErrorDetail::new(error.to_string()).hint(format!("{place}{hint}"));
        let problem = problem(origin, within(&key, &error.to_string()), Some(hint));
        Refusal { said, problems: vec![problem] }
    })
}

/// Returns the location and the key of the first text whose variables cannot be substituted.
fn unsubstituted(node: &Node, key: &str, environment: &Environment) -> Option<(Location, String)> {
    match &node.content {
        Content::Scalar { text, style } => {
            let fails = |line: &str| substitute::substitute(line, environment).is_err();
            let line = u32::try_from(text.lines().position(fails)?).unwrap_or_default();
            let mut origin = node.alias.unwrap_or(node.origin);
            if *style == Style::Literal && node.alias.is_none() {
                // The text begins on the line after the `|`.
                origin = Location { line: origin.line + 1 + line, column: 1, ..origin };
            }
            Some((origin, key.to_owned()))
        }
        Content::Sequence(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| unsubstituted(item, &format!("{key}[{index}]"), environment)),
        Content::Mapping(entries) => entries.iter().find_map(|(name, value)| {
            let key = below(key, key_text(name));
            unsubstituted(name, &key, environment)
                .or_else(|| unsubstituted(value, &key, environment))
        }),
    }
}

/// Returns the path of a key within the object at a path.
pub(crate) fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Puts the path of a key before a message about it.
pub(crate) fn within(path: &str, message: &str) -> String {
    if path.is_empty() { message.to_owned() } else { format!("{path}: {message}") }
}

/// Reads a text as YAML.
pub(crate) fn parse(text: &str) -> Result<Vec<Document>, Refusal> {
    yaml::parse(text, SourceId::default(), Limits::default()).map_err(|error| {
        let said = ErrorDetail::new(syntax(&error));
        Refusal::new(said, error.origin, error.problem)
    })
}

/// Formats a YAML error in the words that talhelper's users know.
pub(crate) fn syntax(error: &SyntaxError) -> String {
    format!("yaml: line {}: {}", error.origin.line, error.problem)
}

/// Rewrites the first document as free-form data: aliases and merges resolved, paths of files
/// absolute, keys sorted, scalars in canonical form. Returns the text, and the tree that it is written from with the
/// locations of `written`, which the documents were made from.
pub(crate) fn absolutize_paths(
    documents: Vec<Document>,
    written: Option<&Node>,
    absolute: &dyn Fn(&str) -> String,
) -> Result<(String, Node), Refusal> {
    let Some(document) = documents.into_iter().next() else {
        return Ok(("null\n".to_owned(), Node::plain("null", Location::default())));
    };
    let mut root = document.root;
    if let Some(written) = written {
        relocate(&mut root, written);
    }
    let mut duplicates = Vec::new();
    let node = plain(&root, &mut duplicates);
    if !duplicates.is_empty() {
        return Err(unmarshal_errors(duplicates));
    }
    let root = with_paths(node, Reference::No, absolute);
    let document = Document { origin: Location::default(), root, comments: Vec::new() };
    let documents = [document];
    let text = yaml::rewrite(&documents, 4, false);
    let [Document { root, .. }] = documents;
    Ok((text, root))
}

/// Gives the refusal of a text that is no YAML once variables are substituted the location of the nearest node in the
/// documents that it was written from.
pub(crate) fn located(
    mut refusal: Refusal,
    documents: &[Document],
    environment: &Environment,
) -> Refusal {
    /// Finds the last node that begins at a line of the rewritten text or above it.
    fn nearest(bare: &Node, written: &Node, line: u32, found: &mut (u32, Location)) {
        if (found.0..=line).contains(&bare.origin.line) {
            *found = (bare.origin.line, written.alias.unwrap_or(written.origin));
        }
        match (&bare.content, &written.content) {
            (Content::Sequence(bare), Content::Sequence(written)) => {
                for (bare, written) in bare.iter().zip(written) {
                    nearest(bare, written, line, found);
                }
            }
            (Content::Mapping(bare), Content::Mapping(written)) => {
                for ((bare_key, bare), (key, written)) in bare.iter().zip(written) {
                    nearest(bare_key, key, line, found);
                    nearest(bare, written, line, found);
                }
            }
            _ => {}
        }
    }
    let bare = yaml::rewrite(documents, 2, false);
    let rewritten = parse(&bare).unwrap_or_default();
    for problem in &mut refusal.problems {
        // The value of a variable may have several lines.
        let mut count = 0;
        let line = bare.lines().position(|line| {
            let substituted = substitute::substitute(line, environment).unwrap_or_default();
            count += substituted.lines().count().max(1);
            count >= usize::try_from(problem.location.unwrap_or_default().line).unwrap_or_default()
        });
        let line = line.map_or(u32::MAX, |line| u32::try_from(line + 1).unwrap_or(u32::MAX));
        let mut found = (0, Location::default());
        for (bare, written) in rewritten.iter().zip(documents) {
            nearest(&bare.root, &written.root, line, &mut found);
        }
        problem.location = Some(found.1);
    }
    refusal
}

/// Gives the nodes of a rewritten text the locations of those that they were rewritten from. What came into the text
/// by a variable gets the location of the nearest node above it.
pub(crate) fn relocate(node: &mut Node, from: &Node) {
    node.origin = from.alias.unwrap_or(from.origin);
    node.alias = None;
    match (&mut node.content, &from.content) {
        (Content::Scalar { .. }, _) => {}
        (Content::Sequence(items), other) => {
            let others = if let Content::Sequence(items) = other { items.as_slice() } else { &[] };
            for (index, item) in items.iter_mut().enumerate() {
                relocate(item, others.get(index).unwrap_or(from));
            }
        }
        (Content::Mapping(entries), other) => {
            let others =
                if let Content::Mapping(entries) = other { entries.as_slice() } else { &[] };
            let same = entries.len() == others.len();
            for (index, (key, value)) in entries.iter_mut().enumerate() {
                let other = if same {
                    others.get(index)
                } else {
                    others.iter().find(|(other, _)| key_text(other) == key_text(key))
                };
                let (from_key, from_value) =
                    other.map_or((from, from), |(key, value)| (key, value));
                relocate(key, from_key);
                relocate(value, from_value);
            }
        }
    }
}

/// A problem of a value, which does not end the reading.
pub(crate) struct Complaint {
    pub(crate) origin: Location,
    /// In talhelper's words, without the line.
    pub(crate) said: String,
    pub(crate) message: String,
}

/// Joins complaints about values into one refusal.
pub(crate) fn unmarshal_errors(complaints: Vec<Complaint>) -> Refusal {
    let lines: Vec<String> = complaints
        .iter()
        .map(|complaint| format!("line {}: {}", complaint.origin.line, complaint.said))
        .collect();
    let said = ErrorDetail::new(format!("yaml: unmarshal errors:\n  {}", lines.join("\n  ")));
    let problems = complaints
        .into_iter()
        .map(|Complaint { origin, message, .. }| problem(origin, message, None));
    Refusal { said, problems: problems.collect() }
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

/// The keys that a mapping has twice, with their locations.
pub(crate) fn duplicates(entries: &[(Node, Node)], complaints: &mut Vec<Complaint>) {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    for (key, _) in entries {
        let Some((text, _)) = key.scalar() else { continue };
        match seen.get(text) {
            Some(first) => complaints.push(Complaint {
                origin: key.origin,
                said: format!("mapping key {text:?} already defined at line {first}"),
                message: format!("{text}: the key is there already, on line {first}"),
            }),
            None => {
                seen.insert(text, key.origin.line);
            }
        }
    }
}

/// Rewrites a node as free-form data: no anchors, aliases and merges, keys sorted, scalars in
/// canonical form.
fn plain(node: &Node, complaints: &mut Vec<Complaint>) -> Node {
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
        Resolved::Merge | Resolved::Text => Node { origin: node.origin, ..Node::of_text(text) },
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
                Some(path) => {
                    return Node { origin, ..Node::of_text(&format!("@{}", absolute(path))) };
                }
                None => Content::Scalar { text, style },
            }
        }
    };
    Node { content, origin, ..node }
}

/// Formats a node for complaints: its type and the beginning of its text.
pub(crate) fn shown(node: &Node, confidential: &Confidential) -> String {
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
    // Before it is cut: a part of a value would not be recognised.
    let text = confidential.redact(text);
    let part: String = text.chars().take(7).collect();
    if text.len() > 10 { format!("{tag} `{part}...`") } else { format!("{tag} `{text}`") }
}
