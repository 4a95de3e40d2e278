//! From nodes to typed values, following the tables of [`schema`](crate::schema).
//!
//! Every problem of a document is found in one go. Zero values of fields that cannot tell zero from
//! unset are left out, so that two documents that mean the same are the same.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;

use crate::Contract;
use crate::Diagnostic;
use crate::Location;
use crate::error::{Error, problem};
use crate::format;
use crate::schema::{self, Choice, Field, Format, Nulls, Type};
use crate::suggest::suggest;
use crate::value::{Data, Value};
use crate::yaml::{
    BINARY_TAG, CORE_TAG, Content, Dialect, Node, Resolved, old_boolean, resolve, resolve_node,
};

/// What releases before one do not read.
#[derive(Clone)]
pub(crate) struct Later {
    since: Contract,
    problem: Diagnostic<Location>,
}

impl Later {
    /// Nothing where the oldest dialect reads it.
    pub(crate) fn new(
        since: Contract,
        origin: Location,
        message: impl FnOnce() -> String,
    ) -> Option<Self> {
        let problem = || problem(origin, message()).with_hint(since.hint());
        (!since.is_known_to(Dialect::V1_12)).then(|| Self { since, problem: problem() })
    }
}

/// Refuses what the release of a dialect does not read.
pub(crate) fn check(later: &[Later], dialect: Dialect) -> Result<(), Error> {
    let unknown = later.iter().filter(|later| !later.since.is_known_to(dialect));
    let problems: Vec<_> = unknown.map(|later| later.problem.clone()).collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::Document(problems)) }
}

/// Reads an object with known fields.
pub(crate) fn object(
    node: &Node,
    fields: &'static [Field],
    ignored: &[&str],
) -> Result<BTreeMap<String, Value>, Error> {
    dated_object(node, fields, ignored).map(|(object, _)| object)
}

/// Reads an object with known fields, and notes what older releases do not read.
pub(crate) fn dated_object(
    node: &Node,
    fields: &'static [Field],
    ignored: &[&str],
) -> Result<(BTreeMap<String, Value>, Vec<Later>), Error> {
    read(node, fields, Decoder { ignored, ..Decoder::default() })
}

/// Reads an object and ignores unknown keys.
pub(crate) fn lenient_object(
    node: &Node,
    fields: &'static [Field],
) -> Result<BTreeMap<String, Value>, Error> {
    read(node, fields, Decoder { lenient: true, ..Decoder::default() }).map(|(object, _)| object)
}

fn read(
    node: &Node,
    fields: &'static [Field],
    mut decoder: Decoder<'_>,
) -> Result<(BTreeMap<String, Value>, Vec<Later>), Error> {
    let object = decoder.object(node, fields, &Path::Root, false);
    let Decoder { problems, later, ignored: _, lenient: _ } = decoder;
    if problems.is_empty() { Ok((object, later)) } else { Err(Error::Document(problems)) }
}

#[derive(Default)]
struct Decoder<'a> {
    problems: Vec<Diagnostic<Location>>,
    later: Vec<Later>,
    /// Keys of the outermost object that say which document it is.
    ignored: &'a [&'a str],
    lenient: bool,
}

