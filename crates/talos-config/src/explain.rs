//! Explanations: the history of a value through the layers, and its meaning.

use crate::confidential::{Confidential, element_of, key_below};
use crate::config::{Config, Document};
use crate::contract::Contract;
use crate::diff::{line, names};
use crate::encode;
use crate::error::Error;
use crate::error::problem;
use crate::patch::{Patch, Patched};
use crate::schema::{self, Field, Type};
use crate::secret::REDACTED;
use crate::suggest::suggest;
use crate::value::{Data, Value};
use crate::yaml::{self, Dialect, Tree};
use crate::{Diagnostic, Location, SourceId, kinds};

/// A value, where it comes from and what it means.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The document: `v1alpha1`, `HostnameConfig`, `LinkConfig/eth0`.
    pub document: String,
    /// The field; empty for the document itself.
    pub path: String,
    /// Its value in one line, secrets hidden; `None` when it is not set.
    pub value: Option<String>,
    /// The same in lines, as in a file.
    pub block: Option<String>,
    /// The changes of the value, the last one last.
    pub history: Vec<ValueChange>,
    /// The meaning, where there is something to say beyond the name.
    pub about: &'static str,
    /// The first release that knows it, where that is later than its document's.
    pub since: Option<Contract>,
}

/// One change of a value.
#[derive(Clone, Debug)]
pub struct ValueChange {
    /// Zero for the configuration itself, one for the first patch, and so on.
    pub layer: usize,
    /// The new value; `None` when it was taken away.
    pub value: Option<String>,
    /// The location of the change; no line when a patch only took something away.
    pub origin: Location,
}

/// Follows a field through a configuration and its patches. What came out of encrypted files is hidden.
pub fn explain(
    text: &str,
    source: SourceId,
    patches: &[Patch],
    path: &str,
    confidential: &Confidential,
) -> Result<Explanation, Error> {
    let mut state = Patched::new(text.to_owned(), source);
    let mut config = state.clone().into_config()?;
    let mut track = Track::new(path, confidential);
    track.see(&config);
    for patch in patches {
        state = state.apply(patch, Dialect::default())?;
        config = state.clone().into_config()?;
        track.see(&config);
    }
    track.explain(&config)
}

/// Follows a field through what a configuration was after each layer, for layers that were laid already.
pub fn explain_steps<'c>(
    steps: impl IntoIterator<Item = &'c Config>,
    path: &str,
    confidential: &Confidential,
) -> Result<Explanation, Error> {
    let mut track = Track::new(path, confidential);
    let mut last = None;
    for config in steps {
        track.see(config);
        last = Some(config);
    }
    last.ok_or(Error::Empty).and_then(|config| track.explain(config))
}

/// One field, and how it became what it is.
struct Track<'p> {
    path: &'p str,
    confidential: &'p Confidential,
    layers: usize,
    history: Vec<ValueChange>,
    known: Option<ResolvedField>,
}

impl<'p> Track<'p> {
    fn new(path: &'p str, confidential: &'p Confidential) -> Self {
        Self { path, confidential, layers: 0, history: Vec::new(), known: None }
    }

    /// Looks at the configuration after the next layer.
    fn see(&mut self, config: &Config) {
        let layer = self.layers;
        self.layers += 1;
        let last = self.known.as_ref().and_then(|resolved| resolved.value.as_ref());
        // What was taken away is still known from before.
        let gone =
            || self.known.as_ref().map(|before| ResolvedField { value: None, ..before.clone() });
        let Some(resolved) = ResolvedField::find(config, self.path).or_else(gone) else { return };
        if resolved.value.as_ref() != last {
            let origin =
                resolved.value.as_ref().map(|value| newest(value, last)).unwrap_or_default();
            let value = resolved.shown(self.confidential);
            self.history.push(ValueChange { layer, value, origin });
        }
        self.known = Some(resolved);
    }

    /// Says how the field of the last configuration came to be.
    fn explain(self, config: &Config) -> Result<Explanation, Error> {
        let resolved = self.known.or_else(|| ResolvedField::of_kind(config, self.path));
        let resolved = resolved.ok_or_else(|| unknown(config, self.path, self.confidential))?;
        Ok(Explanation {
            value: resolved.shown(self.confidential),
            block: resolved.block(self.confidential),
            document: resolved.document,
            path: resolved.path,
            history: self.history,
            about: resolved.about,
            since: resolved.since,
        })
    }
}

