//! From values to text, byte for byte as Talos' encoder writes it.

use std::borrow::Cow;
use std::fmt::Write;

use super::Style;
use super::resolve::{Resolved, old_boolean, resolve};

/// What is written, with keys in the order in which they are written.
#[derive(Clone, PartialEq)]
pub enum Tree<'a> {
    /// Text, quoted where it would be read as something else.
    Text(Cow<'a, str>),
    /// A number, a boolean, null: written as it is.
    Verbatim(Cow<'a, str>),
    /// A list.
    List(Vec<Self>),
    /// Keys with values.
    Map(Vec<(Cow<'a, str>, Self)>),
}

/// How the encoders of different releases differ.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Dialect {
    /// talosctl 1.12: double quotes for old booleans, a digit in front of text that begins empty.
    V1_12,
    /// talosctl 1.13: double quotes for old booleans.
    V1_13,
    /// talosctl 1.14 and later.
    #[default]
    V1_14,
}

/// Writes one document, ended by a line break.
pub fn emit(tree: &Tree<'_>, dialect: Dialect, output: &mut String) {
    let mut writer = Writer { output, dialect };
    match tree {
        Tree::Map(entries) if !entries.is_empty() => writer.map(entries, 0, true),
        Tree::List(items) if !items.is_empty() => writer.list(items, 0, true),
        scalar => {
            writer.scalar(scalar, INDENT);
            writer.end_line();
        }
    }
}

struct Writer<'a> {
    output: &'a mut String,
    dialect: Dialect,
}

impl Writer<'_> {
    /// Writes the entries at `column`; `inline`: the first one goes on where the line stands.
    fn map(&mut self, entries: &[(Cow<'_, str>, Tree<'_>)], column: usize, inline: bool) {
        let inner = below(column);
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 || !inline {
                self.pad(column);
            }
            let explicit = key.len() > LONGEST_SIMPLE_KEY || key.contains(is_break);
            if explicit {
                self.output.push_str("? ");
                self.text(key, inner);
                self.end_line();
                self.pad(column);
                self.output.push(':');
                match value {
                    Tree::Map(entries) if !entries.is_empty() => {
                        self.pad(inner - column - 1);
                        self.map(entries, inner, true);
                    }
                    Tree::List(items) if !items.is_empty() => {
                        self.pad(inner - column - 1);
                        self.list(items, inner, true);
                    }
                    scalar => self.scalar_line(scalar, inner),
                }
                continue;
            }
            self.text(key, inner);
            self.output.push(':');
            match value {
                Tree::Map(entries) if !entries.is_empty() => {
                    self.output.push('\n');
                    self.map(entries, inner, false);
                }
                Tree::List(items) if !items.is_empty() => {
                    self.output.push('\n');
                    self.list(items, inner, false);
                }
                scalar => self.scalar_line(scalar, inner),
            }
        }
    }

    fn list(&mut self, items: &[Tree<'_>], column: usize, inline: bool) {
        // An item's own content stands right behind its dash.
        let inner = column + 2;
        for (index, item) in items.iter().enumerate() {
            if index > 0 || !inline {
                self.pad(column);
            }
            self.output.push('-');
            match item {
                Tree::Map(entries) if !entries.is_empty() => {
                    self.output.push(' ');
                    self.map(entries, inner, true);
                }
                Tree::List(items) if !items.is_empty() => {
                    self.output.push(' ');
                    self.list(items, inner, true);
                }
                scalar => self.scalar_line(scalar, inner),
            }
        }
    }

    fn scalar_line(&mut self, scalar: &Tree<'_>, text_column: usize) {
        self.output.push(' ');
        self.scalar(scalar, text_column);
        self.end_line();
    }

    fn scalar(&mut self, scalar: &Tree<'_>, text_column: usize) {
        match scalar {
            Tree::Text(text) => self.text(text, text_column),
            Tree::Verbatim(text) => self.output.push_str(text),
            // Only empty ones come here.
            Tree::List(_) => self.output.push_str("[]"),
            Tree::Map(_) => self.output.push_str("{}"),
        }
    }

    fn text(&mut self, text: &str, text_column: usize) {
        match style_of(text, self.dialect) {
            Style::Plain => self.output.push_str(text),
            Style::Single => self.single(text, text_column),
            Style::Literal | Style::Folded => self.literal(text, text_column),
            Style::Double => double(text, self.output),
        }
    }

    fn single(&mut self, text: &str, text_column: usize) {
        self.output.push('\'');
        let mut after_break = false;
        for character in text.chars() {
            let is_break = is_break(character);
            if after_break && !is_break {
                self.pad(text_column);
            }
            if character == '\'' {
                self.output.push('\'');
            }
            self.output.push(character);
            after_break = is_break;
        }
        self.output.push('\'');
    }

    fn literal(&mut self, text: &str, text_column: usize) {
        self.output.push('|');
        // The digit is the unit of indentation, whatever the real one is; so Talos has it.
        if text.starts_with(' ') || (text.starts_with('\n') && self.dialect == Dialect::V1_12) {
            self.output.push('4');
        }
        if !text.ends_with(is_break) {
            self.output.push('-');
        } else if text.chars().nth_back(1).is_none_or(is_break) {
            self.output.push('+');
        }
        self.output.push('\n');
        let mut after_break = true;
        for character in text.chars() {
            let is_break = is_break(character);
            if after_break && !is_break {
                self.pad(text_column);
            }
            self.output.push(character);
            after_break = is_break;
        }
    }

    fn pad(&mut self, columns: usize) {
        self.output.extend(std::iter::repeat_n(' ', columns));
    }

    /// Ends the line, unless a literal has done so already.
    fn end_line(&mut self) {
        if !self.output.ends_with('\n') {
            self.output.push('\n');
        }
    }
}