impl Decoder<'_> {
    fn object(
        &mut self,
        node: &Node,
        fields: &'static [Field],
        path: &Path<'_>,
        whole: bool,
    ) -> BTreeMap<String, Value> {
        let mut object = BTreeMap::new();
        let Content::Mapping(entries) = &node.content else {
            self.wrong_type(node, path, "an object", true);
            return object;
        };
        for (Key { text: key, node: key_node }, value) in self.unique(entries, path) {
            if matches!(path, Path::Root) && self.ignored.contains(&key) {
                continue;
            }
            let Some(field) = schema::find(fields, key) else {
                if self.lenient {
                    continue;
                }
                self.unknown(key, key_node.origin, fields, path);
                continue;
            };
            if let Some(since) = field.since {
                self.key_since(since, key, key_node.origin, path);
            }
            let path = &Path::Key(path, key);
            if let Some(value) = self.field(value, field, path) {
                object.insert(key.to_owned(), value);
            }
        }
        if whole {
            for field in schema::flat(fields) {
                let empty = || Value::at(Data::Text(String::new()), node.origin);
                object.entry(field.key.to_owned()).or_insert_with(empty);
            }
        }
        object
    }

    /// Reads the value of a field; `None` when it is unset.
    fn field(&mut self, node: &Node, field: &Field, path: &Path<'_>) -> Option<Value> {
        if is_null(node) {
            return None;
        }
        let value = self.value(node, field.ty, path, field.secret)?;
        let zero = !field.optional
            && match &value.data {
                Data::Bool(set) => !set,
                Data::Int(number) => *number == 0,
                Data::Text(text) => {
                    text.is_empty()
                        && !matches!(
                            field.ty,
                            Type::Format(Format::Mac | Format::Base64 | Format::Url)
                        )
                }
                Data::Map(entries) => entries.is_empty() && matches!(field.ty, Type::Object(_)),
                Data::Null | Data::Float(_) | Data::List(_) => false,
            };
        let first_word = !field.optional
            && matches!((field.ty, &value.data), (Type::Choice(choice), Data::Text(text))
                if choice.unset.is_none() && choice.words[0] == text);
        (!zero && !first_word).then_some(value)
    }

    /// Reads a value of a type; `None` when it is empty or wrong, the latter having been noted.
    fn value(&mut self, node: &Node, ty: Type, path: &Path<'_>, secret: bool) -> Option<Value> {
        let origin = node.origin;
        let data = match ty {
            Type::Bool => Data::Bool(self.boolean(node, path)?),
            Type::Int { min, max } => Data::Int(self.integer(node, min, max, path)?),
            Type::Text => Data::Text(self.text(node, path, secret)?),
            Type::Format(format) => {
                let text = self.scalar_text(node, path, secret)?;
                let strict = matches!(format, Format::Duration | Format::Octal | Format::Word);
                if strict && has_private_tag(node) {
                    self.problem(node, path, "a tag that is not known");
                    return None;
                }
                let resolved = resolve_node(node);
                match (format, &resolved) {
                    (Format::ByteSize | Format::Size, _) if text.starts_with('-') => {
                        self.later(node, path, "a size below zero", Contract::new(1, 13));
                    }
                    (Format::Duration, Resolved::Int(_)) => {
                        self.later(node, path, "a number without a unit", Contract::new(1, 13));
                    }
                    (Format::Duration, Resolved::Float(_)) => {
                        self.later(node, path, "a number without a unit", Contract::new(1, 14));
                    }
                    _ => {}
                }
                match format::read(format, &text, &resolved) {
                    Ok(data) => data?,
                    Err(reason) => {
                        let shown =
                            if secret { "not what it should be".to_owned() } else { reason };
                        self.problem(node, path, &shown);
                        return None;
                    }
                }
            }
            Type::Choice(choice) => Data::Text(self.choice(node, choice, path)?),
            Type::Arguments => self.arguments(node, path)?,
            Type::Any => {
                // The keys of the object itself are text, whatever they look like; below it they must be.
                let value = match &node.content {
                    Content::Mapping(entries) => {
                        Value::at(Data::Map(self.any_map(entries, path, true)), origin)
                    }
                    _ => self.any(node, path),
                };
                if !matches!(value.data, Data::Map(_)) {
                    self.wrong_type(node, path, "an object", true);
                    return None;
                }
                return Some(value);
            }
            Type::List(element) | Type::KeyedList(element, _, Nulls::Dropped) => {
                self.list(node, *element, Nulls::Dropped, path, secret)?
            }
            Type::StrictList(element) | Type::KeyedList(element, _, Nulls::Refused) => {
                self.list(node, *element, Nulls::Refused, path, secret)?
            }
            Type::Map(element) => self.map(node, *element, path)?,
            Type::Object(fields) | Type::Encryption(fields) => {
                Data::Map(self.object(node, fields, path, false))
            }
            Type::WholeObject(fields) => Data::Map(self.object(node, fields, path, true)),
        };
        Some(Value::at(data, origin))
    }

    fn boolean(&mut self, node: &Node, path: &Path<'_>) -> Option<bool> {
        if let Some((text, _)) = node.scalar()
            && !has_private_tag(node)
        {
            if let Some(word) = old_boolean(text) {
                return Some(word);
            }
            match resolve_node(node) {
                Resolved::Bool(value) => return Some(value),
                Resolved::Null => return Some(false),
                _ => {}
            }
        }
        self.wrong_type(node, path, "true or false", false);
        None
    }

    fn integer(&mut self, node: &Node, min: i128, max: i128, path: &Path<'_>) -> Option<i128> {
        let number = match resolve_node(node) {
            _ if node.scalar().is_none() => None,
            Resolved::Int(number) => Some(number),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "without a fraction and within 64 bits"
            )]
            Resolved::Float(number) if number.fract() == 0.0 && number.abs() < 1e18 => {
                Some(number as i128)
            }
            Resolved::Null => Some(0),
            _ => None,
        };
        match number {
            Some(number) if (min..=max).contains(&number) => Some(number),
            _ => {
                self.wrong_type(node, path, &format!("a number from {min} to {max}"), false);
                None
            }
        }
    }

    /// Text as a field takes it: any scalar with the text that it was written with, but no date.
    fn text(&mut self, node: &Node, path: &Path<'_>, secret: bool) -> Option<String> {
        let Some((text, style)) = node.scalar() else {
            self.wrong_type(node, path, "text", secret);
            return None;
        };
        match (resolve(text, style), node.tag()) {
            (Resolved::Null, _) => Some(String::new()),
            (Resolved::Timestamp, None) => {
                self.problem(node, path, format::A_DATE);
                None
            }
            (_, Some(BINARY_TAG)) => {
                let bare: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                let bytes = base64::engine::general_purpose::STANDARD.decode(bare).ok();
                let decoded = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                if decoded.is_none() {
                    self.problem(node, path, "binary data that is not text");
                }
                decoded
            }
            _ => Some(text.to_owned()),
        }
    }

    fn scalar_text(&mut self, node: &Node, path: &Path<'_>, secret: bool) -> Option<String> {
        if node.scalar().is_none() {
            self.wrong_type(node, path, "text", secret);
        }
        node.scalar().map(|(text, _)| text.to_owned())
    }

    fn choice(&mut self, node: &Node, choice: &Choice, path: &Path<'_>) -> Option<String> {
        let text = self.scalar_text(node, path, false)?;
        let word = choice.words.iter().find(|word| {
            if choice.exact_case { **word == text } else { word.eq_ignore_ascii_case(&text) }
        });
        let message = || format!("{path}: {text} does not belong to {} values", choice.name);
        if let Some((_, since)) = choice.later.iter().find(|(later, _)| Some(later) == word) {
            self.later.extend(Later::new(*since, node.origin, message));
        }
        if word.is_none() {
            let hint = format!("one of: {}", choice.words.join(", "));
            self.problems.push(problem(node.origin, message()).with_hint(hint));
        }
        word.map(|word| (*word).to_owned())
    }

    /// Reads arguments: each is a text, null or a list of texts.
    fn arguments(&mut self, node: &Node, path: &Path<'_>) -> Option<Data> {
        let Content::Mapping(entries) = &node.content else {
            self.wrong_type(node, path, "an object", true);
            return None;
        };
        let mut arguments = BTreeMap::new();
        for (Key { text: key, .. }, value) in self.unique(entries, path) {
            let path = &Path::Key(path, key);
            let data = match &value.content {
                Content::Scalar { text, style } => match resolve(text, *style) {
                    Resolved::Null => Data::Null,
                    Resolved::Timestamp => {
                        self.problem(value, path, format::A_DATE);
                        continue;
                    }
                    _ if text.is_empty() => Data::Null,
                    _ => Data::Text(text.to_string()),
                },
                Content::Sequence(items) => {
                    self.later(value, path, "a list as an argument", Contract::new(1, 13));
                    let mut texts = Vec::new();
                    for item in items.iter().filter(|item| !is_null(item)) {
                        match item.scalar() {
                            Some((text, _)) => {
                                texts.push(Value::at(Data::Text(text.to_owned()), item.origin));
                            }
                            None => self.problem(
                                item,
                                path,
                                "arg value must be a string or list of strings",
                            ),
                        }
                    }
                    Data::List(texts)
                }
                Content::Mapping(_) => {
                    self.problem(value, path, "arg value must be a string or list of strings");
                    continue;
                }
            };
            arguments.insert(key.to_owned(), Value::at(data, value.origin));
        }
        Some(Data::Map(arguments))
    }

    fn list(
        &mut self,
        node: &Node,
        element: Type,
        nulls: Nulls,
        path: &Path<'_>,
        secret: bool,
    ) -> Option<Data> {
        let Content::Sequence(items) = &node.content else {
            self.wrong_type(node, path, "a list", true);
            return None;
        };
        let mut values = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let path = &Path::Index(path, index);
            if is_null(item) {
                if nulls == Nulls::Refused {
                    self.null(item, path);
                }
                continue;
            }
            let value = self.value(item, element, path, secret);
            let empty = || element_without_text(element, item);
            values.extend(value.or_else(empty));
        }
        Some(Data::List(values))
    }

    fn map(&mut self, node: &Node, element: Type, path: &Path<'_>) -> Option<Data> {
        let Content::Mapping(entries) = &node.content else {
            self.wrong_type(node, path, "an object", true);
            return None;
        };
        let mut values = BTreeMap::new();
        for (Key { text: key, node: key_node }, value) in self.unique(entries, path) {
            let path = &Path::Key(path, key);
            if key == "<<" && matches!(value.content, Content::Mapping(_)) {
                self.problem(value, path, "a merge key where only plain keys are taken");
                continue;
            }
            if is_null(key_node) {
                continue;
            }
            if is_null(value) && matches!(element, Type::Object(_)) {
                self.null(value, path);
                continue;
            }
            if let Some(value) = self.value(value, element, path, false) {
                values.insert(key.to_owned(), value);
            }
        }
        Some(Data::Map(values))
    }

    /// Free-form data keeps the types that its scalars resolve to.
    fn any(&mut self, node: &Node, path: &Path<'_>) -> Value {
        let data = match &node.content {
            Content::Scalar { text, .. } => match resolve_node(node) {
                Resolved::Null => Data::Null,
                Resolved::Bool(value) => Data::Bool(value),
                Resolved::Int(number) => Data::Int(number),
                Resolved::Float(number) => Data::Float(number),
                Resolved::Text | Resolved::Merge => Data::Text(text.to_string()),
                Resolved::Timestamp => {
                    self.problem(node, path, format::A_DATE);
                    Data::Null
                }
            },
            Content::Sequence(items) => {
                let item = |(index, item)| self.any(item, &Path::Index(path, index));
                Data::List(items.iter().enumerate().map(item).collect())
            }
            Content::Mapping(entries) => Data::Map(self.any_map(entries, path, false)),
        };
        Value::at(data, node.origin)
    }

    fn any_map(
        &mut self,
        entries: &[(Node, Node)],
        path: &Path<'_>,
        any_key: bool,
    ) -> BTreeMap<String, Value> {
        let mut own = BTreeMap::new();
        let mut merged = BTreeMap::new();
        for (Key { text: key, node: key_node }, value) in self.unique(entries, path) {
            let resolved = resolve_node(key_node);
            if !any_key && !matches!(resolved, Resolved::Text | Resolved::Merge) {
                self.problem(key_node, path, "a key that is not text; quote it");
            }
            if resolved != Resolved::Merge {
                own.insert(key.to_owned(), self.any(value, &Path::Key(path, key)));
                continue;
            }
            let sources = match &value.content {
                Content::Sequence(items) if !items.is_empty() => items.as_slice(),
                _ => std::slice::from_ref(value),
            };
            for source in sources {
                let Data::Map(source) = self.any(source, path).data else {
                    let problem = "map merge requires map or sequence of maps as the value";
                    self.problem(value, path, problem);
                    continue;
                };
                for (key, value) in source {
                    merged.entry(key).or_insert(value);
                }
            }
        }
        for (key, value) in merged {
            own.entry(key).or_insert(value);
        }
        own
    }

    /// Returns the entries of a mapping by their keys; a key that stands twice is a problem.
    fn unique<'n>(
        &mut self,
        entries: &'n [(Node, Node)],
        path: &Path<'_>,
    ) -> Vec<(Key<'n>, &'n Node)> {
        let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
        let mut unique = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let Some((text, _)) = key.scalar() else {
                self.problem(key, path, "a key that is not text");
                continue;
            };
            if let Some(line) = seen.insert(text, key.origin.line) {
                self.problem(
                    key,
                    path,
                    &format!("mapping key {text:?} already defined at line {line}"),
                );
                continue;
            }
            unique.push((Key { text, node: key }, value));
        }
        unique
    }

    fn unknown(&mut self, key: &str, origin: Location, fields: &'static [Field], path: &Path<'_>) {
        let known = schema::flat(fields).map(|field| field.key);
        let hint = suggest(key, known).map(|near| format!("did you mean {near:?}?"));
        self.problems.push(Diagnostic { hint, ..problem(origin, unknown_key(key, path)) });
    }

    /// Notes a key that came with a release.
    fn key_since(&mut self, since: Contract, key: &str, origin: Location, path: &Path<'_>) {
        let message = || unknown_key(key, path);
        self.later.extend(Later::new(since, origin, message));
    }

    /// Notes something else that came with a release.
    fn later(&mut self, node: &Node, path: &Path<'_>, what: &str, since: Contract) {
        self.later.extend(Later::new(since, node.origin, || format!("{path}: {what}")));
    }

    fn null(&mut self, node: &Node, path: &Path<'_>) {
        let message = format!(
            "null value is not allowed at {:?} (line {})",
            path.to_string(),
            node.origin.line
        );
        self.problems.push(problem(node.origin, message));
    }

    fn wrong_type(&mut self, node: &Node, path: &Path<'_>, wanted: &str, secret: bool) {
        let found = match &node.content {
            Content::Sequence(_) => "a list".to_owned(),
            Content::Mapping(_) => "an object".to_owned(),
            // What stands where it does not belong may be a secret that slipped a level.
            Content::Scalar { .. } if secret => "text".to_owned(),
            Content::Scalar { text, .. } => format!("{:?}", shortened(text)),
        };
        self.problem(node, path, &format!("{wanted} is wanted here, not {found}"));
    }

    fn problem(&mut self, node: &Node, path: &Path<'_>, message: &str) {
        let message = if matches!(path, Path::Root) {
            message.to_owned()
        } else {
            format!("{path}: {message}")
        };
        self.problems.push(problem(node.origin, message));
    }
}

/// A key and where it stands.
struct Key<'n> {
    text: &'n str,
    node: &'n Node,
}

fn unknown_key(key: &str, path: &Path<'_>) -> String {
    format!("unknown key {:?}", Path::Key(path, key).to_string())
}

/// An element whose text is empty is an element all the same.
fn element_without_text(element: Type, item: &Node) -> Option<Value> {
    let empty_text = matches!(element, Type::Format(_))
        && item.scalar().is_some_and(|(text, _)| text.is_empty());
    empty_text.then(|| Value::at(Data::Text(String::new()), item.origin))
}

/// Returns whether a tag is a private one.
fn has_private_tag(node: &Node) -> bool {
    node.tag().is_some_and(|tag| !tag.starts_with(CORE_TAG))
}

fn is_null(node: &Node) -> bool {
    node.scalar().is_some_and(|(text, style)| resolve(text, style) == Resolved::Null)
        && node.tag().is_none()
}

/// The way to a value; spelled out only when there is something to say about it.
enum Path<'a> {
    Root,
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Key(Self::Root, key) => f.write_str(key),
            Self::Key(parent, key) => write!(f, "{parent}.{key}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Enough of a text to recognise it.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_owned();
    }
    text.chars().take(40).chain(['…']).collect()
}
