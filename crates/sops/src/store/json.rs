//! JSON, its keys in the order of the text.

use std::fmt::{self, Write};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::LIMITS;
use crate::error::{Error, ValueLocation};
use crate::tree::{Element, Entry, Map, Node, Value};

pub(super) fn read(text: &str) -> Result<Map, Error> {
    super::not_too_long(text)?;
    // The parser refuses more than 128 levels by itself.
    let node: Node = serde_json::from_str(text).map_err(|error| Error::Syntax {
        problem: "it is not JSON".to_owned(),
        line: u32::try_from(error.line()).ok().filter(|line| *line > 0),
    })?;
    if count(&node.value, 0).is_none_or(|nodes| nodes > LIMITS.nodes) {
        let problem = format!("more than {} values, or {} levels", LIMITS.nodes, LIMITS.depth);
        return Err(Error::Syntax { problem, line: None });
    }
    match node.value {
        Value::Map(map) => Ok(map),
        _ => Err(Error::Syntax { problem: "it is not a JSON object".to_owned(), line: Some(1) }),
    }
}

pub(super) fn write(map: &Map, indent: Option<usize>) -> Result<String, Error> {
    let unit = indent.map_or_else(|| "\t".to_owned(), |spaces| " ".repeat(spaces.min(WIDEST)));
    let mut writer = Writer { text: String::new(), unit };
    writer.map(map, 0)?;
    writer.text.push('\n');
    Ok(writer.text)
}

/// Counts the values; `None` if they are nested too deep.
fn count(value: &Value, depth: usize) -> Option<usize> {
    if depth > LIMITS.depth {
        return None;
    }
    let inner: Vec<&Node> = match value {
        Value::List(elements) => elements.iter().filter_map(Element::node).collect(),
        Value::Map(map) => map.iter().filter_map(|entry| Some(entry.pair()?.1)).collect(),
        _ => return Some(1),
    };
    inner.into_iter().try_fold(1, |sum, node| Some(sum + count(&node.value, depth + 1)?))
}

struct Writer {
    text: String,
    unit: String,
}

impl Writer {
    fn map(&mut self, map: &Map, depth: usize) -> Result<(), Error> {
        self.text.push('{');
        let mut any = false;
        for (key, node) in map.iter().filter_map(Entry::pair) {
            self.next(depth + 1, &mut any);
            self.string(key);
            self.text.push_str(": ");
            self.value(&node.value, depth + 1)?;
        }
        self.end('}', depth, any);
        Ok(())
    }

    fn list(&mut self, elements: &[Element], depth: usize) -> Result<(), Error> {
        self.text.push('[');
        let mut any = false;
        for node in elements.iter().filter_map(Element::node) {
            self.next(depth + 1, &mut any);
            self.value(&node.value, depth + 1)?;
        }
        self.end(']', depth, any);
        Ok(())
    }

    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        match value {
            Value::Null => self.text.push_str("null"),
            Value::Bool(flag) => self.text.push_str(&flag.to_string()),
            Value::Int(number) => self.text.push_str(&number.to_string()),
            Value::Float(number) if number.is_finite() => self.text.push_str(&float(*number)),
            Value::Float(_) => {
                let problem = "JSON has no number for what is not finite";
                return Err(Error::Value { location: ValueLocation::default(), problem });
            }
            Value::Time(text) | Value::Text(text) => self.string(text),
            Value::List(elements) => self.list(elements, depth)?,
            Value::Map(map) => self.map(map, depth)?,
        }
        Ok(())
    }

    /// Writes a string as Go does, which escapes characters of HTML.
    fn string(&mut self, text: &str) {
        self.text.push('"');
        for character in text.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\r' => self.text.push_str("\\r"),
                '\t' => self.text.push_str("\\t"),
                '\u{8}' => self.text.push_str("\\b"),
                '\u{c}' => self.text.push_str("\\f"),
                '\0'..=' ' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' if character != ' ' => {
                    // Writing to a string cannot fail.
                    let _ = write!(self.text, "\\u{:04x}", u32::from(character));
                }
                character => self.text.push(character),
            }
        }
        self.text.push('"');
    }

    fn next(&mut self, depth: usize, any: &mut bool) {
        if *any {
            self.text.push(',');
        }
        *any = true;
        self.line(depth);
    }

    fn end(&mut self, bracket: char, depth: usize, any: bool) {
        if any {
            self.line(depth);
        }
        self.text.push(bracket);
    }

    fn line(&mut self, depth: usize) {
        self.text.push('\n');
        for _ in 0..depth {
            self.text.push_str(&self.unit);
        }
    }
}

/// Formats a number with the fewest digits, with an exponent only if it is very small or large.
fn float(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        return if size > 1.0 { text.replace('e', "e+") } else { text };
    }
    number.to_string()
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self::new)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Int(number))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "what SOPS does with an integer of more than 63 bits"
    )]
    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Float(number as f64), Value::Int))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        // The parser has no integer for `-0`, and a readable value would be parsed as an integer
        // again.
        Ok(if number == 0.0 { Value::Int(0) } else { Value::Float(number) })
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(node) = items.next_element()? {
            elements.push(Element::Node(node));
        }
        Ok(Value::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, node)) = pairs.next_entry()? {
            map.push(Entry::Pair(key, node));
        }
        Ok(Value::Map(map))
    }
}

/// The greatest indentation. A number from a file must not exhaust memory.
const WIDEST: usize = 16;

#[cfg(test)]
mod tests {
    use talos_config::Coded;

    use super::*;

    #[test]
    fn numbers_and_texts_are_written_as_go_does() {
        let text = "{\"z\": [1, -2, 1.5, 1.0, 1e100, 1e-7, 1e20, 18446744073709551616, -0], \
                    \"a\": \"<&>\\u2028\\u0001\\n é\", \"e\": [], \"o\": {}, \"n\": null, \"b\": true}";
        let written = write(&read(text).unwrap(), Some(0)).unwrap().replace('\n', "");
        assert_eq!(
            written,
            "{\"z\": [1,-2,1.5,1,1e+100,1e-7,100000000000000000000,18446744073709552000,0],\
             \"a\": \"\\u003c\\u0026\\u003e\\u2028\\u0001\\n é\",\"e\": [],\"o\": {},\"n\": null,\"b\": true}"
        );
    }

    #[test]
    fn what_is_no_object_is_refused_without_repeating_it() {
        let deep = "[".repeat(1000);
        for text in ["", "[]", "\"secret\"", "{\"a\": secret}", "{} {}", &deep, "{\"a\":1e999}"] {
            let error = read(text).err().unwrap();
            assert_eq!(error.code(), "sops.syntax");
            assert!(!error.to_string().contains("secret"));
        }
    }
}
