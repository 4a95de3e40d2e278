//! The differences between two configurations: by kind and name, field by field, secrets hidden.

use std::collections::{BTreeMap, BTreeSet};

use crate::confidential::{Confidential, element_of, key_below};
use crate::config::{Config, Document};
use crate::encode;
use crate::schema::{self, Field, Match, Type};
use crate::secret::REDACTED;
use crate::value::{Data, Value};
use crate::yaml::{Dialect, Tree};

/// One difference.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// The document: `v1alpha1`, `HostnameConfig`, `LinkConfig/eth0`.
    pub document: String,
    /// The field; empty for the document itself.
    pub path: String,
    /// The value before, in one line; `None` when it was not there.
    pub before: Option<String>,
    /// The value after, in one line; `None` when it is gone.
    pub after: Option<String>,
}

/// Returns everything that differs, in the order of the left configuration, then of the right one.
pub fn diff(left: &Config, right: &Config) -> Vec<Difference> {
    diff_hiding(left, right, &Confidential::default())
}

/// Returns the same differences, with what came out of encrypted files hidden on both sides: the left side may hold
/// what a file held before.
pub fn diff_hiding(left: &Config, right: &Config, confidential: &Confidential) -> Vec<Difference> {
    let mut differences = Vec::new();
    let (left_ids, right_ids) = (by_id(left), by_id(right));
    for document in left.in_order() {
        let other = right_ids.get(&(document.kind.name, document.name())).copied();
        let mut alike = right.documents().iter().filter(|other| other.kind == document.kind);
        if other.is_none() && alike.any(|other| confidential.names(other)) {
            // It may be what an encrypted file held before.
            let (shown, about) = (Confidential::hidden_id(document), document.kind.about);
            let before = Some(about.to_owned());
            differences.push(Difference {
                document: shown,
                path: String::new(),
                before,
                after: None,
            });
        } else {
            of_documents(document, other, confidential, &mut differences);
        }
    }
    for document in right.in_order() {
        if !left_ids.contains_key(&(document.kind.name, document.name())) {
            let mut added = Vec::new();
            of_documents(document, None, confidential, &mut added);
            let swap = |difference: Difference| Difference {
                before: difference.after,
                after: difference.before,
                ..difference
            };
            differences.extend(added.into_iter().map(swap));
        }
    }
    differences
}

fn by_id(config: &Config) -> BTreeMap<(&str, &str), &Document> {
    config
        .documents()
        .iter()
        .map(|document| ((document.kind.name, document.name()), document))
        .collect()
}

fn of_documents(
    left: &Document,
    right: Option<&Document>,
    confidential: &Confidential,
    differences: &mut Vec<Difference>,
) {
    let (document, shown) = (left.id(), printable(&confidential.id(left)));
    let mut comparison = Comparison { document, shown, confidential, differences };
    let path = Path::default();
    if right.is_none() {
        comparison.note(&path, Some(left.kind.about.to_owned()), None);
    }
    comparison.objects(Some(&left.body), right.map(|right| &right.body), left.kind.fields, &path);
}

type Object = BTreeMap<String, Value>;

/// The way to a field.
#[derive(Default)]
struct Path {
    /// With the names of elements: `machine.files[/etc/a].content`.
    shown: String,
    /// Without them: `machine.files[].content`.
    field: String,
}

impl Path {
    fn key(&self, key: &str) -> Self {
        self.named(key, key)
    }

    /// `shown`: the key as it is shown.
    fn named(&self, key: &str, shown: &str) -> Self {
        Self { shown: key_below(&self.shown, shown), field: key_below(&self.field, key) }
    }

    fn element(&self, name: &str) -> Self {
        Self { shown: format!("{}[{name}]", self.shown), field: element_of(&self.field) }
    }
}

struct Comparison<'a> {
    document: String,
    /// The document as it is shown.
    shown: String,
    confidential: &'a Confidential,
    differences: &'a mut Vec<Difference>,
}

