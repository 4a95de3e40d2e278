//! The contents of a file in their order, with comments.

use crate::time;

/// A value with its line.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) value: Value,
    /// Zero when no text gave it.
    pub(crate) line: u32,
}

#[derive(Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// In the form of [`time::canonical`].
    Time(String),
    Text(String),
    List(Vec<Element>),
    Map(Map),
}

/// Keys with values, in the order of the text.
pub(crate) type Map = Vec<Entry>;

#[derive(Clone)]
pub(crate) enum Entry {
    Comment(Comment),
    Pair(String, Node),
}

#[derive(Clone)]
pub(crate) enum Element {
    Comment(Comment),
    Node(Node),
}

/// A comment without its `#`. It comes before the node that it applies to.
#[derive(Clone)]
pub(crate) struct Comment {
    pub(crate) text: String,
    /// Written on the line of the node that it applies to.
    pub(crate) inline: bool,
}

impl Node {
    /// Creates a node without a line.
    pub(crate) fn new(value: Value) -> Self {
        Self { value, line: 0 }
    }
}

impl Value {
    /// Returns the text that is encrypted and counted in the MAC, and the name of its type. `None`:
    /// null or a collection.
    pub(crate) fn plain(&self) -> Option<(String, &'static str)> {
        Some(match self {
            Self::Null | Self::List(_) | Self::Map(_) => return None,
            Self::Bool(true) => ("True".to_owned(), "bool"),
            Self::Bool(false) => ("False".to_owned(), "bool"),
            Self::Int(number) => (number.to_string(), "int"),
            Self::Float(number) if *number == f64::INFINITY => ("+Inf".to_owned(), "float"),
            Self::Float(number) if *number == f64::NEG_INFINITY => ("-Inf".to_owned(), "float"),
            // Never an exponent, and the fewest digits that give the number again.
            Self::Float(number) => (number.to_string(), "float"),
            Self::Time(text) => (text.clone(), "time"),
            Self::Text(text) => (text.clone(), "str"),
        })
    }

    /// Parses decrypted text as a type. `None`: the type does not allow it.
    pub(crate) fn from_plain(text: String, kind: &str) -> Option<Self> {
        Some(match kind {
            "str" | "bytes" => Self::Text(text),
            "int" => Self::Int(text.parse().ok()?),
            "float" => Self::Float(text.parse().ok()?),
            "bool" => match text.as_str() {
                "1" | "t" | "T" | "TRUE" | "true" | "True" => Self::Bool(true),
                "0" | "f" | "F" | "FALSE" | "false" | "False" => Self::Bool(false),
                _ => return None,
            },
            "time" => Self::Time(time::canonical(&text, true)?),
            _ => return None,
        })
    }

    /// Returns true for a list or a map that has an element, even if only a comment.
    pub(crate) fn has_inner(&self) -> bool {
        match self {
            Self::List(elements) => !elements.is_empty(),
            Self::Map(entries) => !entries.is_empty(),
            _ => false,
        }
    }
}

impl Entry {
    /// Returns key and value, unless it is a comment.
    pub(crate) fn pair(&self) -> Option<(&str, &Node)> {
        match self {
            Self::Pair(key, node) => Some((key, node)),
            Self::Comment(_) => None,
        }
    }
}

impl Element {
    /// Returns the value, unless it is a comment.
    pub(crate) fn node(&self) -> Option<&Node> {
        match self {
            Self::Node(node) => Some(node),
            Self::Comment(_) => None,
        }
    }
}

impl Comment {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), inline: false }
    }
}
