//! RFC 6902 operations, and the way through JSON that talosctl takes for them.
//!
//! A configuration that operations are applied to is no longer documents but free-form data: it is read
//! by the rules of an older YAML library, changed, and written in that library's style. Whether the
//! result is still a configuration is checked when documents are needed again.

use std::collections::BTreeMap;

use crate::confidential::{Field, element_of, key_below};
use crate::config::{Config, Identity};
use crate::decode;
use crate::encode::{self, Secrets};
use crate::error::Error;
use crate::value::{Data, Value};
use crate::yaml::{
    self, Content, Dialect, Limits, Node, Resolved, Style, old_boolean, resolve, resolve_node,
};
use crate::{Location, SourceId, kinds};

/// One operation.
#[derive(Clone)]
pub(crate) struct Operation {
    verb: String,
    path: Option<String>,
    from: Option<String>,
    value: Option<Value>,
}

/// Reads a list of operations, written as JSON or as YAML. Nothing at all is an empty list.
pub(crate) fn parse(text: &str, source: SourceId) -> Result<Vec<Operation>, Error> {
    let documents = yaml::parse(text, source, Limits::default())?;
    let Some(document) = documents.into_iter().next() else { return Ok(Vec::new()) };
    let items = match document.root.content {
        Content::Sequence(items) => items,
        Content::Scalar { text, style } if resolve(&text, style) == Resolved::Null => Vec::new(),
        _ => {
            return Err(Error::document(
                document.root.origin,
                "a list of operations is wanted here",
            ));
        }
    };
    let mut operations: Vec<Operation> =
        items.iter().map(Operation::read).collect::<Result<_, _>>()?;
    // To the library that reads JSON, null is the same as no value; in YAML it is a value.
    if serde_json::from_str::<serde_json::Value>(text).is_ok() {
        for operation in &mut operations {
            operation.value.take_if(|value| value.data == Data::Null);
        }
    }
    Ok(operations)
}

impl Operation {
    fn read(node: &Node) -> Result<Self, Error> {
        let Data::Map(mut entries) = data(node, Rules::New)?.data else {
            return Err(Error::document(
                node.origin,
                "an operation is wanted here, such as {op: add, …}",
            ));
        };
        let mut text = |key: &str| {
            entries.remove(key).and_then(|value| match value.data {
                Data::Text(text) => Some(text),
                _ => None,
            })
        };
        let (verb, path, from) = (text("op"), text("path"), text("from"));
        Ok(Self {
            verb: verb.unwrap_or_else(|| "unknown".to_owned()),
            path,
            from,
            value: entries.remove("value"),
        })
    }

