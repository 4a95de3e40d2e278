//! Why a value is what it is: its history through the layers, and what it means.

use crate::config::{Config, Document};
use crate::diff::{names, show};
use crate::error::Error;
use crate::nearest::nearest;
use crate::patch::{Patch, Patched};
use crate::schema::{self, Field, Type};
use crate::value::{Data, Value};
use crate::yaml::Dialect;
use crate::{Origin, Problem, Source, kinds};

/// A value, where it comes from and what it means.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The document: `v1alpha1`, `HostnameConfig`, `LinkConfig/eth0`.
    pub document: String,
    /// The field.
    pub path: String,
    /// Its value, secrets hidden; `None` when it is not set.
    pub value: Option<String>,
    /// How it became so, the last change last.
    pub history: Vec<Change>,
    /// What it means, where there is something to say.
    pub about: &'static str,
    /// The first release that knows it, where that is later than its document's.
    pub since: Option<schema::Release>,
}

/// One change of a value.
#[derive(Clone, Debug)]
pub struct Change {
    /// Zero for the configuration itself, one for the first patch, and so on.
    pub layer: usize,
    /// What it became; `None` when it was taken away.
    pub value: Option<String>,
    /// Where that was written; no line when a patch took it away.
    pub origin: Origin,
}

/// Follows a field through a configuration and its patches.
pub fn explain(
    text: &str,
    source: Source,
    patches: &[Patch],
    path: &str,
) -> Result<Explanation, Error> {
    let mut state = Patched::Text(text.to_owned(), source);
    let mut config = state.clone().into_config()?;
    let mut history = Vec::new();
    let mut last: Option<Value> = None;
    for layer in 0..=patches.len() {
        if layer > 0 {
            state = state.apply(&patches[layer - 1], Dialect::default())?;
            config = state.clone().into_config()?;
        }
        let found = Place::find(&config, path)
            .and_then(|place| place.value.map(|value| (place, value.clone())));
        match found {
            Some((place, value)) if last.as_ref() != Some(&value) => {
                let shown = Some(show(&value, place.ty, place.secret));
                history.push(Change { layer, value: shown, origin: newest(&value, last.as_ref()) });
                last = Some(value);
            }
            None if last.is_some() => {
                history.push(Change { layer, value: None, origin: Origin::default() });
                last = None;
            }
            _ => {}
        }
    }
    let place = Place::find(&config, path)
        .or_else(|| Place::of_kind(path))
        .ok_or_else(|| unknown(&config, path))?;
    Ok(Explanation {
        document: place.document,
        path: place.path,
        value: place.value.map(|value| show(value, place.ty, place.secret)),
        history,
        about: place.about,
        since: place.since,
    })
}

/// Every value that was written, with its path and its origin.
pub fn origins(config: &Config) -> Vec<(String, Origin)> {
    let mut found = Vec::new();
    for document in config.in_order() {
        for (key, value) in &document.body {
            leaves(value, format!("{}.{key}", document.id()), &mut found);
        }
    }
    found
}

fn leaves(value: &Value, path: String, found: &mut Vec<(String, Origin)>) {
    match &value.data {
        Data::Map(entries) if !entries.is_empty() => {
            for (key, value) in entries {
                leaves(value, format!("{path}.{key}"), found);
            }
        }
        Data::List(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                leaves(item, format!("{path}[{index}]"), found);
            }
        }
        _ => found.push((path, value.origin)),
    }
}

/// Where the part of a value that is new was written.
fn newest(value: &Value, before: Option<&Value>) -> Origin {
    match (&value.data, before.map(|before| &before.data)) {
        (Data::Map(now), Some(Data::Map(then))) => {
            let changed = now.iter().find(|(key, value)| then.get(*key) != Some(value));
            changed.map_or(value.origin, |(key, value)| newest(value, then.get(key)))
        }
        (Data::List(now), Some(Data::List(then))) => {
            let at = now.iter().zip(then).take_while(|(now, then)| now == then).count();
            now.get(at).map_or(value.origin, |item| newest(item, then.get(at)))
        }
        _ => value.origin,
    }
}

/// A field in a configuration or, without a value, in the table of a kind.
struct Place<'a> {
    document: String,
    path: String,
    value: Option<&'a Value>,
    ty: Type,
    secret: bool,
    about: &'static str,
    since: Option<schema::Release>,
}

