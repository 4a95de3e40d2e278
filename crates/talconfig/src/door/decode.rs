//! Reads text into values, by the tables of [`schema`](crate::door::schema).
//!
//! Unknown keys are ignored, as in talhelper. A value that equals the default is left out of the
//! result, so that "not there" is the one way to be unset.

use std::collections::BTreeMap;

use talos_config::yaml::{self, Content, Node, Resolved};
use talos_config::{Confidential, Data, Location, Value, rules};

use crate::door::schema::{Object, Type};
use crate::door::text::{self, Complaint};
use crate::error::{ErrorDetail, Refusal};

/// Reads the first document of a text as an object. With a tree that the text was written from, values have the
/// locations of its nodes. Complaints hide confidential values.
pub(crate) fn object(
    text: &str,
    object: &'static Object,
    written: Option<&Node>,
    confidential: &Confidential,
) -> Result<Value, Refusal> {
    let documents = text::parse(text)?;
    let Some(mut document) = documents.into_iter().next() else {
        return Ok(Value::new(Data::Map(BTreeMap::new())));
    };
    if let Some(written) = written {
        text::relocate(&mut document.root, written);
    }
    let mut decoder = Decoder {
        complaints: Vec::new(),
        path: String::new(),
        reads_on: written.is_some(),
        confidential,
    };
    let value = decoder
        .value(&document.root, Type::Whole(object))
        .map_err(|said| Refusal { said: ErrorDetail::new(said), problems: Vec::new() })?;
    if !decoder.complaints.is_empty() {
        return Err(text::unmarshal_errors(decoder.complaints));
    }
    Ok(value.unwrap_or_else(|| Value::new(Data::Map(BTreeMap::new()))))
}

struct Decoder<'a> {
    /// Values of a wrong type. Reading goes on, so that all of them are reported at once.
    complaints: Vec<Complaint>,
    /// The path of the current key.
    path: String,
    /// No problem ends the reading.
    reads_on: bool,
    confidential: &'a Confidential,
}

/// The value, or `None` for null. An error ends the reading.
type Read = Result<Option<Value>, String>;

