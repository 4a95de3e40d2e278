//! A configuration during conversion.

use std::collections::BTreeMap;

use talos_config::{Config, Contract, Data, Document, Error, Value};

use super::{Converted, Moved, NotMoved};
use crate::door::documents::{document, object};

pub(super) struct Draft {
    /// The `v1alpha1` document.
    legacy: Value,
    /// The `v1alpha1` document of the input.
    first: Option<Document>,
    documents: Vec<Document>,
    moved: Vec<Moved>,
    not_moved: Vec<NotMoved>,
}

impl Draft {
    pub(super) fn new(config: &Config) -> Self {
        let mut documents = config.documents().to_vec();
        let at = documents.iter().position(|document| document.kind.name == LEGACY);
        let first = at.map(|at| documents.remove(at));
        let body = first.as_ref().map(|document| document.body.clone()).unwrap_or_default();
        let legacy = Value::new(Data::Map(body));
        Self { legacy, first, documents, moved: Vec::new(), not_moved: Vec::new() }
    }

    pub(super) fn finish(mut self, contract: Contract) -> Result<Converted, Error> {
        for document in &self.documents {
            let since = document.kind.since;
            if contract < since {
                let reason =
                    format!("Talos knows it from {since} on, and nothing older says the same");
                self.not_moved.push(NotMoved { path: document.id(), reason });
            }
        }
        let mut documents = Vec::new();
        if let Some(mut first) = self.first {
            first.body = self.legacy.as_map().cloned().unwrap_or_default();
            documents.push(first);
        }
        documents.extend(self.documents);
        self.moved.sort();
        self.not_moved.sort();
        Ok(Converted {
            config: Config::new(documents)?,
            moved: self.moved,
            not_moved: self.not_moved,
        })
    }

    pub(super) fn is_control_plane(&self) -> bool {
        let machine = self.get("machine.type").and_then(Value::as_text).unwrap_or_default();
        matches!(machine, "controlplane" | "init")
    }

    /// Returns true if there is a `cluster` section: a patch, or a partial configuration, may leave
    /// it out.
    pub(super) fn has_cluster(&self) -> bool {
        self.get("cluster").is_some()
    }

    /// Returns a value of the `v1alpha1` document.
    pub(super) fn get(&self, path: &str) -> Option<&Value> {
        path.split('.').try_fold(&self.legacy, |value, key| value.get(key))
    }

    /// Removes a value from the `v1alpha1` document, with objects that become empty.
    pub(super) fn take(&mut self, path: &str) -> Option<Value> {
        let keys: Vec<&str> = path.split('.').collect();
        remove(&mut self.legacy, &keys)
    }

    /// Sets a value of the `v1alpha1` document.
    pub(super) fn put(&mut self, path: &str, value: Value) {
        let keys: Vec<&str> = path.split('.').collect();
        insert(&mut self.legacy, &keys, value);
    }

    /// Returns a field of a singleton document.
    pub(super) fn field(&self, kind: &str, path: &str) -> Option<&Value> {
        let document = self.documents.iter().find(|document| document.kind.name == kind)?;
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let value = document.body.get(first)?;
        rest.split('.').filter(|key| !key.is_empty()).try_fold(value, |value, key| value.get(key))
    }

    /// Sets a field of a singleton document, and adds the document if need be.
    pub(super) fn set_field(&mut self, kind: &'static str, path: &str, value: Value) {
        let at = self.documents.iter().position(|document| document.kind.name == kind);
        let at = at.unwrap_or_else(|| {
            self.documents.push(document(kind, Vec::new()));
            self.documents.len() - 1
        });
        let body = std::mem::take(&mut self.documents[at].body);
        let mut whole = Value::new(Data::Map(body));
        let keys: Vec<&str> = path.split('.').collect();
        insert(&mut whole, &keys, value);
        self.documents[at].body = whole.as_map().cloned().unwrap_or_default();
    }

    /// Removes a field of a singleton document; an empty document goes with it.
    pub(super) fn take_field(&mut self, kind: &str, path: &str) -> Option<Value> {
        let at = self.documents.iter().position(|document| document.kind.name == kind)?;
        let body = std::mem::take(&mut self.documents[at].body);
        let mut whole = Value::new(Data::Map(body));
        let keys: Vec<&str> = path.split('.').collect();
        let taken = remove(&mut whole, &keys);
        self.documents[at].body = whole.as_map().cloned().unwrap_or_default();
        if taken.is_some() && self.documents[at].body.is_empty() {
            self.documents.remove(at);
        }
        taken
    }

    /// Returns the documents of a kind.
    pub(super) fn of_kind(&self, kind: &str) -> Vec<&Document> {
        self.documents.iter().filter(|document| document.kind.name == kind).collect()
    }