    /// Returns the fields that it sets, in the oldest document: operations know no other.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let mut fields = Vec::new();
        if let (Some(pointer), Some(value)) = (&self.path, &self.value) {
            let below = |path: String, token: &str| match token {
                "-" => element_of(&path),
                token if token.bytes().all(|byte| byte.is_ascii_digit()) => element_of(&path),
                token => key_below(&path, &token.replace("~1", "/").replace("~0", "~")),
            };
            let path = pointer.split('/').skip(1).fold(String::new(), below);
            Field::below(kinds::V1ALPHA1.name, &path, value, &mut fields);
        }
        fields
    }

    fn apply(&self, root: &mut Value) -> Result<(), String> {
        match self.verb.as_str() {
            "add" => {
                let path = self.path("add")?;
                add(root, path, self.given()).map_err(|refusal| match refusal {
                    Refusal::NoParent => {
                        format!(
                            "add operation does not apply: doc is missing path: \"{path}\": {MISSING}"
                        )
                    }
                    Refusal::Place(reason) => format!("error in add for path: '{path}': {reason}"),
                })
            }
            "remove" => {
                let path = self.path("remove")?;
                let (parent, key) = parent(root, path).ok_or_else(|| {
                    format!(
                        "remove operation does not apply: doc is missing path: \"{path}\": {MISSING}"
                    )
                })?;
                remove(parent, &key)
                    .map_err(|reason| format!("error in remove for path: '{path}': {reason}"))
            }
            "replace" => self.replace(root),
            "move" | "copy" => self.transfer(root),
            "test" => self.test(root),
            other => Err(format!("Unexpected kind: {other}")),
        }
    }

    /// Moves or copies.
    fn transfer(&self, root: &mut Value) -> Result<(), String> {
        let verb = self.verb.as_str();
        let from = self.from(verb)?;
        let (source, key) = parent(root, from).ok_or_else(|| {
            format!("{verb} operation does not apply: doc is missing from path: {from}: {MISSING}")
        })?;
        let (label, shown) = if verb == "move" { ("path", key.as_str()) } else { ("from", from) };
        let refused = |reason: String| format!("error in {verb} for {label}: '{shown}': {reason}");
        let value = get(source, &key).map_err(refused)?.cloned();
        if verb == "move" {
            remove(source, &key).map_err(refused)?;
        }
        let path = self.path(verb)?;
        add(root, path, value.unwrap_or_else(|| Value::new(Data::Null))).map_err(|refusal| match (refusal, verb) {
            (Refusal::NoParent, _) => {
                format!("{verb} operation does not apply: doc is missing destination path: {path}: {MISSING}")
            }
            (Refusal::Place(reason), "move") => format!("error in move for path: '{path}': {reason}"),
            (Refusal::Place(reason), _) => format!("error while adding value during copy: {reason}"),
        })
    }

    fn replace(&self, root: &mut Value) -> Result<(), String> {
        let path = self.path("replace")?;
        if path.is_empty() {
            let value = self.given();
            if !matches!(value.data, Data::Map(_) | Data::List(_)) {
                return Err("replace operation hit impossible case".to_owned());
            }
            *root = value;
            return Ok(());
        }
        let missing = |what: &str| {
            format!("replace operation does not apply: doc is missing {what}: {path}: {MISSING}")
        };
        let (parent, key) = parent(root, path).ok_or_else(|| missing("path"))?;
        get(parent, &key).map_err(|_| missing("key"))?;
        let value = self.given();
        match &mut parent.data {
            Data::Map(entries) => {
                entries.insert(key, value);
            }
            Data::List(items) => {
                if let Some(item) =
                    index(&key, items.len()).ok().and_then(|index| items.get_mut(index))
                {
                    *item = value;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn test(&self, root: &mut Value) -> Result<(), String> {
        let path = self.path("test")?;
        let found = if path.is_empty() {
            Some(root.clone())
        } else {
            let (parent, key) = parent(root, path).ok_or_else(|| {
                format!("test operation does not apply: is missing path: {path}: {MISSING}")
            })?;
            let found = get(parent, &key)
                .map_err(|reason| format!("error in test for path: '{path}': {reason}"))?;
            found.cloned()
        };
        // Null in the configuration is the same as nothing; null that was asked for is not.
        let found = found.filter(|value| value.data != Data::Null);
        if found == self.value {
            Ok(())
        } else {
            Err(format!("testing value {path} failed: test failed"))
        }
    }

    fn given(&self) -> Value {
        self.value.clone().unwrap_or_else(|| Value::new(Data::Null))
    }

    fn path(&self, verb: &str) -> Result<&str, String> {
        // The library that talosctl uses says it in two ways.
        let detail = if ["replace", "move", "test"].contains(&verb) {
            "operation missing path field: "
        } else {
            ""
        };
        self.path
            .as_deref()
            .ok_or_else(|| format!("{verb} operation failed to decode path: {detail}{MISSING}"))
    }

    fn from(&self, verb: &str) -> Result<&str, String> {
        self.from.as_deref().ok_or_else(|| {
            format!(
                "{verb} operation failed to decode from: operation, missing from field: {MISSING}"
            )
        })
    }
}

/// Applies operations in their order.
pub(crate) fn apply(mut data: Value, operations: &[Operation]) -> Result<Value, Error> {
    let refused = |reason: &str| {
        Error::Patch(format!("failure applying rfc6902 patches to talos machine config: {reason}"))
    };
    if !operations.is_empty() && !matches!(data.data, Data::Map(_) | Data::List(_)) {
        return Err(refused("the configuration is neither an object nor a list"));
    }
    for operation in operations {
        operation.apply(&mut data).map_err(|reason| refused(&reason))?;
        // Each operation at most doubles what is there, so looking after each one is soon enough.
        let limits = Limits::default();
        let mut budget = (limits.nodes, limits.bytes);
        if !fits(&data, limits.depth, &mut budget) {
            return Err(refused("the result is too large"));
        }
    }
    Ok(data)
}

/// The reason why a value cannot be put at a path.
enum Refusal {
    /// Nothing there can hold it.
    NoParent,
    /// The place in the list does not exist.
    Place(String),
}

/// Returns whether a value is within bounds of depth, count and bytes of text.
fn fits(value: &Value, depth: usize, budget: &mut (usize, usize)) -> bool {
    let take = |left: &mut usize, amount: usize| {
        let enough = *left >= amount;
        *left = left.saturating_sub(amount);
        enough
    };
    if !take(&mut budget.0, 1) {
        return false;
    }
    match &value.data {
        Data::Text(text) => take(&mut budget.1, text.len()),
        Data::List(items) => depth > 0 && items.iter().all(|item| fits(item, depth - 1, budget)),
        Data::Map(entries) => {
            depth > 0
                && entries.iter().all(|(key, value)| {
                    take(&mut budget.1, key.len()) && fits(value, depth - 1, budget)
                })
        }
        Data::Null | Data::Bool(_) | Data::Int(_) | Data::Float(_) => true,
    }
}

fn add(root: &mut Value, path: &str, value: Value) -> Result<(), Refusal> {
    let (parent, key) = parent(root, path).ok_or(Refusal::NoParent)?;
    match &mut parent.data {
        Data::Map(entries) => {
            entries.insert(key, value);
        }
        Data::List(items) if key == "-" => items.push(value),
        Data::List(items) => {
            let at = index(&key, items.len() + 1).map_err(|reason| {
                let is_number = key.parse::<i64>().is_ok();
                Refusal::Place(if is_number {
                    reason
                } else {
                    format!("value was not a proper array index: '{key}': {reason}")
                })
            })?;
            items.insert(at, value);
        }
        _ => {}
    }
    Ok(())
}

fn remove(parent: &mut Value, key: &str) -> Result<(), String> {
    match &mut parent.data {
        Data::Map(entries) => entries
            .remove(key)
            .map(drop)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: {MISSING}")),
        Data::List(items) => {
            items.remove(index(key, items.len())?);
            Ok(())
        }
        _ => Err(MISSING.to_owned()),
    }
}

/// Returns the object or list that holds what a path names, and the last key of the path.
fn parent<'a>(root: &'a mut Value, path: &str) -> Option<(&'a mut Value, String)> {
    // What stands before the first slash is not looked at.
    let (_, pointer) = path.split_once('/')?;
    let mut keys: Vec<String> =
        pointer.split('/').map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
    let last = keys.pop()?;
    let mut at = root;
    for key in keys {
        at = match &mut at.data {
            Data::Map(entries) => entries.get_mut(&key)?,
            Data::List(items) => {
                let index = index(&key, items.len()).ok()?;
                items.get_mut(index)?
            }
            _ => return None,
        };
        if !matches!(at.data, Data::Map(_) | Data::List(_)) {
            return None;
        }
    }
    Some((at, last))
}

fn get<'a>(parent: &'a Value, key: &str) -> Result<Option<&'a Value>, String> {
    match &parent.data {
        Data::Map(entries) => Ok(entries.get(key)),
        Data::List(items) => index(key, items.len()).map(|index| items.get(index)),
        _ => Ok(None),
    }
}