impl<'a> Place<'a> {
    fn find(config: &'a Config, path: &str) -> Option<Self> {
        // The longest name first, so that `LinkConfig/eth0.100` is not taken for `eth0`.
        let mut documents: Vec<&Document> = config.documents().iter().collect();
        documents.sort_by_key(|document| std::cmp::Reverse(document.id().len()));
        let named =
            documents.iter().find_map(|document| Some((*document, below(path, &document.id())?)));
        let (document, rest) = match named {
            Some(found) => found,
            None => (config.document(kinds::V1ALPHA1.name, "")?, path),
        };
        let mut place = Self {
            document: document.id(),
            path: rest.to_owned(),
            value: None,
            ty: Type::Object(document.kind.fields),
            secret: false,
            about: document.kind.about,
            since: None,
        };
        if rest.is_empty() {
            return Some(place);
        }
        let (key, mut rest) = split(rest);
        let mut field = schema::find(document.kind.fields, key)?;
        place.enter(field);
        place.value = document.body.get(key);
        while !rest.is_empty() {
            if let Some(selector) = rest.strip_prefix('[') {
                let (selector, after) = selector.split_once(']')?;
                place.select(selector)?;
                rest = after;
                continue;
            }
            let key_path = rest.strip_prefix('.')?;
            match place.ty {
                Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields) => {
                    let (key, after) = split(key_path);
                    field = schema::find(fields, key)?;
                    place.enter(field);
                    place.value = place.value.and_then(|value| value.get(key));
                    rest = after;
                }
                _ => rest = place.map_key(key_path)?,
            }
        }
        Some(place)
    }

    /// A field that no document of the configuration has.
    fn of_kind(path: &str) -> Option<Self> {
        let kind = kinds::ALL.iter().find(|kind| below(path, kind.name).is_some())?;
        let rest = below(path, kind.name)?;
        let mut fields = kind.fields;
        let mut place = Self {
            document: kind.name.to_owned(),
            path: rest.to_owned(),
            value: None,
            ty: Type::Object(fields),
            secret: false,
            about: kind.about,
            since: Some(kind.since),
        };
        for key in rest.split('.').filter(|key| !key.is_empty()) {
            let field = schema::find(fields, key.split('[').next()?)?;
            place.enter(field);
            fields = match field.ty {
                Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields) => {
                    fields
                }
                Type::List(Type::Object(fields))
                | Type::StrictList(Type::Object(fields))
                | Type::KeyedList(Type::Object(fields), ..) => fields,
                _ => &[],
            };
        }
        Some(place)
    }

    fn enter(&mut self, field: &'static Field) {
        (self.ty, self.about, self.since) = (field.ty, field.about, field.since);
        self.secret |= field.secret;
    }

    /// Goes to an element of a list, by its place or its name.
    fn select(&mut self, selector: &str) -> Option<()> {
        let (element, by) = match self.ty {
            Type::List(element) | Type::StrictList(element) => (*element, None),
            Type::KeyedList(element, by, _) => (*element, Some(by)),
            _ => (Type::Any, None),
        };
        let items = self.value?.as_list()?;
        let index = names(items, by).iter().position(|(name, _)| name == selector);
        let index = index.or_else(|| selector.parse().ok())?;
        self.value = items.get(index);
        (self.ty, self.about) = (element, "");
        self.value.map(drop)
    }

    /// Goes to a key of a map. Keys may contain dots, so the longest that is there is taken.
    fn map_key<'p>(&mut self, path: &'p str) -> Option<&'p str> {
        let map = self.value?.as_map()?;
        let ends = path.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
        let mut ends: Vec<usize> = ends.chain([path.len()]).collect();
        ends.reverse();
        let end = ends.into_iter().find(|end| map.contains_key(&path[..*end]))?;
        self.value = map.get(&path[..end]);
        self.ty = match self.ty {
            Type::Map(element) => *element,
            _ => Type::Any,
        };
        self.about = "";
        Some(&path[end..])
    }
}

/// What follows a document's name in a path.
fn below<'p>(path: &'p str, document: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(document)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

fn split(path: &str) -> (&str, &str) {
    path.split_at(path.find(['.', '[']).unwrap_or(path.len()))
}

/// Says which part of a path is wrong, and what was probably meant.
fn unknown(config: &Config, path: &str) -> Error {
    let kind = kinds::ALL.iter().find(|kind| split(path).0.split('/').next() == Some(kind.name));
    let mut fields = kind.map_or(kinds::V1ALPHA1.fields, |kind| kind.fields);
    let mut keys = path.split(['.', '[']).skip(usize::from(kind.is_some()));
    let wrong = loop {
        let Some(key) = keys.next() else { break None };
        match schema::find(fields, key).map(|field| field.ty) {
            Some(Type::Object(inner) | Type::WholeObject(inner) | Type::Encryption(inner)) => {
                fields = inner;
            }
            Some(_) => break None,
            None => break Some(key),
        }
    };
    let kinds = config.documents().iter().map(|document| document.kind.name);
    let known = schema::flat(fields).map(|field| field.key).chain(kinds);
    let near = wrong.and_then(|key| nearest(key, known));
    Error::Document(vec![Problem {
        origin: Origin::default(),
        message: format!("nothing is at {path:?}"),
        hint: near.map(|near| format!("did you mean {near:?}?")),
    }])
}
