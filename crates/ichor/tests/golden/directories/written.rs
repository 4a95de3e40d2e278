//! A talconfig as text, in the many ways in which the same can be written.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::combinations::FORMS;
use super::{Maker, Random};

impl Maker {
    /// Writes a talconfig, which may have the marks of [`super::anchors`] in it.
    pub(super) fn text(&mut self, written: &Value) -> String {
        let form = self.one_shown(FORMS, 12);
        if form == "JSON" {
            if !has_marks(written) {
                return written.to_string();
            }
            self.shown.remove(form);
        }
        let mut writer = Writer {
            comments: self.random.one_in(2),
            indented: !self.random.one_in(3),
            flow: 1 + self.random.below(6),
            random: &mut self.random,
            used: BTreeSet::new(),
        };
        let keys = writer.keys(written.as_object().expect("an object"), 0);
        let used = writer.used;
        self.shown.extend(used);
        let text = format!("# yaml-language-server: $schema=nowhere\n{keys}");
        let text = match form {
            "line ends of Windows" => text.replace('\n', "\r\n"),
            "a byte order mark" => format!("\u{feff}{text}"),
            "a document marker" => format!("---\n{text}"),
            "a second document" => format!("{text}---\nclusterName: second\n"),
            _ => text,
        };
        text + self.fault.map_or("", |fault| fault.text)
    }
}

struct Writer<'a> {
    random: &'a mut Random,
    /// The styles that were used.
    used: BTreeSet<&'static str>,
    comments: bool,
    /// Whether lists stand further in than their keys.
    indented: bool,
    /// In one of how many cases lists and objects stand in one line.
    flow: u32,
}

impl Writer<'_> {
    fn keys(&mut self, keys: &Map<String, Value>, column: usize) -> String {
        let mut text = String::new();
        for (key, value) in keys {
            if !text.is_empty() {
                text.push_str(&self.remark(column));
            }
            let (key, value) = (written_key(key), self.value(value, column + 2));
            text.extend([" ".repeat(column), key, ":".to_owned(), value]);
        }
        text
    }

    /// What follows a colon or a dash, with the end of the line; further lines begin at a column.
    fn value(&mut self, value: &Value, column: usize) -> String {
        let mark = |mark: &str| value.get(mark).and_then(Value::as_str);
        if let Some(name) = mark("*") {
            return format!(" *{name}\n");
        }
        if let Some(text) = mark("!") {
            return format!(" {text}\n");
        }
        if let (Some(name), Some(value)) = (mark("&"), value.get("=")) {
            return format!(" &{name}{}", self.value(value, column));
        }
        match value {
            Value::String(text) => self.scalar(text, column),
            Value::Object(keys) if !keys.is_empty() && self.has_lines(value) => {
                self.used.insert("a block of keys");
                format!("\n{}", self.keys(keys, column))
            }
            Value::Array(items) if !items.is_empty() && self.has_lines(value) => {
                self.items(items, column)
            }
            other => format!(" {}{}", self.one_line(other), self.line_end()),
        }
    }

    fn items(&mut self, items: &[Value], column: usize) -> String {
        if !self.indented {
            self.used.insert("a list without indentation");
        }
        let dash = if self.indented { column } else { column - 2 };
        let mut text = String::from("\n");
        for item in items {
            let remark = self.remark(dash);
            let value = self.value(item, dash + 2);
            // The first key of an object stands beside the dash.
            let value = match value.strip_prefix('\n') {
                Some(lines) => format!(" {}", &lines[dash + 2..]),
                None => value,
            };
            text.extend([remark, " ".repeat(dash), "-".to_owned(), value]);
        }
        text
    }

    fn scalar(&mut self, text: &str, column: usize) -> String {
        let several = text.contains('\n');
        let can_be_block = !text.is_empty()
            && !text.starts_with([' ', '\n'])
            && !text.ends_with(' ')
            && !text.ends_with("\n\n");
        let lines = || {
            let mut lines = String::new();
            for line in text.lines() {
                let pad = " ".repeat(if line.is_empty() { 0 } else { column });
                lines.extend([pad.as_str(), line, "\n"]);
            }
            lines
        };
        if can_be_block && several && !self.random.one_in(4) {
            if text.ends_with('\n') {
                self.used.insert("a literal text");
                return format!(" |\n{}", lines());
            }
            self.used.insert("a literal text without its end");
            return format!(" |-\n{}", lines());
        }
        if can_be_block && !several && self.random.one_in(16) {
            self.used.insert("a folded text");
            return format!(" >-\n{}", lines());
        }
        let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        let is_variable =
            name.is_some_and(|name| !name.is_empty() && name.chars().all(char::is_alphabetic));
        let plain = is_variable && self.random.one_in(2);
        let text = if plain { text.to_owned() } else { self.quoted(text) };
        format!(" {text}{}", self.line_end())
    }

    /// Something in one line, as JSON or in fewer quotes.
    fn one_line(&mut self, value: &Value) -> String {
        if self.random.one_in(3) {
            return value.to_string();
        }
        if value.is_object() || value.is_array() {
            self.used.insert("a flow of words");
        }
        self.words(value)
    }

    fn words(&mut self, value: &Value) -> String {
        match value {
            Value::Object(keys) => {
                let keys: Vec<String> = keys
                    .iter()
                    .map(|(key, value)| format!("{}: {}", written_key(key), self.words(value)))
                    .collect();
                format!("{{{}}}", keys.join(", "))
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.words(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::String(text) => self.quoted(text),
            other => other.to_string(),
        }
    }

    fn quoted(&mut self, text: &str) -> String {
        if is_plain(text) && self.random.one_in(2) {
            text.to_owned()
        } else if !text.contains(['\n', '\'']) && self.random.one_in(2) {
            format!("'{text}'")
        } else {
            Value::from(text).to_string()
        }
    }

    /// Whether a list or an object is written over several lines. One with marks has to be.
    fn has_lines(&mut self, value: &Value) -> bool {
        !self.random.one_in(self.flow) || has_marks(value)
    }

    fn remark(&mut self, column: usize) -> String {
        if !self.comments || !self.random.one_in(12) {
            return String::new();
        }
        if self.random.one_in(3) {
            self.used.insert("a variable in a comment");
            return format!("{:column$}# not ${{A_VARIABLE}}\n", "");
        }
        self.used.insert("a comment");
        format!("{:column$}# why\n", "")
    }

    fn line_end(&mut self) -> &'static str {
        if !self.comments || !self.random.one_in(12) {
            return "\n";
        }
        self.used.insert("a comment");
        " # why\n"
    }
}

fn has_marks(value: &Value) -> bool {
    match value {
        Value::Object(keys) => {
            keys.keys().any(|key| ["&", "*", "!", "<<"].contains(&key.as_str()))
                || keys.values().any(has_marks)
        }
        Value::Array(items) => items.iter().any(has_marks),
        _ => false,
    }
}

fn written_key(key: &str) -> String {
    if key == "<<" || is_plain(key) { key.to_owned() } else { Value::from(key).to_string() }
}

/// Whether a text is the same without quotes: a word, an address or a version.
fn is_plain(text: &str) -> bool {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && !["true", "false", "null"].contains(&text);
    let is_numbers = text.starts_with(|first: char| first.is_ascii_digit())
        && text.matches('.').count() > 1
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"./".contains(&byte));
    let is_simple =
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/.-_".contains(&byte));
    is_numbers || (is_word && is_simple)
}
