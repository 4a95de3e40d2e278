//! The values of encrypted files, which are hidden wherever a configuration is shown.
//!
//! In: the plain values of encrypted files, and the patches that were read from such files. Out: whether a text or a
//! field is hidden. A value is recognised wherever it stands, also as part of a longer text. A value that is too
//! short for that, such as `1` or `true`, is hidden only in the fields that an encrypted file itself sets: those are
//! hidden with any content, on both sides of a comparison.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::config::{Config, Document};
use crate::kinds;
use crate::patch::Patch;
use crate::secret::REDACTED;
use crate::value::{Data, Value};
use crate::yaml::{self, Content, Limits, Node, Resolved, Tree};

/// The values and fields that encrypted files gave. It holds secrets, so it has neither `Debug` nor `Display`.
#[derive(Clone, Default)]
pub struct Confidential {
    values: BTreeSet<String>,
    fields: BTreeSet<Field>,
}

/// A field of a document, whichever elements of lists it is in.
#[derive(Clone, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Field {
    /// `v1alpha1`, `HostnameConfig`, `LinkConfig/eth0`.
    pub(crate) document: String,
    /// `machine.files[].content`
    pub(crate) path: String,
}

impl Confidential {
    /// Adds a value that was encrypted. One that says nothing by itself is left out: it would hide unrelated fields.
    pub fn add_value(&mut self, value: &str) {
        // Where it is put into YAML its quotes are not part of the value.
        let value = value.trim().trim_matches(['"', '\'']);
        let is_vocabulary = value == "v1alpha1" || kinds::find(value).is_some();
        let is_text = yaml::resolve(value, yaml::Style::Plain) != Resolved::Null
            && !WORDS.contains(&value.to_lowercase().as_str());
        if value.chars().count() >= SHORTEST_WORD && is_text && !is_vocabulary {
            self.values.insert(value.to_owned());
        }
    }

    /// Adds the whole of a decrypted text of any form, and every value in it if it is YAML.
    pub fn add_text(&mut self, text: &str) {
        self.add_value(text);
        for document in
            yaml::parse(text, crate::SourceId::default(), Limits::default()).iter().flatten()
        {
            self.add_node(&document.root);
        }
    }

    /// Adds the fields that a patch from an encrypted file sets.
    pub fn add_patch(&mut self, patch: &Patch) {
        self.fields.extend(patch.fields());
    }

    /// Adds the fields that documents from an encrypted file set.
    pub fn add_config(&mut self, config: &Config) {
        self.fields.extend(config.documents().iter().flat_map(Field::of_document));
    }

    /// Adds a field of a document by its path, such as `machine.nodeLabels.a`.
    pub fn add_field(&mut self, document: &str, path: &str) {
        self.fields.insert(Field { document: document.to_owned(), path: path.to_owned() });
    }

    /// Adds everything that another one holds.
    pub fn extend(&mut self, other: &Self) {
        self.values.extend(other.values.iter().cloned());
        self.fields.extend(other.fields.iter().cloned());
    }

    /// Returns whether a text is, or holds, a value that was encrypted.
    pub fn is_in(&self, text: &str) -> bool {
        self.values.iter().any(|value| occurrences(text, value).next().is_some())
    }

