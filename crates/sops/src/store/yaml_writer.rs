//! Writes a tree as YAML with comments, in the layout of SOPS.

use std::fmt::Write;

use talos_config::yaml::{self, Dialect, Tree};

use crate::tree::{Comment, Element, Entry, Map, Value};

/// Writes documents with `indent` spaces for each level.
pub(super) fn write(documents: &[Map], indent: usize) -> String {
    // The library of SOPS treats other numbers as two.
    let indent = if (2..=9).contains(&indent) { indent } else { 2 };
    let mut writer = Writer { text: String::new(), indent };
    for (index, document) in documents.iter().enumerate() {
        if index > 0 {
            writer.text.push_str("---\n");
        }
        writer.map(document, 0, false);
        if !has_pair(document) {
            writer.text.push_str("{}\n");
        }
    }
    writer.text
}

struct Writer {
    text: String,
    indent: usize,
}

impl Writer {
    /// `begun`: the first entry continues the current line.
    fn map(&mut self, map: &Map, column: usize, mut begun: bool) {
        let mut behind = Vec::new();
        for entry in map {
            match entry {
                Entry::Comment(comment) if comment.inline => behind.push(comment),
                Entry::Comment(comment) => self.comment(comment, column, &mut begun),
                Entry::Pair(key, node) => {
                    // After a dash they cannot be written.
                    let held = begun;
                    if !held {
                        self.inner_comments(&node.value, column, &mut begun);
                    }
                    self.begin(column, &mut begun);
                    self.key(key, &node.value, column);
                    let below = (column / self.indent + 1) * self.indent;
                    match &node.value {
                        Value::Map(inner) if has_pair(inner) => {
                            self.end_line(&mut behind);
                            self.map(inner, below, false);
                        }
                        Value::List(inner) if has_node(inner) => {
                            self.end_line(&mut behind);
                            self.list(inner, below, false);
                        }
                        value => self.scalar(value, below, &mut behind),
                    }
                    if held {
                        self.inner_comments(&node.value, column, &mut begun);
                    }
                }
            }
        }
        self.left_over(&behind, column, &mut begun);
    }

    fn list(&mut self, list: &[Element], column: usize, mut begun: bool) {
        let mut behind = Vec::new();
        for element in list {
            match element {
                Element::Comment(comment) if comment.inline => behind.push(comment),
                Element::Comment(comment) => self.comment(comment, column, &mut begun),
                Element::Node(node) => {
                    self.inner_comments(&node.value, column, &mut begun);
                    // A comment after a scalar on its line comes first.
                    if !is_scalar(&node.value) {
                        self.left_over(&behind, column, &mut begun);
                        behind.clear();
                    }
                    self.begin(column, &mut begun);
                    self.text.push('-');
                    let below = column + 2;
                    match &node.value {
                        Value::Map(inner) if has_pair(inner) => {
                            self.text.push(' ');
                            self.map(inner, below, true);
                        }
                        Value::List(inner) if has_node(inner) => {
                            self.text.push(' ');
                            self.list(inner, below, true);
                        }
                        value => self.scalar(value, below, &mut behind),
                    }
                }
            }
        }
        self.left_over(&behind, column, &mut begun);
    }

    /// Writes a collection of comments only as an empty one, after the comments.
    fn inner_comments(&mut self, value: &Value, column: usize, begun: &mut bool) {
        match value {
            Value::Map(inner) if !has_pair(inner) => {
                for entry in inner {
                    if let Entry::Comment(comment) = entry {
                        self.comment(comment, column, begun);
                    }
                }
            }
            Value::List(inner) if !has_node(inner) => {
                for element in inner {
                    if let Element::Comment(comment) = element {
                        self.comment(comment, column, begun);
                    }
                }
            }
            _ => {}
        }
    }

