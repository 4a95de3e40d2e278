//! What differs between two configurations: by kind and name, field by field, secrets hidden.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Config, Document};
use crate::encode;
use crate::schema::{self, Field, Match, Type};
use crate::secret::REDACTED;
use crate::value::{Data, Value};
use crate::yaml::Tree;

/// One difference.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Difference {
    /// The document: `v1alpha1`, `HostnameConfig`, `LinkConfig/eth0`.
    pub document: String,
    /// The field; empty for the document itself.
    pub path: String,
    /// What it was; `None` when it was not there.
    pub before: Option<String>,
    /// What it is; `None` when it is gone.
    pub after: Option<String>,
}

/// Everything that differs, in the order of the left configuration, then of the right one.
pub fn diff(left: &Config, right: &Config) -> Vec<Difference> {
    let mut differences = Vec::new();
    for document in left.in_order() {
        match right.document(document.kind.name, document.name()) {
            Some(other) => of_documents(document, Some(other), &mut differences),
            None => of_documents(document, None, &mut differences),
        }
    }
    for document in right.in_order() {
        if left.document(document.kind.name, document.name()).is_none() {
            let mut added = Vec::new();
            of_documents(document, None, &mut added);
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

fn of_documents(left: &Document, right: Option<&Document>, differences: &mut Vec<Difference>) {
    let mut comparison = Comparison { document: left.id(), differences };
    if right.is_none() {
        comparison.note("", Some(left.kind.about.to_owned()), None);
    }
    comparison.objects(Some(&left.body), right.map(|right| &right.body), left.kind.fields, "");
}

type Object = BTreeMap<String, Value>;

struct Comparison<'a> {
    document: String,
    differences: &'a mut Vec<Difference>,
}

impl Comparison<'_> {
    fn objects(
        &mut self,
        left: Option<&Object>,
        right: Option<&Object>,
        fields: &'static [Field],
        path: &str,
    ) {
        for field in schema::flat(fields) {
            // An empty list says no more than none at all, where nobody can tell them apart.
            let set = |object: Option<&'_ Object>| {
                let value = object.and_then(|object| object.get(field.key)).cloned();
                value.filter(|value| field.optional || !encode::is_empty(value, field))
            };
            let path = format!("{path}.{}", field.key);
            self.values(set(left).as_ref(), set(right).as_ref(), field.ty, field.secret, &path);
        }
    }

    fn values(
        &mut self,
        left: Option<&Value>,
        right: Option<&Value>,
        ty: Type,
        secret: bool,
        path: &str,
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
            let shown = |value: Option<&Value>| value.map(|value| show(value, ty, secret));
            self.note(path, shown(left), shown(right));
        }
    }

    fn maps(
        &mut self,
        left: Option<&Value>,
        right: Option<&Value>,
        ty: Type,
        secret: bool,
        path: &str,
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
        for key in keys {
            let get = |map: Option<&'_ Object>| map.and_then(|map| map.get(key)).cloned();
            let (left, right) = (get(l), get(r));
            let path = format!("{path}.{key}");
            // Of free-form data that holds secrets, they are the values called so, whatever they are.
            if secret && key == "secret" {
                if left != right {
                    let shown = |value: Option<Value>| value.map(|_| REDACTED.to_owned());
                    self.note(&path, shown(left), shown(right));
                }
                continue;
            }
            self.values(left.as_ref(), right.as_ref(), inner, secret, &path);
        }
    }

    fn lists(
        &mut self,
        left: Option<&Value>,
        right: Option<&Value>,
        ty: Type,
        secret: bool,
        path: &str,
    ) {
        let items =
            |value: Option<&'_ Value>| value.and_then(Value::as_list).unwrap_or_default().to_vec();
        let (l, r) = (items(left), items(right));
        if l.is_empty() && r.is_empty() {
            let shown = |value: Option<&Value>| value.map(|_| "[]".to_owned());
            return self.note(path, shown(left), shown(right));
        }
        let (element, by) = match ty {
            Type::List(element) | Type::StrictList(element) => (*element, None),
            Type::KeyedList(element, by, _) => (*element, Some(by)),
            _ => (Type::Any, None),
        };
        let (l_names, r_names) = (names(&l, by), names(&r, by));
        let mut seen = BTreeSet::new();
        for name in l_names.iter().chain(&r_names).filter(|name| seen.insert(*name)) {
            let find = |names: &[(String, usize)], items: &[Value]| {
                let index = names.iter().position(|other| other == name)?;
                items.get(index).cloned()
            };
            let is_object = matches!(element, Type::Object(_) | Type::WholeObject(_) | Type::Any);
            let path = if is_object && !secret {
                format!("{path}[{}]", name.0)
            } else {
                format!("{path}[]")
            };
            self.values(
                find(&l_names, &l).as_ref(),
                find(&r_names, &r).as_ref(),
                element,
                secret,
                &path,
            );
        }
        let same_elements = seen.len() == l_names.len() && seen.len() == r_names.len();
        if same_elements && l_names != r_names {
            self.note(path, Some("in another order".to_owned()), Some("in this order".to_owned()));
        }
    }

    fn note(&mut self, path: &str, before: Option<String>, after: Option<String>) {
        let path = path.trim_start_matches('.').to_owned();
        self.differences.push(Difference { document: self.document.clone(), path, before, after });
    }
}

/// What tells each element of a list apart: a name if it has one, itself if it is a scalar, else its
/// place; with a count where several are alike.
pub(crate) fn names(items: &[Value], by: Option<Match>) -> Vec<(String, usize)> {
    let mut names: Vec<(String, usize)> = Vec::new();
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
        let earlier = names.iter().filter(|(other, _)| *other == name).count();
        names.push((name, earlier));
    }
    names
}

/// A value in one line for people, secrets hidden and long texts cut.
pub(crate) fn show(value: &Value, ty: Type, secret: bool) -> String {
    line(&encode::shown(value, ty, secret))
}

fn scalar(value: &Value) -> String {
    show(value, Type::Any, false)
}

fn line(tree: &Tree<'_>) -> String {
    match tree {
        Tree::Text(text) if text.is_empty() => "\"\"".to_owned(),
        Tree::Text(text) if text.contains('\n') || text.chars().count() > LONGEST_SHOWN => {
            let start: String =
                text.lines().next().unwrap_or_default().chars().take(LONGEST_SHOWN / 2).collect();
            format!("{start}… ({} bytes)", text.len())
        }
        Tree::Text(text) | Tree::Verbatim(text) => text.to_string(),
        Tree::List(items) => format!("[{}]", items.iter().map(line).collect::<Vec<_>>().join(", ")),
        Tree::Map(entries) => {
            let pairs = entries.iter().map(|(key, value)| format!("{key}: {}", line(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// In characters: what still fits into a line of a terminal beside its path.
const LONGEST_SHOWN: usize = 60;

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