/// Returns every value that was written, with its path and its origin.
pub fn origins(config: &Config) -> Vec<(String, Location)> {
    let mut found = Vec::new();
    for document in config.in_order() {
        for (key, value) in &document.body {
            leaves(value, format!("{}.{key}", document.id()), &mut found);
        }
    }
    found
}

fn leaves(value: &Value, path: String, found: &mut Vec<(String, Location)>) {
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

/// Returns the location of the part of a value that is new; none when something was only taken away.
fn newest(value: &Value, before: Option<&Value>) -> Location {
    let changed = match (&value.data, before.map(|before| &before.data)) {
        (Data::Map(now), Some(Data::Map(then))) => {
            let mut entries = now.iter().map(|(key, value)| (value, then.get(key)));
            entries.find(|(value, before)| Some(*value) != *before)
        }
        (Data::List(now), Some(Data::List(then))) => {
            let at = now.iter().zip(then).take_while(|(now, then)| now == then).count();
            now.get(at).map(|item| (item, then.get(at)))
        }
        _ => return value.origin,
    };
    changed.map_or_else(Location::default, |(value, before)| newest(value, before))
}

/// A field in a configuration or, without a value, in the table of a kind.
#[derive(Clone)]
struct ResolvedField {
    document: String,
    path: String,
    /// The path without the names of elements.
    field: String,
    value: Option<Value>,
    ty: Type,
    secret: bool,
    /// It is a value called `secret` in free-form data that holds secrets.
    named_secret: bool,
    about: &'static str,
    since: Option<Contract>,
}

impl ResolvedField {
    fn find(config: &Config, path: &str) -> Option<Self> {
        // The longest name first, so that `LinkConfig/eth0.100` is not taken for `eth0`.
        let mut documents: Vec<&Document> = config.documents().iter().collect();
        documents.sort_by_key(|document| std::cmp::Reverse(document.id().len()));
        let named =
            documents.iter().find_map(|document| Some((*document, below(path, &document.id())?)));
        let (document, mut rest) = match named {
            Some(found) => found,
            None => (config.document(kinds::V1ALPHA1.name, "")?, path),
        };
        let mut resolved = Self {
            document: document.id(),
            path: rest.to_owned(),
            field: String::new(),
            value: Some(Value::at(Data::Map(document.body.clone()), document.origin)),
            ty: Type::Object(document.kind.fields),
            secret: false,
            named_secret: false,
            about: document.kind.about,
            since: None,
        };
        while !rest.is_empty() {
            rest = match rest.strip_prefix('[') {
                Some(selector) => {
                    let (selector, after) = selector.split_once(']')?;
                    resolved.select(selector)?;
                    after
                }
                None => resolved.enter(rest.strip_prefix('.').unwrap_or(rest))?,
            };
        }
        Some(resolved)
    }

    /// Returns a field of a kind of which the configuration has no document.
    fn of_kind(config: &Config, path: &str) -> Option<Self> {
        let kind = kinds::ALL.iter().find(|kind| below(path, kind.name).is_some())?;
        if config.documents().iter().any(|document| document.kind == *kind) {
            return None;
        }
        let body = std::collections::BTreeMap::new();
        let empty = Document { kind, body, origin: Location::default() };
        let config = Config::new(vec![empty]).ok()?;
        let mut resolved = Self::find(&config, path)?;
        (resolved.value, resolved.since) = (None, resolved.since.or(Some(kind.since)));
        Some(resolved)
    }

    /// Goes to a field or to a key of a map, and gives what is left of the path.
    fn enter<'p>(&mut self, path: &'p str) -> Option<&'p str> {
        let (Type::Object(fields) | Type::WholeObject(fields) | Type::Encryption(fields)) = self.ty
        else {
            return self.enter_map(path);
        };
        let (key, rest) = path.split_at(path.find(['.', '[']).unwrap_or(path.len()));
        let field = schema::find(fields, key)?;
        self.value = self.value.take().and_then(|value| value.get(key).cloned());
        (self.ty, self.about, self.since) = (field.ty, field.about, field.since);
        self.secret |= field.secret || field.private;
        self.field = key_below(&self.field, key);
        Some(rest)
    }

    /// Goes to a key of a map. Keys may contain dots, so the longest that is there is taken.
    fn enter_map<'p>(&mut self, path: &'p str) -> Option<&'p str> {
        let Some(map) = self.value.as_ref().and_then(Value::as_map) else {
            // A map that is not set has no keys either, whatever they would be called.
            return matches!(self.ty, Type::Map(_) | Type::Any | Type::Arguments).then_some("");
        };
        let ends = path.char_indices().filter(|(_, c)| matches!(c, '.' | '[')).map(|(at, _)| at);
        let mut ends: Vec<usize> = ends.chain([path.len()]).collect();
        ends.reverse();
        let end = ends.into_iter().find(|end| map.contains_key(&path[..*end]))?;
        let (key, rest) = path.split_at(end);
        self.named_secret |= self.secret && key == "secret" && matches!(self.ty, Type::Any);
        self.value = map.get(key).cloned();
        self.ty = match self.ty {
            Type::Map(element) => *element,
            _ => Type::Any,
        };
        self.about = "";
        self.field = key_below(&self.field, key);
        Some(rest)
    }

    /// Goes to an element of a list, by its place or its name.
    fn select(&mut self, selector: &str) -> Option<()> {
        let (element, by) = match self.ty {
            Type::List(element) | Type::StrictList(element) => (*element, None),
            Type::KeyedList(element, by, _) => (*element, Some(by)),
            _ => (Type::Any, None),
        };
        let items = self.value.as_ref()?.as_list()?;
        let index = names(items, by).iter().position(|(name, _)| name == selector);
        let item = items.get(index.or_else(|| selector.parse().ok())?)?.clone();
        (self.value, self.ty, self.about) = (Some(item), element, "");
        self.field = element_of(&self.field);
        Some(())
    }

    fn shown(&self, confidential: &Confidential) -> Option<String> {
        self.covered(confidential).map(|tree| line(&tree))
    }

    fn block(&self, confidential: &Confidential) -> Option<String> {
        let tree = self.covered(confidential)?;
        let mut text = String::new();
        yaml::emit(&tree, Dialect::default(), &mut text);
        Some(text)
    }

    /// The value with secrets hidden.
    fn covered(&self, confidential: &Confidential) -> Option<Tree<'_>> {
        let value = self.value.as_ref()?;
        if self.named_secret {
            return Some(Tree::Text(REDACTED.into()));
        }
        let tree = encode::shown(value, self.ty, self.secret);
        Some(confidential.cover(tree, &self.document, &self.field))
    }
}