    fn comment(&mut self, comment: &Comment, column: usize, begun: &mut bool) {
        for line in comment.text.split(is_break) {
            self.begin(column, begun);
            self.text.push('#');
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn left_over(&mut self, behind: &[&Comment], column: usize, begun: &mut bool) {
        for comment in behind {
            self.comment(comment, column, begun);
        }
    }

    fn key(&mut self, key: &str, value: &Value, column: usize) {
        // A merge is one only without quotes, and only of mappings.
        let is_merge = key == "<<" && !is_scalar(value);
        let text = if is_merge { key.to_owned() } else { plain_or_quoted(key) };
        if text.len() <= LONGEST_SIMPLE_KEY {
            self.text.push_str(&text);
        } else {
            self.text.push_str("? ");
            self.text.push_str(&text);
            self.text.push('\n');
            self.pad(column);
        }
        self.text.push(':');
    }

    /// Writes a scalar after a key or a dash, and ends the line.
    fn scalar(&mut self, value: &Value, column: usize, behind: &mut Vec<&Comment>) {
        self.text.push(' ');
        let text = match value {
            Value::Null => "null".to_owned(),
            Value::Bool(flag) => flag.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Float(number) => yaml::float(*number),
            Value::Time(text) => text.clone(),
            Value::List(_) => "[]".to_owned(),
            Value::Map(_) => "{}".to_owned(),
            Value::Text(text) => {
                let written = written(text);
                if let Some((header, lines)) = literal(&written) {
                    self.text.push_str(header);
                    self.end_line(behind);
                    self.lines(lines, column);
                    return;
                }
                plain_or_quoted(text)
            }
        };
        self.text.push_str(&text);
        self.end_line(behind);
    }

    fn lines(&mut self, lines: &str, column: usize) {
        for line in lines.split_inclusive('\n') {
            if let Some(line) = line.strip_prefix(OWN_INDENT) {
                self.pad(column);
                self.text.push_str(line);
            } else {
                self.text.push_str(line);
            }
        }
    }

    fn begin(&mut self, column: usize, begun: &mut bool) {
        if !std::mem::take(begun) {
            self.pad(column);
        }
    }

    /// Ends the line with the comments that belong on it.
    fn end_line(&mut self, behind: &mut Vec<&Comment>) {
        for comment in behind.drain(..) {
            self.text.push_str(" #");
            self.text.extend(comment.text.split(is_break));
        }
        self.text.push('\n');
    }

    fn pad(&mut self, columns: usize) {
        self.text.extend(std::iter::repeat_n(' ', columns));
    }
}

/// Returns a text as the only scalar of a document, without the final line break.
fn written(text: &str) -> String {
    let mut output = String::new();
    yaml::emit(&Tree::Text(text.into()), Dialect::V1_13, &mut output);
    output
}

/// Splits a literal into header and lines, if it can be indented freely: without an indentation
/// indicator, and with no line breaks but `\n`.
fn literal(written: &str) -> Option<(&str, &str)> {
    let (header, lines) = written.split_once('\n')?;
    let usual = matches!(header, "|" | "|-" | "|+") && !lines.contains(is_unusual_break);
    // Lines that are empty at the beginning say nothing about the indentation of the others.
    (usual && lines.starts_with(OWN_INDENT)).then_some((header, lines))
}

/// Formats a text on one line.
fn plain_or_quoted(text: &str) -> String {
    let written = written(text);
    let line = written.strip_suffix('\n').unwrap_or(&written);
    if line.contains(is_break) || line.starts_with('|') {
        return quoted(text);
    }
    line.to_owned()
}

fn quoted(text: &str) -> String {
    let mut output = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => output.push_str("\\\""),
            '\\' => output.push_str("\\\\"),
            '\n' => output.push_str("\\n"),
            ' '..='~' => output.push(character),
            // Writing to a string cannot fail.
            _ => {
                let _ = write!(output, "\\U{:08X}", u32::from(character));
            }
        }
    }
    output + "\""
}

fn has_pair(map: &Map) -> bool {
    map.iter().any(|entry| entry.pair().is_some())
}

fn has_node(list: &[Element]) -> bool {
    list.iter().any(|element| element.node().is_some())
}

fn is_scalar(value: &Value) -> bool {
    match value {
        Value::Map(map) => !has_pair(map),
        Value::List(list) => !has_node(list),
        _ => true,
    }
}

fn is_break(character: char) -> bool {
    character == '\n' || is_unusual_break(character)
}

fn is_unusual_break(character: char) -> bool {
    matches!(character, '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The writer of documents puts this before each line of a literal.
const OWN_INDENT: &str = "    ";

/// In bytes: a longer key is written in the explicit form, as SOPS does.
const LONGEST_SIMPLE_KEY: usize = 128;