/// Returns a place in a list of `length`; negative ones count from the end.
fn index(key: &str, length: usize) -> Result<usize, String> {
    let number: i64 =
        key.parse().map_err(|_| format!("strconv.Atoi: parsing {key:?}: invalid syntax"))?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let at = if number < 0 { number + length } else { number };
    if (0..length).contains(&at) {
        return usize::try_from(at).map_err(|error| error.to_string());
    }
    Err(format!("Unable to access invalid index: {number}: invalid index referenced"))
}

/// Reads text of exactly one document as free-form data.
pub(crate) fn single_document(text: &str, source: SourceId) -> Result<Value, Error> {
    let documents = yaml::parse(text, source, Limits::default())?;
    match documents.as_slice() {
        [document] => data(&document.root, Rules::Old),
        _ => Err(Error::SeveralDocuments { empty: false }),
    }
}

/// Takes documents as free-form data, with the places that their values came from.
pub(crate) fn from_documents(config: &Config, dialect: Dialect) -> Result<Value, Error> {
    let [document] = config.documents() else {
        return Err(Error::SeveralDocuments { empty: false });
    };
    let mut text = String::new();
    yaml::emit(&document.tree(Secrets::Shown, dialect), dialect, &mut text);
    let mut value = single_document(&text, SourceId::default())?;
    restore_origins(&mut value, &document.body);
    Ok(value)
}

/// Gives values that went through text the places that they had before.
fn restore_origins(value: &mut Value, before: &BTreeMap<String, Value>) {
    value.origin = Location::default();
    if let Data::Map(entries) = &mut value.data {
        for (key, value) in entries {
            match before.get(key) {
                Some(before) => restore_origin(value, before),
                None => value.origin = Location::default(),
            }
        }
    }
}

fn restore_origin(value: &mut Value, before: &Value) {
    value.origin = before.origin;
    match (&mut value.data, &before.data) {
        (Data::Map(_), Data::Map(before)) => {
            let origin = value.origin;
            restore_origins(value, before);
            value.origin = origin;
        }
        (Data::List(items), Data::List(before)) => {
            for (item, before) in items.iter_mut().zip(before) {
                restore_origin(item, before);
            }
        }
        _ => {}
    }
}

