//! What templates compute with.

use std::collections::BTreeMap;
use std::fmt::Write;

use talos_config::{Data, Value, yaml};

use super::fields::{Kind, Struct};

/// A value as Go's templates know it.
#[derive(Clone)]
pub(crate) enum Go<'a> {
    /// Nothing; with the name of the type that it could have been, or none.
    Nil(&'static str),
    Bool(bool),
    /// A pointer to a boolean, which counts as true whenever it is there.
    Flag(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Seconds since 1970.
    Time(i64),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
    /// Named fields of a type that is told in errors.
    Record(&'static str, Vec<(&'static str, Self)>),
    Struct {
        ty: &'static Struct,
        fields: &'a BTreeMap<String, Value>,
        pointer: bool,
    },
    /// A URL: text that has fields.
    Url(String),
}

impl<'a> Go<'a> {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// The value of a field, or what is wrong with asking for it.
    pub(super) fn field(&self, name: &str) -> Result<Self, String> {
        let missing = |ty: &str| Err(format!("can't evaluate field {name} in type {ty}"));
        match self {
            Self::Nil("") => Err(format!("nil data; no entry for key {name:?}")),
            Self::Nil(ty) => Err(format!("nil pointer evaluating *{ty}.{name}")),
            Self::Map(map) => Ok(map.get(name).cloned().unwrap_or(Self::Nil(""))),
            Self::Record(ty, fields) => {
                let found = fields.iter().find(|(field, _)| *field == name);
                found.map_or_else(|| missing(ty), |(_, value)| Ok(value.clone()))
            }
            Self::Struct { ty, fields, pointer } => {
                match ty.fields.iter().find(|(field, _, _)| *field == name) {
                    Some((_, key, kind)) => Ok(of(fields.get(*key), *kind)),
                    None if *pointer => missing(&format!("*{}", ty.name)),
                    None => missing(ty.name),
                }
            }
            Self::Url(url) => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                let path = &rest[host.len()..];
                match name {
                    "Scheme" => Ok(Self::text(scheme)),
                    "Host" => Ok(Self::text(host)),
                    "Path" => Ok(Self::text(path)),
                    "Hostname" => {
                        Ok(Self::text(host.rsplit_once(':').map_or(host, |(host, _)| host)))
                    }
                    "Port" => Ok(Self::text(host.rsplit_once(':').map_or("", |(_, port)| port))),
                    "String" => Ok(Self::text(url)),
                    _ => missing("*v1alpha1.Endpoint"),
                }
            }
            other => missing(other.type_name()),
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Nil(_) => "nil",
            Self::Bool(_) | Self::Flag(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
            Self::Time(_) => "time.Time",
            Self::List(_) => "[]string",
            Self::Map(_) => "map[string]string",
            Self::Record(ty, _) => ty,
            Self::Struct { ty, .. } => ty.name,
            Self::Url(_) => "*v1alpha1.Endpoint",
        }
    }

    /// Whether `if` takes it for true.
    pub(super) fn truth(&self) -> bool {
        match self {
            Self::Nil(_) => false,
            Self::Bool(value) => *value,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(items) => !items.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Flag(_)
            | Self::Time(_)
            | Self::Record(..)
            | Self::Struct { .. }
            | Self::Url(_) => true,
        }
    }

    /// Whether it is the zero of its type, which functions such as `default` ask.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Struct { fields, pointer, .. } => !pointer && fields.is_empty(),
            other => !other.truth(),
        }
    }

    /// As it is printed; nothing for what has no sensible form.
    pub(super) fn print(&self) -> Option<String> {
        Some(match self {
            Self::Nil(_) => "<nil>".to_owned(),
            Self::Bool(value) | Self::Flag(value) => value.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Float(number) => yaml::float(*number),
            Self::Text(text) | Self::Url(text) => text.clone(),
            Self::Time(seconds) => seconds.to_string(),
            Self::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(Self::print).collect();
                format!("[{}]", items?.join(" "))
            }
            Self::Map(map) => {
                let mut output = String::from("map[");
                for (index, (key, value)) in map.iter().enumerate() {
                    let space = if index > 0 { " " } else { "" };
                    // Writing to a string cannot fail.
                    let _ = write!(output, "{space}{key}:{}", value.print()?);
                }
                output + "]"
            }
            Self::Record(..) | Self::Struct { .. } => return None,
        })
    }

    /// Free-form data.
    pub(super) fn of_data(value: &'a Value) -> Self {
        match &value.data {
            Data::Null => Self::Nil(""),
            Data::Bool(value) => Self::Bool(*value),
            Data::Int(number) => Self::Int(i64::try_from(*number).unwrap_or(i64::MAX)),
            Data::Float(number) => Self::Float(*number),
            Data::Text(text) => Self::Text(text.clone()),
            Data::List(items) => Self::List(items.iter().map(Self::of_data).collect()),
            Data::Map(map) => Self::Map(
                map.iter().map(|(key, value)| (key.clone(), Self::of_data(value))).collect(),
            ),
        }
    }
}

/// A field of a kind, be it unset.
fn of(value: Option<&Value>, kind: Kind) -> Go<'_> {
    static NONE: BTreeMap<String, Value> = BTreeMap::new();
    match (kind, value) {
        (Kind::Pointer(ty), None) => Go::Nil(ty.name),
        (Kind::Inner(ty), None) => Go::Struct { ty, fields: &NONE, pointer: false },
        (Kind::Pointer(ty), Some(value)) => {
            Go::Struct { ty, fields: value.as_map().unwrap_or(&NONE), pointer: true }
        }
        (Kind::Inner(ty), Some(value)) => {
            Go::Struct { ty, fields: value.as_map().unwrap_or(&NONE), pointer: false }
        }
        (Kind::Objects(ty), value) => {
            let items = value.and_then(Value::as_list).unwrap_or_default();
            let fields = items.iter().filter_map(Value::as_map);
            Go::List(fields.map(|fields| Go::Struct { ty, fields, pointer: true }).collect())
        }
        (Kind::ObjectMap(ty), value) => {
            let entries = value.and_then(Value::as_map).into_iter().flatten();
            let entries = entries.filter_map(|(key, value)| {
                let fields = value.as_map()?;
                Some((key.clone(), Go::Struct { ty, fields, pointer: true }))
            });
            Go::Map(entries.collect())
        }
        (Kind::Url, Some(value)) => Go::Url(value.as_text().unwrap_or_default().to_owned()),
        (Kind::Flag, Some(Value { data: Data::Bool(value), .. })) => Go::Flag(*value),
        (Kind::Text, None) => Go::Text(String::new()),
        (Kind::Bool, None) => Go::Bool(false),
        (Kind::Number, None) => Go::Int(0),
        (Kind::Texts, None) => Go::List(Vec::new()),
        (Kind::TextMap, None) => Go::Map(BTreeMap::new()),
        (Kind::Flag | Kind::Url | Kind::Free, None) => Go::Nil(""),
        (_, Some(value)) => Go::of_data(value),
    }
}