impl Comparison<'_> {
    fn objects(
        &mut self,
        left: Option<&Object>,
        right: Option<&Object>,
        fields: &'static [Field],
        path: &Path,
    ) {
        for field in schema::flat(fields) {
            let (left, right) = (set(left, field), set(right, field));
            if left != right {
                let secret = field.secret || field.private;
                self.values(left, right, field.ty, secret, &path.key(field.key));
            }
        }
    }

    fn values(
        &mut self,
        left: Option<&Value>,
        right: Option<&Value>,
        ty: Type,
        secret: bool,
        path: &Path,
    ) {
        if left == right {
            return;
        }
        let present = || [left, right].into_iter().flatten();
        if present().all(|value| matches!(value.data, Data::Map(_))) {
            self.maps(left, right, ty, secret, path);
        } else if present().all(|value| matches!(value.data, Data::List(_))) {
            self.lists(left, right, ty, secret, path);
        } else {
            let values: Vec<&Value> = present().collect();
            let is_hidden = self.confidential.hides(&self.document, &path.field, &values);
            let shown = |value: &Value| {
                if is_hidden { REDACTED.to_owned() } else { show(value, ty, secret) }
            };
            self.note(path, left.map(shown), right.map(shown));
        }
    }

    fn maps(
        &mut self,
        left: Option<&Value>,
        right: Option<&Value>,
        ty: Type,
        secret: bool,
        path: &Path,
    ) {
        let (l, r) = (left.and_then(Value::as_map), right.and_then(Value::as_map));
        let keys: BTreeSet<&String> =
            [l, r].into_iter().flatten().flat_map(BTreeMap::keys).collect();
        if keys.is_empty() {
            let shown = |value: Option<&Value>| value.map(|_| "{}".to_owned());
            return self.note(path, shown(left), shown(right));
        }
        let inner = match ty {
            Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields) => {
                return self.objects(l, r, fields, path);
            }
            Type::Map(element) => *element,
            _ => Type::Any,
        };
        let of_right = || r.into_iter().flatten();
        let hides_keys = of_right().any(|(key, _)| self.confidential.is_in(key));
        let hides_values = hides_keys
            || of_right().any(|(key, value)| self.hides_part(&key_below(&path.field, key), value));
        for key in keys {
            let (left, right) = (l.and_then(|map| map.get(key)), r.and_then(|map| map.get(key)));
            // What is gone may be what an encrypted file held before.
            if right.is_none() && hides_values {
                let shown = if hides_keys { REDACTED } else { key };
                self.note(&path.named(key, shown), Some(REDACTED.to_owned()), None);
                continue;
            }
            let path = path.named(key, &self.confidential.name(key.into()));
            // Of free-form data that holds secrets, they are the values called so, whatever they are.
            if secret && key == "secret" {
                if left != right {
                    let shown = |value: Option<&Value>| value.map(|_| REDACTED.to_owned());
                    self.note(&path, shown(left), shown(right));
                }
                continue;
            }
            self.values(left, right, inner, secret, &path);
        }
    }

    fn lists(
        &mut self,
        left: Option<&Value>,
        right: Option<&Value>,
        ty: Type,
        secret: bool,
        path: &Path,
    ) {
        let l = left.and_then(Value::as_list).unwrap_or_default();
        let r = right.and_then(Value::as_list).unwrap_or_default();
        if l.is_empty() && r.is_empty() {
            let shown = |value: Option<&Value>| value.map(|_| "[]".to_owned());
            return self.note(path, shown(left), shown(right));
        }
        let (element, by) = match ty {
            Type::List(element) | Type::StrictList(element) => (*element, None),
            Type::KeyedList(element, by, _) => (*element, Some(by)),
            _ => (Type::Any, None),
        };
        let (l_names, r_names) = (names(l, by), names(r, by));
        let l_places: BTreeMap<_, _> = l_names.iter().zip(l).collect();
        let r_places: BTreeMap<_, _> = r_names.iter().zip(r).collect();
        let has_names =
            !secret && matches!(element, Type::Object(_) | Type::WholeObject(_) | Type::Any);
        let element_field = element_of(&path.field);
        let is_hidden = r.iter().any(|item| self.hides_part(&element_field, item));
        let added = r_names.iter().enumerate().filter(|(_, name)| !l_places.contains_key(name));
        for (at, name) in l_names.iter().enumerate().chain(added) {
            let (left, right) = (l_places.get(name).copied(), r_places.get(name).copied());
            if left == right {
                continue;
            }
            // What is gone may be what an encrypted file held before.
            let is_gone = right.is_none() && is_hidden;
            let path = match name.0.as_str() {
                _ if !has_names => path.element(""),
                name if is_gone || self.confidential.is_in(name) => path.element(&at.to_string()),
                name => path.element(name),
            };
            if is_gone {
                self.note(&path, Some(REDACTED.to_owned()), None);
            } else {
                self.values(left, right, element, secret, &path);
            }
        }
        if l_names != r_names && l_places.keys().eq(r_places.keys()) {
            self.note(path, Some("in another order".to_owned()), Some("in this order".to_owned()));
        }
    }

    /// Returns whether something in a field is hidden because of an encrypted file.
    fn hides_part(&self, field: &str, value: &Value) -> bool {
        self.confidential.hides_part(&self.document, field, value)
    }

    fn note(&mut self, path: &Path, before: Option<String>, after: Option<String>) {
        let (document, path) = (self.shown.clone(), printable(&path.shown));
        self.differences.push(Difference { document, path, before, after });
    }
}