/// Returns the part of a path behind a document's name.
fn below<'p>(path: &'p str, document: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(document)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

/// Says which part of a path is wrong, and what was probably meant.
fn unknown(config: &Config, path: &str, confidential: &Confidential) -> Error {
    let first = path.split(['.', '[', '/']).next().unwrap_or_default();
    let kind = kinds::ALL.iter().find(|kind| kind.name == first);
    let named = config.documents().iter().filter(|document| document.kind.name == first);
    let named: Vec<String> = named
        .filter(|document| document.kind.named)
        .map(|document| confidential.id(document))
        .collect();
    let hint = if named.is_empty() {
        let fields = kind.map_or(kinds::V1ALPHA1.fields, |kind| kind.fields);
        nearest_key(fields, path, kind.is_some())
    } else {
        Some(format!("there is: {}", named.join(", ")))
    };
    let message = format!("nothing is at {path:?}");
    Error::Document(vec![Diagnostic { hint, ..problem(Location::default(), message) }])
}

/// Returns the key that was probably meant at the first place of a path that does not exist.
fn nearest_key(mut fields: &'static [Field], path: &str, behind_kind: bool) -> Option<String> {
    let mut keys = path.split(['.', '[']).skip(usize::from(behind_kind));
    let wrong = loop {
        let key = keys.next()?;
        match schema::find(fields, key).map(|field| field.ty) {
            Some(Type::Object(inner) | Type::WholeObject(inner) | Type::Encryption(inner)) => {
                fields = inner;
            }
            Some(_) => return None,
            None => break key,
        }
    };
    let fields = schema::flat(fields).map(|field| field.key);
    let near = suggest(wrong, fields.chain(kinds::ALL.iter().map(|kind| kind.name)));
    near.map(|near| format!("did you mean {near:?}?"))
}