/// Where a collection below a mapping at `column` stands: the next multiple of the unit.
fn below(column: usize) -> usize {
    (column + INDENT) / INDENT * INDENT
}

/// The style that the encoder chooses for a text.
fn style_of(text: &str, dialect: Dialect) -> Style {
    let facts = Facts::of(text);
    let wanted = if text.contains('\n') {
        if text.chars().all(char::is_whitespace) { Style::Double } else { Style::Literal }
    } else if old_boolean(text).is_some() || is_base_60(text) || text == "<<" {
        if dialect == Dialect::V1_14 { Style::Single } else { Style::Double }
    } else if resolve(text, Style::Plain) != Resolved::Text {
        Style::Double
    } else {
        Style::Plain
    };
    match wanted {
        Style::Literal | Style::Folded if facts.no_literal => Style::Double,
        Style::Literal | Style::Folded => Style::Literal,
        Style::Plain if !facts.no_plain && !facts.no_single => Style::Plain,
        Style::Plain | Style::Single if !facts.no_single => Style::Single,
        _ => Style::Double,
    }
}

/// Which styles a text cannot have.
pub(super) struct Facts {
    pub(super) no_plain: bool,
    pub(super) no_single: bool,
    pub(super) no_literal: bool,
}

impl Facts {
    pub(super) fn of(text: &str) -> Self {
        let mut facts = Self {
            no_plain: text.starts_with("---") || text.starts_with("..."),
            no_single: false,
            no_literal: false,
        };
        let mut previous = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let next = characters.peek().copied();
            let ends_word = next.is_none_or(|next| next == ' ' || next == '\t' || is_break(next));
            match (character, previous) {
                (
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"'
                    | '%' | '@' | '`',
                    None,
                ) => facts.no_plain = true,
                ('-' | '?', None) | (':', _) if ends_word => facts.no_plain = true,
                ('#', Some(' ' | '\t')) => facts.no_plain = true,
                (' ', _) => {
                    facts.no_plain |= previous.is_none() || next.is_none();
                    facts.no_literal |= next.is_none_or(is_break);
                    facts.no_single |= next.is_some_and(is_break) || previous.is_some_and(is_break);
                }
                _ => {}
            }
            facts.no_plain |= is_break(character);
            if !is_printable(character) {
                facts.no_single = true;
                facts.no_literal |= character != '\t';
            }
            previous = Some(character);
        }
        facts
    }
}