impl Decoder<'_> {
    /// Reads a value below the current path.
    fn below(&mut self, step: &str, read: impl FnOnce(&mut Self) -> Read) -> Read {
        let length = self.path.len();
        self.path.push_str(step.strip_prefix('.').filter(|_| length == 0).unwrap_or(step));
        let value = read(self);
        self.path.truncate(length);
        value
    }

    fn value(&mut self, node: &Node, ty: Type) -> Read {
        match self.read(node, ty) {
            Err(_) if self.reads_on => Ok(self.complain(node, ty)),
            other => other,
        }
    }

    fn read(&mut self, node: &Node, ty: Type) -> Read {
        if yaml::resolve_node(node) == Resolved::Null && node.scalar().is_some() {
            return Ok(None);
        }
        let origin = node.origin;
        let found = |data: Data| Ok(Some(at(data, origin)));
        match ty {
            Type::Part(object) => {
                let value = self.object(node, object)?;
                Ok(value.filter(|value| value.as_map().is_some_and(|map| !map.is_empty())))
            }
            Type::Whole(object) => self.object(node, object),
            Type::Objects { item, .. } => {
                self.list(node, ty, Type::Whole(item), !item.go.ends_with("config.Node"))
            }
            Type::List { item, .. } => self.list(node, ty, *item, false),
            Type::TextMap => Ok(self.text_map(node, ty)),
            Type::Any => found(any(node)),
            _ => {
                let Some((text, _)) = node.scalar() else { return Ok(self.complain(node, ty)) };
                self.scalar(node, text, ty)
            }
        }
    }

    fn scalar(&mut self, node: &Node, text: &str, ty: Type) -> Read {
        let origin = node.origin;
        let found = |data: Data| Ok(Some(at(data, origin)));
        let resolved = yaml::resolve_node(node);
        match ty {
            Type::Text => Ok((!text.is_empty()).then(|| at(Data::Text(text.to_owned()), origin))),
            Type::Bool | Type::Flag => {
                let value = match resolved {
                    Resolved::Bool(value) => Some(value),
                    // Only these words of YAML 1.1 are booleans to the library.
                    Resolved::Text if matches!(text, "y" | "Y" | "yes" | "on") => Some(true),
                    Resolved::Text if matches!(text, "n" | "N" | "no" | "off") => Some(false),
                    _ => None,
                };
                match value {
                    None => Ok(self.complain(node, ty)),
                    Some(false) if matches!(ty, Type::Bool) => Ok(None),
                    Some(value) => found(Data::Bool(value)),
                }
            }
            Type::Int { min, max, .. } => {
                #[expect(clippy::cast_possible_truncation, reason = "so the library has it")]
                let number = match resolved {
                    Resolved::Int(number) => Some(number),
                    Resolved::Float(number) if number.is_finite() => Some(number as i128),
                    _ => None,
                };
                match number.filter(|number| (min..=max).contains(number)) {
                    None => Ok(self.complain(node, ty)),
                    Some(0) => Ok(None),
                    Some(number) => found(Data::Int(number)),
                }
            }
            Type::Duration => match (resolved, rules::duration(text)) {
                (Resolved::Text, Some(0)) => Ok(None),
                (Resolved::Text, Some(_)) => {
                    found(Data::Text(rules::spelled_duration(text).unwrap_or_default()))
                }
                _ => Ok(self.complain(node, ty)),
            },
            Type::Word { go, words } => {
                let lower = text.to_lowercase();
                match words.iter().find(|word| **word == lower) {
                    None => Err(format!("{text} does not belong to {go} values")),
                    Some(word) => found(Data::Text((*word).to_owned())),
                }
            }
            Type::DiskSize => match rules::bytes(text) {
                Err(error) => Err(size_error(text, &error)),
                Ok(0) => Ok(None),
                Ok(_) => found(rules::disk_size(text)?),
            },
            Type::SizeMatch => {
                let text = text.trim();
                let operator =
                    [">=", "<=", ">", "<", "=="].iter().find(|sign| text.starts_with(**sign));
                let size = operator.map_or(text, |sign| &text[sign.len()..]);
                match rules::bytes(size.trim()) {
                    Err(error) => {
                        let error = size_error(size.trim(), &error);
                        Err(format!("failed to parse disk size {size}: {error}"))
                    }
                    Ok(_) => found(Data::Text(text.to_owned())),
                }
            }
            Type::Size { share } => {
                let amount = text.strip_prefix('-').unwrap_or(text);
                if text.is_empty() {
                    return Ok(None);
                }
                if share && text.contains('%') {
                    return found(Data::Text(text.to_owned()));
                }
                rules::bytes(amount).map_err(|error| size_error(amount, &error))?;
                found(Data::Text(text.to_owned()))
            }
            Type::Prefix if text.is_empty() => Ok(None),
            Type::Prefix => found(Data::Text(rules::network(text)?)),
            Type::Ports => {
                let is_port = |text: &str| {
                    text.parse::<u16>()
                        .ok()
                        .filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
                };
                match (resolved, text.split_once('-')) {
                    (Resolved::Int(port @ 0..=65535), _) => found(Data::Int(port)),
                    (_, Some((low, high))) => match (is_port(low), is_port(high)) {
                        (Some(low), Some(high)) => found(Data::Text(format!("{low}-{high}"))),
                        _ => Err(format!("invalid port range: {}", rules::quoted(text))),
                    },
                    _ => Err(format!("invalid port range: {}", rules::quoted(text))),
                }
            }
            Type::Any
            | Type::TextMap
            | Type::List { .. }
            | Type::Objects { .. }
            | Type::Part(_)
            | Type::Whole(_) => Ok(self.complain(node, ty)),
        }
    }

    fn object(&mut self, node: &Node, object: &'static Object) -> Read {
        let Content::Mapping(entries) = &node.content else {
            return Ok(self.complain(node, Type::Whole(object)));
        };
        if self.has_duplicates(entries) {
            return Ok(None);
        }
        let mut map = BTreeMap::new();
        for (key, value) in text::merged(entries) {
            let Some((name, _)) = key.scalar() else { continue };
            let Some(known) = object.keys().find(|known| known.name == name) else { continue };
            let value = self.below(&format!(".{name}"), |decoder| decoder.value(value, known.ty));
            if let Some(value) = value? {
                map.insert(name.to_owned(), value);
            }
        }
        Ok(Some(at(Data::Map(map), node.origin)))
    }

    /// `held`: null elements are errors.
    fn list(&mut self, node: &Node, ty: Type, item: Type, held: bool) -> Read {
        let Content::Sequence(items) = &node.content else { return Ok(self.complain(node, ty)) };
        let mut list = Vec::new();
        for (index, node) in items.iter().enumerate() {
            let is_null = node.scalar().is_some() && yaml::resolve_node(node) == Resolved::Null;
            if is_null && held {
                let path = format!("{}[{index}]", self.path);
                self.complaints.push(Complaint {
                    origin: node.origin,
                    said: format!("cannot unmarshal !!null `null` into {}", item.go()),
                    message: text::within(&path, &format!("nothing is not {}", item.wanted())),
                });
            }
            match self.below(&format!("[{index}]"), |decoder| decoder.value(node, item))? {
                Some(value) => list.push(value),
                None if is_null => {}
                // An element that is empty is an element all the same.
                None if matches!(item, Type::Text) && node.scalar().is_some() => {
                    list.push(at(Data::Text(String::new()), node.origin));
                }
                None if matches!(item, Type::Int { .. }) => {
                    list.push(at(Data::Int(0), node.origin));
                }
                None => {}
            }
        }
        Ok(Some(at(Data::List(list), node.origin)))
    }

    fn text_map(&mut self, node: &Node, ty: Type) -> Option<Value> {
        let Content::Mapping(entries) = &node.content else {
            return self.complain(node, ty);
        };
        if self.has_duplicates(entries) {
            return None;
        }
        let mut map = BTreeMap::new();
        for (key, value) in text::merged(entries) {
            let Some((name, _)) = key.scalar() else { continue };
            let is_null = yaml::resolve_node(value) == Resolved::Null;
            let Some((text, _)) = value.scalar() else {
                self.complain(value, Type::Text);
                continue;
            };
            let text = if is_null { "" } else { text };
            map.insert(name.to_owned(), at(Data::Text(text.to_owned()), value.origin));
        }
        Some(at(Data::Map(map), node.origin))
    }

    /// Complains about keys that are there twice; the rest of their mapping is not looked at then.
    fn has_duplicates(&mut self, entries: &[(Node, Node)]) -> bool {
        let before = self.complaints.len();
        text::duplicates(entries, &mut self.complaints);
        self.complaints.len() > before
    }

    fn complain(&mut self, node: &Node, ty: Type) -> Option<Value> {
        let message = format!("{} is not {}", shown(node), ty.wanted());
        self.complaints.push(Complaint {
            origin: node.origin,
            said: format!(
                "cannot unmarshal {} into {}",
                text::shown(node, self.confidential),
                ty.go()
            ),
            message: text::within(&self.path, &message),
        });
        None
    }
}