/// Returns a field's value, unless it is empty: an empty list says no more than none, where the two cannot be told
/// apart.
fn set<'v>(object: Option<&'v Object>, field: &Field) -> Option<&'v Value> {
    let value = object.and_then(|object| object.get(field.key));
    value.filter(|value| field.optional || !encode::is_empty(value, field, Dialect::default()))
}

/// Returns the name of each element of a list: a name if it has one, itself if it is a scalar, else its place; with a
/// count where several are alike.
pub(crate) fn names(items: &[Value], by: Option<Match>) -> Vec<(String, usize)> {
    let mut names = Vec::with_capacity(items.len());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let name = match (&item.data, by) {
            (Data::Map(_), Some(Match::Merge(key) | Match::Replace(key))) => {
                item.get(key).map(scalar)
            }
            (Data::Map(_), _) => NAMING.iter().find_map(|key| item.get(key)).map(scalar),
            (Data::List(_), _) => None,
            _ => Some(scalar(item)),
        };
        let name = name.unwrap_or_else(|| index.to_string());
        let earlier = counts.entry(name.clone()).or_default();
        names.push((name, *earlier));
        *earlier += 1;
    }
    names
}

/// Returns a value in one line for people, secrets hidden, and nothing in it that a terminal would obey.
pub(crate) fn show(value: &Value, ty: Type, secret: bool) -> String {
    line(&encode::shown(value, ty, secret))
}

fn scalar(value: &Value) -> String {
    show(value, Type::Any, false)
}

/// Returns a tree in one line.
pub(crate) fn line(tree: &Tree<'_>) -> String {
    match tree {
        Tree::Text(text) if text.is_empty() => "\"\"".to_owned(),
        Tree::Text(text) | Tree::Argument(text) | Tree::Verbatim(text) => printable(text),
        Tree::List(items) => format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", ")),
        Tree::Map(entries) => {
            let pairs =
                entries.iter().map(|(key, value)| format!("{}: {}", printable(key), line(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Text without control characters: line breaks and escapes are spelled out.
fn printable(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            result.extend(character.escape_default());
        } else {
            result.push(character);
        }
    }
    result
}

/// Keys that name an element, the most telling first.
const NAMING: &[&str] = &[
    "name",
    "interface",
    "address",
    "subnet",
    "path",
    "mountPath",
    "endpoint",
    "url",
    "destination",
    "slot",
    "image",
];
