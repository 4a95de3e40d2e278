//! Values of resources: parsed from YAML and written as JSON, each like the libraries of talosctl.
//!
//! Always holds: keys are in the order of their letters, so the same resource is always the same text.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use talos_config::yaml::{Content, Node, Resolved, Style, resolve};

/// A value without a type that was known beforehand. It may be a secret, so it has no `Debug`.
#[derive(Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    /// A point in time, which is text for JSON, but nothing that can be shown without quotes.
    Time(String),
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

impl Value {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Resolves a plain YAML scalar.
    pub(super) fn plain(text: &str) -> Self {
        match resolve(text, Style::Plain) {
            Resolved::Null => Self::Null,
            Resolved::Bool(value) => Self::Bool(value),
            Resolved::Int(number) => Self::Int(number),
            Resolved::Float(number) => Self::Float(number),
            Resolved::Timestamp if text.contains(['T', 't']) => Self::Time(text.to_owned()),
            Resolved::Timestamp => Self::Time(format!("{text}T00:00:00Z")),
            Resolved::Merge | Resolved::Text => Self::text(text),
        }
    }

    /// JSON below each other, four blanks deep.
    pub(super) fn indented(&self) -> String {
        self.json(Some(0))
    }

    /// JSON in one line.
    pub(super) fn compact(&self) -> String {
        self.json(None)
    }

    /// Returns whether it is always shown as JSON.
    pub(super) fn is_structure(&self) -> bool {
        matches!(self, Self::Time(_) | Self::List(_) | Self::Map(_))
    }

    fn json(&self, depth: Option<usize>) -> String {
        let mut output = String::new();
        self.write_json(depth, &mut output);
        output
    }

    fn write_json(&self, depth: Option<usize>, output: &mut String) {
        let inner = depth.map(|depth| depth + 1);
        match self {
            Self::Text(text) | Self::Time(text) => quote(text, output),
            Self::List(items) => {
                enclose(['[', ']'], items, depth, output, |item, output| {
                    item.write_json(inner, output);
                });
            }
            Self::Map(entries) => {
                enclose(['{', '}'], entries, depth, output, |(key, value), output| {
                    quote(key, output);
                    output.push_str(if depth.is_some() { ": " } else { ":" });
                    value.write_json(inner, output);
                });
            }
            // Writing to a string cannot fail.
            Self::Float(number) => {
                let _ = write!(output, "{}", float(*number, -6..21, 1));
            }
            other => {
                let _ = write!(output, "{other}");
            }
        }
    }
}

/// Formats the value for a cell of a table.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(number) => number.fmt(f),
            Self::Float(number) => f.write_str(&float(*number, -4..21, 2)),
            Self::Text(text) => f.write_str(text),
            Self::Time(_) | Self::List(_) | Self::Map(_) => f.write_str(&self.compact()),
        }
    }
}

impl From<&Node> for Value {
    fn from(node: &Node) -> Self {
        match &node.content {
            Content::Scalar { text, style } if node.tag().is_none() => match style {
                Style::Plain => Self::plain(text),
                _ => Self::text(&**text),
            },
            Content::Scalar { text, .. } => Self::text(&**text),
            Content::Sequence(items) => Self::List(items.iter().map(Self::from).collect()),
            Content::Mapping(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    let key = key.scalar().map_or_else(String::new, |(text, _)| text.to_owned());
                    (key, Self::from(value))
                });
                Self::Map(entries.collect())
            }
        }
    }
}

/// Writes what stands between two brackets.
fn enclose<T>(
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    depth: Option<usize>,
    output: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    output.push(open);
    let mut empty = true;
    for item in items {
        if !std::mem::take(&mut empty) {
            output.push(',');
        }
        break_line(depth.map(|depth| depth + 1), output);
        write(item, output);
    }
    if !empty {
        break_line(depth, output);
    }
    output.push(close);
}

fn break_line(depth: Option<usize>, output: &mut String) {
    if let Some(depth) = depth {
        output.push('\n');
        output.extend(std::iter::repeat_n("    ", depth));
    }
}

/// The shortest number that reads the same; outside of `plain` with an exponent of at least so many digits.
fn float(number: f64, plain: std::ops::Range<i32>, digits: usize) -> String {
    let scientific = format!("{number:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if plain.contains(&exponent) {
        return number.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:0digits$}", exponent.abs())
}

/// Text in quotes. What a web page would take for its own is escaped too.
fn quote(text: &str, output: &mut String) {
    output.push('"');
    for character in text.chars() {
        let short = match character {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\x08' => "\\b",
            '\x0c' => "\\f",
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(output, "\\u{:04x}", u32::from(character));
                continue;
            }
            _ => {
                output.push(character);
                continue;
            }
        };
        output.push_str(short);
    }
    output.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_what_go_writes() {
        let list = Value::List(vec![Value::Null, Value::Float(1e21), Value::Float(0.5)]);
        let entries = [
            ("b".to_owned(), list),
            ("a".to_owned(), Value::text("<\u{1}\n\"ü")),
            ("c".to_owned(), Value::Map(BTreeMap::new())),
        ];
        let value = Value::Map(entries.into());
        assert_eq!(value.compact(), r#"{"a":"\u003c\u0001\n\"ü","b":[null,1e+21,0.5],"c":{}}"#);
        let expected = "{\n    \"a\": \"\\u003c\\u0001\\n\\\"ü\",\n    \"b\": [\n        null,\n        1e+21,\n        \
                        0.5\n    ],\n    \"c\": {}\n}";
        assert_eq!(value.indented(), expected);
    }

    #[test]
    fn what_has_no_quotes_has_a_type() {
        for (text, shown) in [
            ("1", "1"),
            ("0.00001", "1e-05"),
            ("", "null"),
            ("2026-11-16", "\"2026-11-16T00:00:00Z\""),
            ("yes", "yes"),
        ] {
            assert_eq!(Value::plain(text).to_string(), shown);
        }
    }
}