/// A number as it was written in base 60, times among them.
pub(super) fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let first = parts.next().unwrap_or_default();
    let first_fine = first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let Some(rest) = unsigned.get(first.len()..).filter(|rest| first_fine && !rest.is_empty())
    else {
        return false;
    };
    let (sixties, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let is_sixty = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    sixties[1..].split(':').all(is_sixty)
        && fraction.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

fn double(text: &str, output: &mut String) {
    // A byte order mark at the beginning makes the encoder distrust every character behind it.
    let distrusted = text.starts_with('\u{feff}');
    output.push('"');
    for character in text.chars() {
        escape(character, distrusted, output);
    }
    output.push('"');
}

/// Writes one character within double quotes.
pub(super) fn escape(character: char, distrusted: bool, output: &mut String) {
    let short = match character {
        '\0' => "\\0",
        '\x07' => "\\a",
        '\x08' => "\\b",
        '\t' => "\\t",
        '\n' => "\\n",
        '\x0b' => "\\v",
        '\x0c' => "\\f",
        '\r' => "\\r",
        '\x1b' => "\\e",
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{85}' => "\\N",
        '\u{a0}' if distrusted => "\\_",
        '\u{2028}' => "\\L",
        '\u{2029}' => "\\P",
        _ if is_printable(character) && !distrusted => {
            output.push(character);
            return;
        }
        _ => {
            let number = u32::from(character);
            // Writing to a string cannot fail.
            let _ = match number {
                0..=0xFF => write!(output, "\\x{number:02X}"),
                0x100..=0xFFFF => write!(output, "\\u{number:04X}"),
                _ => write!(output, "\\U{number:08X}"),
            };
            return;
        }
    };
    output.push_str(short);
}

pub(super) fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_printable(character: char) -> bool {
    matches!(character,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

const INDENT: usize = 4;

/// In bytes: a longer key is written in the explicit form.
const LONGEST_SIMPLE_KEY: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a value, and what follows `k:` and a space; executed with talosctl 1.14.1.
    const EXECUTED: &str = include_str!("../../tests/data/strings.txt");

    #[test]
    fn strings_are_written_as_talosctl_writes_them() {
        let mut count = 0;
        for line in EXECUTED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (input, expected) = line.split_once(" => ").expect("a row");
            let (text, expected) = (unescape(input), unescape(expected));
            let mut output = String::new();
            emit(
                &Tree::Map(vec![("k".into(), Tree::Text(text.as_str().into()))]),
                Dialect::V1_14,
                &mut output,
            );
            assert_eq!(output, format!("k: {expected}\n"), "{input}");
            count += 1;
        }
        assert!(count > 150, "{count}");
    }

    /// Reads the escapes `\n`, `\t`, `\r`, `\\`, `\uXXXX` and `\UXXXXXXXX` of the table.
    fn unescape(text: &str) -> String {
        let mut result = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            result.push_str(&rest[..at]);
            let (character, length) = match rest.as_bytes()[at + 1] {
                b'n' => ('\n', 2),
                b't' => ('\t', 2),
                b'r' => ('\r', 2),
                b'\\' => ('\\', 2),
                b's' => (' ', 2),
                b'u' => (hexadecimal(&rest[at + 2..at + 6]), 6),
                _ => (hexadecimal(&rest[at + 2..at + 10]), 10),
            };
            result.push(character);
            rest = &rest[at + length..];
        }
        result + rest
    }

    fn hexadecimal(text: &str) -> char {
        char::from_u32(u32::from_str_radix(text, 16).expect("a number")).expect("a character")
    }
}