    /// Removes the documents of a kind.
    pub(super) fn take_kind(&mut self, kind: &str) -> Vec<Document> {
        let (taken, kept) =
            std::mem::take(&mut self.documents).into_iter().partition(|it| it.kind.name == kind);
        self.documents = kept;
        taken
    }

    pub(super) fn add(&mut self, document: Document) {
        self.documents.push(document);
    }

    pub(super) fn moved(&mut self, from: &str, to: &str) {
        self.moved.push(Moved { from: from.to_owned(), to: to.to_owned() });
    }

    pub(super) fn keep(&mut self, path: &str, reason: &str) {
        self.not_moved.push(NotMoved { path: path.to_owned(), reason: reason.to_owned() });
    }

    /// Moves single values to fields of documents.
    pub(super) fn rename(&mut self, renames: &[Rename]) {
        for (from, kind, to) in renames {
            if let Some(value) = self.take(from) {
                self.set_field(kind, to, value);
                self.moved(from, &format!("{kind}.{to}"));
            }
        }
    }

    /// Moves fields of documents to single values.
    pub(super) fn rename_back(&mut self, renames: &[Rename]) {
        for (to, kind, from) in renames {
            if let Some(value) = self.take_field(kind, from) {
                self.put(to, value);
                self.moved(&format!("{kind}.{from}"), to);
            }
        }
    }

    /// Returns the keys of an object of the `v1alpha1` document other than the known ones.
    pub(super) fn others(&self, path: &str, known: &[&str]) -> Vec<String> {
        let keys = self.get(path).and_then(Value::as_map).into_iter().flatten();
        keys.map(|(key, _)| key.clone()).filter(|key| !known.contains(&key.as_str())).collect()
    }

    /// Returns true, and records why, if an object of the `v1alpha1` document has keys without a
    /// place in any document.
    pub(super) fn is_stuck(&mut self, path: &str, known: &[&str]) -> bool {
        let others = self.others(path, known);
        if !others.is_empty() {
            let reason = format!("no document has a place for {}", others.join(", "));
            self.keep(path, &reason);
        }
        !others.is_empty()
    }

    /// Returns true if a document of a kind has fields other than the known ones.
    pub(super) fn is_newer(&self, kind: &str, known: &[&str]) -> bool {
        let documents = self.of_kind(kind);
        let mut fields = documents.iter().flat_map(|document| &document.body);
        fields.any(|(key, value)| {
            let is_empty = value.as_map().is_some_and(BTreeMap::is_empty);
            !is_empty && !known.contains(&key.as_str())
        })
    }
}

/// A path in the `v1alpha1` document, a kind, and a path in it.
pub(super) type Rename = (&'static str, &'static str, &'static str);

fn insert(value: &mut Value, path: &[&str], new: Value) {
    if !matches!(value.data, Data::Map(_)) {
        *value = object(Vec::new());
    }
    let Data::Map(map) = &mut value.data else { return };
    match path {
        [] => {}
        [last] => drop(map.insert((*last).to_owned(), new)),
        [first, rest @ ..] => {
            let inner = map.entry((*first).to_owned()).or_insert_with(|| object(Vec::new()));
            insert(inner, rest, new);
        }
    }
}

fn remove(value: &mut Value, path: &[&str]) -> Option<Value> {
    let Data::Map(map) = &mut value.data else { return None };
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        return map.remove(*first);
    }
    let inner = map.get_mut(*first)?;
    let removed = remove(inner, rest)?;
    // Both sections of the `v1alpha1` document always exist.
    let part = ["machine", "cluster"].contains(first);
    if !part && inner.as_map().is_some_and(BTreeMap::is_empty) {
        map.remove(*first);
    }
    Some(removed)
}

/// Returns true if a value is `true`.
pub(super) fn is_true(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.data == Data::Bool(true))
}

pub(super) fn flag(value: bool) -> Value {
    Value::new(Data::Bool(value))
}

pub(super) fn number(value: i128) -> Value {
    Value::new(Data::Int(value))
}

pub(super) fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::new(Data::List(items.into_iter().collect()))
}

/// Returns the fields that exist, under their new names.
pub(super) fn picked(
    from: &Value,
    keys: &[(&'static str, &'static str)],
) -> Vec<(&'static str, Value)> {
    keys.iter().filter_map(|(old, new)| Some((*new, from.get(old)?.clone()))).collect()
}

/// Returns the fields of a document as a value.
pub(super) fn body(document: &Document) -> Value {
    Value::new(Data::Map(document.body.clone()))
}

/// Returns true if a value has these keys only.
pub(super) fn has_only(value: &Value, keys: &[&str]) -> bool {
    value.as_map().is_some_and(|map| map.keys().all(|key| keys.contains(&key.as_str())))
}

const LEGACY: &str = "v1alpha1";