    /// Returns a text for people, such as an error, in which every value that was encrypted is replaced.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut redacted = Cow::Borrowed(text);
        // The longest first: a shorter one may be a part of it.
        let mut values: Vec<&String> = self.values.iter().collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        for value in values {
            let found: Vec<usize> = occurrences(&redacted, value).collect();
            for at in found.into_iter().rev() {
                redacted.to_mut().replace_range(at..at + value.len(), REDACTED);
            }
        }
        redacted
    }

    /// Returns whether a field was set by an encrypted file, or a value that was encrypted is in what it holds.
    pub(crate) fn hides(&self, document: &str, path: &str, values: &[&Value]) -> bool {
        let Self { values: known, fields } = self;
        !fields.is_empty() && fields.contains(&Field::new(document, path))
            || !known.is_empty() && values.iter().any(|value| self.is_in_value(value))
    }

    /// Returns whether that holds for a field or for anything in it.
    pub(crate) fn hides_part(&self, document: &str, path: &str, value: &Value) -> bool {
        let is_part = |field: &Field| {
            let rest = field.path.strip_prefix(path).filter(|_| field.document == document);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.fields.iter().any(is_part) || self.is_in_value(value)
    }

    /// Returns whether an encrypted file gave a document or its name.
    pub(crate) fn names(&self, document: &Document) -> bool {
        let id = document.id();
        self.fields.iter().any(|field| field.document == id) || self.is_in(document.name())
    }

    /// Returns a document's id, without a name that was encrypted.
    pub(crate) fn id(&self, document: &Document) -> String {
        if self.is_in(document.name()) { Self::hidden_id(document) } else { document.id() }
    }

    /// Returns a document's id without its name.
    pub(crate) fn hidden_id(document: &Document) -> String {
        let kind = document.kind.name;
        if document.kind.named { format!("{kind}/{REDACTED}") } else { kind.to_owned() }
    }

    /// Returns the key or name of something, unless it was encrypted.
    pub(crate) fn name<'t>(&self, name: Cow<'t, str>) -> Cow<'t, str> {
        if self.is_in(&name) { REDACTED.into() } else { name }
    }

    /// Returns the tree of a field, or of the document itself, as it is shown.
    pub(crate) fn cover<'t>(&self, tree: Tree<'t>, document: &str, path: &str) -> Tree<'t> {
        if self.values.is_empty() && self.fields.is_empty() {
            return tree;
        }
        match tree {
            Tree::Map(entries) if !entries.is_empty() => {
                let cover = |(key, tree): (Cow<'t, str>, Tree<'t>)| {
                    let covered = self.cover(tree, document, &key_below(path, &key));
                    (self.name(key), covered)
                };
                Tree::Map(entries.into_iter().map(cover).collect())
            }
            Tree::List(items) if !items.is_empty() => {
                let element = element_of(path);
                let cover = |tree| self.cover(tree, document, &element);
                Tree::List(items.into_iter().map(cover).collect())
            }
            Tree::Text(text) | Tree::Argument(text) | Tree::Verbatim(text)
                if self.is_in(&text) || self.fields.contains(&Field::new(document, path)) =>
            {
                Tree::Text(REDACTED.into())
            }
            other => other,
        }
    }

    fn add_node(&mut self, node: &Node) {
        match &node.content {
            Content::Scalar { text, .. } => self.add_value(text),
            Content::Sequence(items) => {
                for item in items {
                    self.add_node(item);
                }
            }
            Content::Mapping(entries) => {
                for (_, value) in entries {
                    self.add_node(value);
                }
            }
        }
    }

    fn is_in_value(&self, value: &Value) -> bool {
        match &value.data {
            Data::Text(text) => self.is_in(text),
            Data::Int(number) => self.is_in(&number.to_string()),
            Data::Float(number) => self.is_in(&yaml::float(*number)),
            Data::List(items) => items.iter().any(|item| self.is_in_value(item)),
            Data::Map(entries) => entries.values().any(|value| self.is_in_value(value)),
            Data::Null | Data::Bool(_) => false,
        }
    }
}

impl Field {
    fn new(document: &str, path: &str) -> Self {
        Self { document: document.to_owned(), path: path.to_owned() }
    }

    /// Returns the fields that a document sets, down to the last.
    pub(crate) fn of_document(document: &Document) -> Vec<Self> {
        let mut fields = Vec::new();
        for (key, value) in &document.body {
            Self::below(&document.id(), key, value, &mut fields);
        }
        fields
    }

    /// The fields in a value.
    pub(crate) fn below(document: &str, path: &str, value: &Value, fields: &mut Vec<Self>) {
        match &value.data {
            Data::Map(entries) if !entries.is_empty() => {
                for (key, value) in entries {
                    Self::below(document, &key_below(path, key), value, fields);
                }
            }
            Data::List(items) if !items.is_empty() => {
                let element = element_of(path);
                for item in items {
                    Self::below(document, &element, item, fields);
                }
            }
            _ => fields.push(Self::new(document, path)),
        }
    }
}

/// Returns the path of a key of an object.
pub(crate) fn key_below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Returns the path of the elements of a list.
pub(crate) fn element_of(path: &str) -> String {
    format!("{path}[]")
}

/// Returns the places where a value stands in a text: anywhere, or between other letters and digits when it is short.
fn occurrences<'t>(text: &'t str, value: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_short = value.chars().count() < SHORTEST_PART;
    text.match_indices(value).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + value.len()..].chars().next();
        !is_short || ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

/// In characters. What is shorter is a part of too many unrelated words; no credential worth the name is.
const SHORTEST_PART: usize = 6;
/// In characters. What is shorter is a word of too many addresses, versions and amounts: `10`, `0`, `v1`.
const SHORTEST_WORD: usize = 3;
/// Words of YAML: one of two guesses finds them, and half of all fields hold one.
const WORDS: &[&str] = &["true", "false", "yes", "off", "null"];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Confidential {
        let mut confidential = Confidential::default();
        for value in values {
            confidential.add_value(value);
        }
        confidential
    }

    #[test]
    fn long_values_are_found_anywhere_and_short_ones_as_words() {
        let confidential = of(&["hunter2", "4711"]);
        for text in ["hunter2", "--token=xhunter2x", "4711", "pin=4711;", "a:4711"] {
            assert!(confidential.is_in(text), "{text}");
        }
        for text in ["hunter", "14711", "4711th", ""] {
            assert!(!confidential.is_in(text), "{text}");
        }
    }

    #[test]
    fn values_that_say_nothing_hide_nothing() {
        let said = ["", " ", "1", "10", "true", "No", "yes", "~", "null", "v1alpha1", "LinkConfig"];
        assert!(of(&said).values.is_empty());
        assert_eq!(of(&["eth0", " padded \n"]).values.len(), 2);
    }

    #[test]
    fn errors_are_told_without_values() {
        let confidential = of(&["secret-1", "secret-123", "eth0"]);
        assert_eq!(
            confidential.redact("bad secret-123 and xsecret-1y on eth0, not eth01"),
            "bad ****** and x******y on ******, not eth01"
        );
    }
}
