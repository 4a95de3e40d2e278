//! Types and how they are written.

use std::fmt::Write as _;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) enum Type {
    Dyn,
    Any,
    /// The type of what could not be checked; it fits everything.
    Error,
    Null,
    /// A scalar that may also be null is called a wrapper.
    Scalar {
        scalar: Scalar,
        wrapper: bool,
    },
    Duration,
    Timestamp,
    List(Arc<Self>),
    Map(Arc<(Self, Self)>),
    Optional(Arc<Self>),
    /// The type of a type.
    Meta(Option<Arc<Self>>),
    Message(Arc<str>),
    Parameter(Parameter),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Scalar {
    Bool,
    Bytes,
    Double,
    Int,
    String,
    Uint,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Parameter {
    /// As a declaration names it.
    Declared(char),
    /// Made for one use of a declaration, or for the element of an empty list.
    Fresh(usize),
}

impl Type {
    pub(super) const BOOL: Self = Self::scalar(Scalar::Bool);
    pub(super) const BYTES: Self = Self::scalar(Scalar::Bytes);
    pub(super) const DOUBLE: Self = Self::scalar(Scalar::Double);
    pub(super) const INT: Self = Self::scalar(Scalar::Int);
    pub(super) const STRING: Self = Self::scalar(Scalar::String);
    pub(super) const UINT: Self = Self::scalar(Scalar::Uint);

    pub(super) const fn scalar(scalar: Scalar) -> Self {
        Self::Scalar { scalar, wrapper: false }
    }

    pub(super) fn list(element: Self) -> Self {
        Self::List(Arc::new(element))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(super) fn optional(value: Self) -> Self {
        Self::Optional(Arc::new(value))
    }

    pub(super) fn type_of(value: Self) -> Self {
        Self::Meta(Some(Arc::new(value)))
    }

    /// Returns the type of messages with this name. Some of them are more than messages.
    pub(super) fn message(name: &str) -> Self {
        let wrapper = |scalar| Self::Scalar { scalar, wrapper: true };
        match name.strip_prefix("google.protobuf.") {
            Some("BoolValue") => wrapper(Scalar::Bool),
            Some("BytesValue") => wrapper(Scalar::Bytes),
            Some("DoubleValue" | "FloatValue") => wrapper(Scalar::Double),
            Some("Int32Value" | "Int64Value") => wrapper(Scalar::Int),
            Some("UInt32Value" | "UInt64Value") => wrapper(Scalar::Uint),
            Some("StringValue") => wrapper(Scalar::String),
            Some("Any") => Self::Any,
            Some("Duration") => Self::Duration,
            Some("Timestamp") => Self::Timestamp,
            Some("ListValue") => Self::list(Self::Dyn),
            Some("NullValue") => Self::Null,
            Some("Struct") => Self::map(Self::STRING, Self::Dyn),
            Some("Value") => Self::Dyn,
            _ => Self::Message(name.into()),
        }
    }

    /// Reads a type as tables write it, such as `map(string, list(A))`. A name that begins with a dot
    /// is one of the package.
    pub(super) fn read(text: &str, package: &str) -> Self {
        let inside = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
        if let Some(element) = inside("list") {
            return Self::list(Self::read(element, package));
        }
        if let Some(value) = inside("optional_type") {
            return Self::optional(Self::read(value, package));
        }
        if let Some(value) = inside("type") {
            return Self::type_of(Self::read(value, package));
        }
        // No table has a map within a key.
        if let Some((key, value)) = inside("map").and_then(|pair| pair.split_once(", ")) {
            return Self::map(Self::read(key, package), Self::read(value, package));
        }
        match text {
            "any" => Self::Any,
            "bool" => Self::BOOL,
            "bytes" => Self::BYTES,
            "double" => Self::DOUBLE,
            "duration" => Self::Duration,
            "dyn" => Self::Dyn,
            "int" => Self::INT,
            "string" => Self::STRING,
            "timestamp" => Self::Timestamp,
            "uint" => Self::UINT,
            _ => match (text.strip_prefix('.'), text.chars().next()) {
                (Some(name), _) => Self::message(&format!("{package}.{name}")),
                (None, Some(letter)) if text.len() == 1 => {
                    Self::Parameter(Parameter::Declared(letter))
                }
                _ => Self::message(text),
            },
        }
    }

    /// Returns whether any type is taken for it.
    pub(super) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any)
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Any | Self::Error)
    }

    /// Returns the type in an optional; every other type is itself.
    pub(super) fn unwrap_optional(&self) -> (Self, bool) {
        match self {
            Self::Optional(value) => (value.as_ref().clone(), true),
            _ => (self.clone(), false),
        }
    }

    /// As errors of the checker write it.
    pub(super) fn shown(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, true);
        out
    }

    /// As the message about the type of the result writes it.
    pub(super) fn declared(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, false);
        out
    }

    fn write(&self, out: &mut String, short: bool) {
        // Longer names do not help, and some would fill the memory.
        if out.len() > LONGEST_NAME {
            return;
        }
        let nested = |out: &mut String, name: &str, inner: &[&Self]| {
            out.push_str(name);
            for (index, inner) in inner.iter().enumerate() {
                out.push_str(if index == 0 { "(" } else { ", " });
                inner.write(out, short);
            }
            out.push(')');
        };
        match self {
            Self::Dyn => out.push_str("dyn"),
            Self::Any => out.push_str(if short { "any" } else { "google.protobuf.Any" }),
            Self::Error => out.push_str(if short { "!error!" } else { "error" }),
            Self::Null => out.push_str(if short { "null" } else { "null_type" }),
            Self::Scalar { scalar, wrapper } => {
                let name = scalar.name();
                if *wrapper {
                    let _ = write!(out, "wrapper({name})");
                } else {
                    out.push_str(name);
                }
            }
            Self::Duration => {
                out.push_str(if short { "duration" } else { "google.protobuf.Duration" });
            }
            Self::Timestamp => {
                out.push_str(if short { "timestamp" } else { "google.protobuf.Timestamp" });
            }
            Self::List(element) => nested(out, "list", &[element]),
            Self::Map(pair) => nested(out, "map", &[&pair.0, &pair.1]),
            Self::Optional(value) => nested(out, "optional_type", &[value]),
            Self::Meta(None) => out.push_str("type"),
            Self::Meta(Some(value)) => nested(out, "type", &[value]),
            Self::Message(name) => out.push_str(name),
            Self::Parameter(Parameter::Declared(letter)) => out.push(*letter),
            Self::Parameter(Parameter::Fresh(number)) => {
                let _ = write!(out, "_var{number}");
            }
        }
    }
}

impl Scalar {
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Int => "int",
            Self::String => "string",
            Self::Uint => "uint",
        }
    }
}

/// Bytes of a name of a type, more or less.
const LONGEST_NAME: usize = 100_000;