/// Reads the data strictly as a configuration again, as the release of a dialect does.
pub(crate) fn into_config(value: &Value, dialect: Dialect) -> Result<Config, Error> {
    let node = node(value);
    if matches!(node.content, Content::Scalar { .. }) {
        return Err(Error::Empty);
    }
    let (document, later) = Identity::read(&node)?.decode(&node)?;
    decode::check(&later, dialect)?;
    Config::new(vec![document])
}

fn node(value: &Value) -> Node {
    let plain = |text: String| Content::Scalar { text: text.into(), style: Style::Plain };
    let content = match &value.data {
        Data::Null => plain(String::new()),
        Data::Bool(value) => plain(value.to_string()),
        Data::Int(number) => plain(number.to_string()),
        Data::Float(number) => plain(yaml::float(*number)),
        Data::Text(text) => Content::Scalar { text: text.as_str().into(), style: Style::Double },
        Data::List(items) => Content::Sequence(items.iter().map(node).collect()),
        Data::Map(entries) => {
            let entry = |(key, value): (&String, &Value)| {
                let key = Content::Scalar { text: key.as_str().into(), style: Style::Double };
                (
                    Node {
                        content: key,
                        origin: value.origin,
                        flow: false,
                        alias: None,
                        properties: None,
                    },
                    node(value),
                )
            };
            Content::Mapping(entries.iter().map(entry).collect())
        }
    };
    Node { content, origin: value.origin, flow: false, alias: None, properties: None }
}

/// Writes the data as talosctl prints it.
pub(crate) fn print(value: &Value) -> String {
    let mut text = String::new();
    yaml::emit_folded(&encode::any(value), &mut text);
    text
}

/// The library whose rules apply: the older one reads configurations, the newer one operations.
#[derive(Clone, Copy, PartialEq)]
enum Rules {
    /// The old words for true and false are booleans.
    Old,
    New,
}

/// Free-form data: dates are text, and of keys that stand twice the last one counts.
fn data(node: &Node, rules: Rules) -> Result<Value, Error> {
    let data = match &node.content {
        Content::Scalar { text, style } => match resolve_node(node) {
            Resolved::Null => Data::Null,
            Resolved::Bool(value) => Data::Bool(value),
            Resolved::Int(number) => Data::Int(number),
            // JSON does not tell a whole number from an integer.
            #[expect(clippy::cast_possible_truncation, reason = "whole, and far within 64 bits")]
            Resolved::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
                Data::Int(number as i128)
            }
            Resolved::Float(number) if !number.is_finite() => {
                let message =
                    "failure converting talos machine config to json: json: unsupported value";
                return Err(Error::document(node.origin, message));
            }
            Resolved::Float(number) => Data::Float(number),
            Resolved::Text | Resolved::Timestamp | Resolved::Merge => match old_boolean(text) {
                Some(value) if *style == Style::Plain && rules == Rules::Old => Data::Bool(value),
                _ => Data::Text(text.to_string()),
            },
        },
        Content::Sequence(items) => {
            Data::List(items.iter().map(|item| data(item, rules)).collect::<Result<_, _>>()?)
        }
        Content::Mapping(entries) => {
            let mut map = BTreeMap::new();
            let mut merged = BTreeMap::new();
            for (key, value) in entries {
                let Some((text, style)) = key.scalar() else {
                    return Err(Error::document(key.origin, "a key that is not text"));
                };
                let value = self::data(value, rules)?;
                if resolve(text, style) == Resolved::Merge {
                    merge_sources(value, &mut merged);
                } else {
                    map.insert(key_text(key, rules)?, value);
                }
            }
            for (key, value) in merged {
                map.entry(key).or_insert(value);
            }
            Data::Map(map)
        }
    };
    Ok(Value::at(data, node.origin))
}

fn merge_sources(value: Value, merged: &mut BTreeMap<String, Value>) {
    match value.data {
        Data::Map(entries) => {
            for (key, value) in entries {
                merged.entry(key).or_insert(value);
            }
        }
        Data::List(items) => items.into_iter().for_each(|item| merge_sources(item, merged)),
        _ => {}
    }
}

/// JSON has text for keys only. The older library makes text of what is none.
fn key_text(key: &Node, rules: Rules) -> Result<String, Error> {
    let (text, style) = key.scalar().unwrap_or(("", Style::Plain));
    Ok(match (resolve(text, style), rules) {
        (Resolved::Text | Resolved::Timestamp, Rules::New) => text.to_owned(),
        (_, Rules::New) => {
            return Err(Error::document(key.origin, "a key that is not text; quote it"));
        }
        (Resolved::Bool(value), Rules::Old) => value.to_string(),
        (Resolved::Int(number), Rules::Old) => number.to_string(),
        (_, Rules::Old) => match old_boolean(text) {
            Some(value) if style == Style::Plain => value.to_string(),
            _ => text.to_owned(),
        },
    })
}

const MISSING: &str = "missing value";
