//! The language in which the native file is described, and the reader that follows it.
//!
//! In: a tree of YAML nodes and a table of keys. Out: [`Parsed`]s, every one with its place, defaults filled
//! in; or every problem at once. The JSON Schema is made from the same table, so the two cannot differ.

use std::collections::BTreeMap;

use domain::{InvalidText, TextFormat};
use talos_config::yaml::{Content, Node, Resolved, resolve};
use talos_config::{Diagnostic, Location, suggest};

use super::error::SpecRule as Rule;

/// One key of an object.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) ty: Type,
    pub(super) need: Need,
    /// The meaning, for the schema.
    pub(super) about: &'static str,
}

/// The treatment of a key that is not given.
pub(super) enum Need {
    /// It must be given.
    Required,
    /// It must be given where this other key is not.
    RequiredWithout(&'static str),
    /// This is taken instead.
    Default(Literal),
    /// The default is derived from other keys; said in words.
    Derived(&'static str),
}

pub(super) enum Literal {
    Text(&'static str),
    Integer(i64),
    Boolean(bool),
    Texts(&'static [&'static str]),
    /// An object of nothing but its own defaults.
    Object,
}

#[derive(Clone, Copy)]
pub(super) enum Type {
    Boolean,
    Integer { min: i64, max: i64 },
    Choice(&'static [&'static str]),
    Text(&'static FormatCheck),
    List(&'static Self),
    Object(&'static [Key]),
}

/// A form of text, as the table knows it.
pub(super) struct FormatCheck {
    pub(super) pattern: &'static str,
    /// True if it may hold secrets, so that nothing of it is repeated.
    pub(super) secret: bool,
    check: fn(&str) -> Result<(), InvalidText>,
}

/// Returns the form of a type.
pub(super) const fn format_of<T: TextFormat>() -> FormatCheck {
    FormatCheck { pattern: T::PATTERN, secret: false, check: |text| text.parse::<T>().map(drop) }
}

/// Returns the form of a type whose text may hold secrets.
pub(super) const fn secret_format_of<T: TextFormat>() -> FormatCheck {
    FormatCheck { secret: true, ..format_of::<T>() }
}

/// A value that was read, and where it stands.
#[derive(Clone)]
pub(super) struct Parsed {
    pub(super) origin: Location,
    data: Data,
}

#[derive(Clone)]
enum Data {
    Boolean(bool),
    Integer(i64),
    Text(String),
    List(Vec<Parsed>),
    Object(BTreeMap<&'static str, Parsed>),
}

impl Parsed {
    /// Returns the value of a key, given or by default.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        match &self.data {
            Data::Object(entries) => entries.get(key),
            _ => None,
        }
    }

    pub(super) fn items(&self, key: &str) -> &[Self] {
        match self.get(key).map(|item| &item.data) {
            Some(Data::List(items)) => items,
            _ => &[],
        }
    }

    pub(super) fn text(&self) -> &str {
        match &self.data {
            Data::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the text of a key as what it is; the reader has checked that it is one.
    pub(super) fn parsed<T: TextFormat>(&self, key: &str) -> Option<T> {
        self.get(key)?.text().parse().ok()
    }

    pub(super) fn boolean(&self, key: &str) -> bool {
        matches!(self.get(key).map(|item| &item.data), Some(Data::Boolean(true)))
    }

    pub(super) fn count(&self, key: &str) -> u32 {
        match self.get(key).map(|item| &item.data) {
            Some(Data::Integer(number)) => u32::try_from(*number).unwrap_or_default(),
            _ => 0,
        }
    }
}

/// Reads an object. What is wrong with it is not in the result, but among the problems.
pub(super) fn read(node: &Node, keys: &'static [Key]) -> (Parsed, Vec<Diagnostic<Location>>) {
    let mut reader = Reader { problems: Vec::new() };
    let item = reader.object(node, keys, "");
    (item, reader.problems)
}

struct Reader {
    problems: Vec<Diagnostic<Location>>,
}

impl Reader {
    fn object(&mut self, node: &Node, keys: &'static [Key], path: &str) -> Parsed {
        let mut entries = BTreeMap::new();
        let Content::Mapping(given) = &node.content else {
            self.wrong_type(node, path, "an object", false);
            return Parsed { origin: node.origin, data: Data::Object(entries) };
        };
        let is_given = |key: &str| {
            given.iter().any(|(name, _)| name.scalar().is_some_and(|(text, _)| text == key))
        };
        let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
        for (name, value) in given {
            let Some((text, _)) = name.scalar() else {
                self.note(
                    Rule::Value,
                    name.origin,
                    format!("{}a key that is not text", prefix(path)),
                );
                continue;
            };
            if let Some(line) = lines.insert(text, name.origin.line) {
                let message = format!("{:?} stands in line {line} already", below(path, text));
                self.note(Rule::DuplicateKey, name.origin, message);
                continue;
            }
            let Some(key) = keys.iter().find(|key| key.name == text) else {
                let near = suggest(text, keys.iter().map(|key| key.name));
                let known = || keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ");
                let problem = Rule::UnknownKey
                    .problem(name.origin, format!("unknown key {:?}", below(path, text)));
                self.problems.push(problem.with_hint(match near {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("known here: {}", known()),
                }));
                // Read as what was probably meant, its own mistakes are found as well, and it is not missing.
                let meant = keys.iter().find(|key| Some(key.name) == near);
                if let Some(key) = meant.filter(|key| !is_given(key.name))
                    && let Some(item) = self.value(value, key.ty, &below(path, text))
                {
                    entries.insert(key.name, item);
                }
                continue;
            };
            if is_null(value) {
                continue;
            }
            if let Some(item) = self.value(value, key.ty, &below(path, text)) {
                entries.insert(key.name, item);
            }
        }
        for key in keys {
            let given = lines.contains_key(key.name);
            match &key.need {
                _ if entries.contains_key(key.name) => {}
                Need::RequiredWithout(other) if lines.contains_key(other) => {}
                Need::Required | Need::RequiredWithout(_) if given && !self.problems.is_empty() => {
                }
                Need::Required | Need::RequiredWithout(_) => {
                    let or = match key.need {
                        Need::RequiredWithout(other) => format!(" or {other:?}"),
                        _ => String::new(),
                    };
                    let message = format!("{}{:?}{or} is missing", prefix(path), key.name);
                    let problem = Rule::MissingKey.problem(node.origin, message);
                    let (first, rest) = key.about.split_at(1);
                    let about = format!("{}{rest}", first.to_lowercase());
                    self.problems.push(problem.with_hint(format!("add `{}`, {about}", key.name)));
                }
                Need::Default(literal) => {
                    entries.insert(key.name, default(literal, key.ty));
                }
                Need::Derived(_) => {}
            }
        }
        Parsed { origin: node.origin, data: Data::Object(entries) }
    }

    /// Reads a value; `None` when it is wrong, which has been noted.
    fn value(&mut self, node: &Node, ty: Type, path: &str) -> Option<Parsed> {
        let scalar = node.scalar().filter(|_| node.tag().is_none());
        let resolved = scalar.map(|(text, style)| resolve(text, style));
        let data = match (ty, scalar, resolved) {
            (Type::Boolean, _, Some(Resolved::Bool(value))) => Data::Boolean(value),
            (Type::Boolean, ..) => {
                self.wrong_type(node, path, "true or false", false);
                return None;
            }
            (Type::Integer { min, max }, _, resolved) => match resolved {
                Some(Resolved::Int(number)) if (min.into()..=max.into()).contains(&number) => {
                    Data::Integer(i64::try_from(number).unwrap_or(max))
                }
                _ => {
                    self.wrong_type(node, path, &format!("a number from {min} to {max}"), false);
                    return None;
                }
            },
            (Type::Choice(words), Some((text, _)), _) => {
                if !words.contains(&text) {
                    let near = suggest(text, words.iter().copied());
                    let message = match words {
                        [word] => format!("{}{text:?} is not {word:?}", prefix(path)),
                        _ => format!("{}{text:?} is none of {}", prefix(path), words.join(", ")),
                    };
                    let hint = near.map(|near| format!("did you mean {near:?}?"));
                    self.problems
                        .push(Diagnostic { hint, ..Rule::Value.problem(node.origin, message) });
                    return None;
                }
                Data::Text(text.to_owned())
            }
            (Type::Text(format), Some((text, _)), _) => match (format.check)(text) {
                Ok(()) => Data::Text(text.to_owned()),
                Err(invalid) => {
                    let message = if format.secret {
                        format!("{}not {}: {}", prefix(path), invalid.what, invalid.rule)
                    } else {
                        format!("{}{invalid}", prefix(path))
                    };
                    self.note(Rule::Value, node.origin, message);
                    return None;
                }
            },
            (Type::Text(format), ..) => {
                self.wrong_type(node, path, "text", format.secret);
                return None;
            }
            (Type::Choice(_), ..) => {
                self.wrong_type(node, path, "a word", false);
                return None;
            }
            (Type::List(element), ..) => {
                let Content::Sequence(items) = &node.content else {
                    self.wrong_type(node, path, "a list", true);
                    return None;
                };
                let items = items.iter().enumerate();
                let items =
                    items.map(|(at, item)| self.value(item, *element, &format!("{path}[{at}]")));
                Data::List(items.collect::<Vec<_>>().into_iter().flatten().collect())
            }
            (Type::Object(keys), ..) => return Some(self.object(node, keys, path)),
        };
        Some(Parsed { origin: node.origin, data })
    }

    fn wrong_type(&mut self, node: &Node, path: &str, wanted: &str, secret: bool) {
        let found = match &node.content {
            Content::Sequence(_) => "a list".to_owned(),
            Content::Mapping(_) => "an object".to_owned(),
            Content::Scalar { .. } if secret => "text".to_owned(),
            Content::Scalar { text, .. } => {
                format!("{:?}", text.chars().take(40).collect::<String>())
            }
        };
        let message = format!("{}{wanted} is wanted here, not {found}", prefix(path));
        self.note(Rule::Value, node.origin, message);
    }

    fn note(&mut self, rule: Rule, origin: Location, message: String) {
        self.problems.push(rule.problem(origin, message));
    }
}

/// Returns the default of a key that was not given. It has no location in the text.
fn default(literal: &Literal, ty: Type) -> Parsed {
    let data = match (literal, ty) {
        (Literal::Text(text), _) => Data::Text((*text).to_owned()),
        (Literal::Integer(number), _) => Data::Integer(*number),
        (Literal::Boolean(value), _) => Data::Boolean(*value),
        (Literal::Texts(texts), _) => {
            let item = |text: &&str| Parsed {
                origin: Location::default(),
                data: Data::Text((*text).to_owned()),
            };
            Data::List(texts.iter().map(item).collect())
        }
        (Literal::Object, Type::Object(keys)) => {
            let given = keys.iter().filter_map(|key| match &key.need {
                Need::Default(literal) => Some((key.name, default(literal, key.ty))),
                Need::Required | Need::RequiredWithout(_) | Need::Derived(_) => None,
            });
            Data::Object(given.collect())
        }
        (Literal::Object, _) => Data::Object(BTreeMap::new()),
    };
    Parsed { origin: Location::default(), data }
}

fn is_null(node: &Node) -> bool {
    node.tag().is_none()
        && node.scalar().is_some_and(|(text, style)| resolve(text, style) == Resolved::Null)
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}
