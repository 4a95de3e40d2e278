//! A place in a document, whether something is written there or not.

use std::collections::BTreeMap;

use crate::format;
use crate::format::url::Url;
use crate::value::{Data, Value};
use crate::{Document, Location};

/// What stands at a path of a document. Everything can be asked of a place where nothing stands:
/// its text is empty, its number is zero, it has no items.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    node: Node<'a>,
    /// Where it is written, or else the place around it.
    origin: Location,
}

#[derive(Clone, Copy)]
enum Node<'a> {
    Document(&'a Document),
    Value(&'a Value),
    Unset,
}

impl<'a> Cursor<'a> {
    pub(super) fn root(document: &'a Document) -> Self {
        Self { node: Node::Document(document), origin: document.origin }
    }

    /// A value that is in no document yet.
    pub(super) fn of(value: &'a Value) -> Self {
        Self { node: Node::Value(value), origin: value.origin }
    }

    /// A place that belongs to nothing.
    pub(super) fn nowhere() -> Self {
        Self { node: Node::Unset, origin: Location::default() }
    }

    /// The place at a path of keys with dots between them.
    pub(super) fn at(self, path: &str) -> Self {
        path.split('.').fold(self, Self::key)
    }

    fn key(self, key: &str) -> Self {
        match self.map().and_then(|map| map.get(key)) {
            Some(value) => self.value(value),
            None => Self { node: Node::Unset, ..self },
        }
    }

    fn value(self, value: &'a Value) -> Self {
        let origin = if value.origin.line == 0 { self.origin } else { value.origin };
        Self { node: Node::Value(value), origin }
    }

    pub(super) fn origin(self) -> Location {
        self.origin
    }

    /// Whether something is written here, be it empty.
    pub(super) fn is_set(self) -> bool {
        !matches!(self.node, Node::Unset)
    }

    pub(super) fn text(self) -> &'a str {
        match self.data() {
            Some(Data::Text(text)) => text,
            _ => "",
        }
    }

    /// The text, without the `!` that may stand in front of it.
    pub(super) fn without_negation(self) -> &'a str {
        let text = self.text();
        text.strip_prefix('!').unwrap_or(text)
    }

    pub(super) fn flag(self) -> bool {
        matches!(self.data(), Some(Data::Bool(true)))
    }

    /// Whether it says no, which is something else than saying nothing.
    pub(super) fn is_false(self) -> bool {
        matches!(self.data(), Some(Data::Bool(false)))
    }

    pub(super) fn number(self) -> i128 {
        match self.data() {
            Some(Data::Int(number)) => *number,
            _ => 0,
        }
    }

    /// Nanoseconds.
    pub(super) fn duration(self) -> i64 {
        format::duration::nanoseconds(self.text()).unwrap_or_default()
    }

    /// A URL; an empty one is none.
    pub(super) fn url(self) -> Option<Url> {
        let text = Some(self.text()).filter(|text| !text.is_empty());
        text.and_then(|text| Url::parse(text).ok())
    }

    pub(super) fn items(self) -> impl ExactSizeIterator<Item = Self> {
        let items = match self.data() {
            Some(Data::List(items)) => items.as_slice(),
            _ => &[],
        };
        items.iter().map(move |item| self.value(item))
    }

    pub(super) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        let map = self.map();
        map.into_iter().flatten().map(move |(key, value)| (key.as_str(), self.value(value)))
    }

    pub(super) fn data(self) -> Option<&'a Data> {
        match self.node {
            Node::Value(value) => Some(&value.data),
            Node::Document(_) | Node::Unset => None,
        }
    }

    /// Whether it holds no item and no entry.
    pub(super) fn is_empty(self) -> bool {
        self.items().len() == 0 && self.map().is_none_or(BTreeMap::is_empty)
    }

    fn map(self) -> Option<&'a BTreeMap<String, Value>> {
        match self.node {
            Node::Document(document) => Some(&document.body),
            Node::Value(Value { data: Data::Map(map), .. }) => Some(map),
            _ => None,
        }
    }
}