/// Returns a value for people. A long text is not shown: a part of one could not be recognised as that of a secret.
fn shown(node: &Node) -> String {
    match &node.content {
        Content::Scalar { text, .. } if text.chars().count() <= 40 => format!("\"{text}\""),
        Content::Scalar { .. } => "this text".to_owned(),
        Content::Sequence(_) => "a list".to_owned(),
        Content::Mapping(_) => "a mapping".to_owned(),
    }
}

/// Converts a node to free-form data.
fn any(node: &Node) -> Data {
    match &node.content {
        Content::Scalar { text, .. } => match yaml::resolve_node(node) {
            Resolved::Null => Data::Null,
            Resolved::Bool(value) => Data::Bool(value),
            Resolved::Int(number) => Data::Int(number),
            Resolved::Float(number) => Data::Float(number),
            Resolved::Timestamp | Resolved::Merge | Resolved::Text => Data::Text(text.to_string()),
        },
        Content::Sequence(items) => {
            Data::List(items.iter().map(|item| at(any(item), item.origin)).collect())
        }
        Content::Mapping(entries) => {
            let entries = text::merged(entries).into_iter().filter_map(|(key, value)| {
                Some((key.scalar()?.0.to_owned(), at(any(value), value.origin)))
            });
            Data::Map(entries.collect())
        }
    }
}

/// Returns the error for a text that is not an amount of bytes, in the words of the library.
fn size_error(text: &str, error: &str) -> String {
    let digits: String =
        text.chars().take_while(|c| c.is_ascii_digit() || *c == '.' || *c == ',').collect();
    if error.starts_with("unhandled size name") {
        return error.to_owned();
    }
    format!("strconv.ParseFloat: parsing {}: invalid syntax", rules::quoted(&digits))
}

fn at(data: Data, origin: Location) -> Value {
    Value { data, origin }
}
