//! From values to text, byte for byte as Talos' encoder writes it.

use std::borrow::Cow;
use std::fmt::Write;

use super::Style;
use super::resolve::{Resolved, old_boolean, resolve};

/// A tree to write, with keys in the order in which they are written.
#[derive(Clone, PartialEq)]
pub enum Tree<'a> {
    /// Text, quoted where it would be read as something else.
    Text(Cow<'a, str>),
    /// Text that its type hands to the encoder in a way of its own: quoted where today's YAML reads it as something
    /// else, but not where only older YAML did.
    Argument(Cow<'a, str>),
    /// A number, a boolean, null: written as it is.
    Verbatim(Cow<'a, str>),
    /// A list.
    List(Vec<Self>),
    /// Keys with values.
    Map(Vec<(Cow<'a, str>, Self)>),
}

/// Which release is followed where releases read, patch or write in different ways.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Dialect {
    /// talosctl 1.12: writes double quotes for old booleans, a digit in front of text that begins empty.
    V1_12,
    /// talosctl 1.13: writes double quotes for old booleans.
    V1_13,
    /// talosctl 1.14 and later.
    #[default]
    V1_14,
}

/// Writes one document, ended by a line break.
pub fn emit(tree: &Tree<'_>, dialect: Dialect, output: &mut String) {
    Writer { output, column: 0, hand: Hand::Documents(dialect) }.document(tree);
}

/// Writes one document in the style of the older encoder, seen where operations were the last patch: two
/// spaces, lists in the column of their key, long lines folded.
pub(crate) fn emit_folded(tree: &Tree<'_>, output: &mut String) {
    Writer { output, column: 0, hand: Hand::Folded }.document(tree);
}

/// Returns the shortest text that reads as the same number, as Go's `%g` has it.
pub fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // Go switches to exponents outside these bounds when it may choose.
    if (-4..6).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// What a text is.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Role {
    /// A key on one line with its value, which is never folded.
    Key,
    Value,
    Argument,
}

/// Which of the two encoders writes.
#[derive(Clone, Copy, PartialEq)]
enum Hand {
    Documents(Dialect),
    Folded,
}

impl Hand {
    /// Returns the column of a key's value that needs lines of its own.
    fn below(self, column: usize) -> usize {
        match self {
            Self::Documents(_) => (column + INDENT) / INDENT * INDENT,
            Self::Folded => column + FOLDED_INDENT,
        }
    }

    /// Returns the column of a key's list.
    fn list_below(self, column: usize) -> usize {
        match self {
            Self::Documents(_) => self.below(column),
            Self::Folded => column,
        }
    }

    /// Returns the digit in front of a literal whose indentation cannot be told from its text. It is the unit of
    /// indentation, not the real one; so Talos has it.
    fn literal_digit(self, text: &str) -> Option<char> {
        match self {
            Self::Documents(dialect) => {
                let empty_start = text.starts_with('\n') && dialect == Dialect::V1_12;
                (text.starts_with(' ') || empty_start).then_some('4')
            }
            Self::Folded => text.starts_with([' ', '\n']).then_some('2'),
        }
    }

    /// The style that the encoder chooses for a text.
    fn style_of(self, text: &str, role: Role) -> Style {
        let facts = Facts::of(text);
        let old = old_boolean(text).is_some() || is_base_60(text);
        let resolved = resolve(text, Style::Plain);
        let wanted = match self {
            Self::Documents(_) if role == Role::Argument => match resolved {
                _ if text.contains('\n') => Style::Literal,
                Resolved::Text => Style::Plain,
                _ => Style::Double,
            },
            Self::Documents(_) if text.contains('\n') => {
                if text.chars().all(char::is_whitespace) {
                    Style::Double
                } else {
                    Style::Literal
                }
            }
            Self::Documents(dialect) if old || resolved == Resolved::Merge => {
                if dialect == Dialect::V1_14 { Style::Single } else { Style::Double }
            }
            Self::Folded if text.contains('\n') => {
                if role == Role::Key || text.contains('\t') {
                    Style::Double
                } else {
                    Style::Literal
                }
            }
            Self::Folded if old => Style::Double,
            Self::Folded if resolved == Resolved::Merge => Style::Plain,
            _ if resolved != Resolved::Text => Style::Double,
            _ => Style::Plain,
        };
        match wanted {
            Style::Literal | Style::Folded if facts.no_literal => Style::Double,
            Style::Literal | Style::Folded => Style::Literal,
            Style::Plain if !facts.no_plain && !facts.no_single => Style::Plain,
            Style::Plain | Style::Single if !facts.no_single => Style::Single,
            _ => Style::Double,
        }
    }
}

struct Writer<'a> {
    output: &'a mut String,
    /// Characters since the line began.
    column: usize,
    hand: Hand,
}

impl Writer<'_> {
    fn document(&mut self, tree: &Tree<'_>) {
        match tree {
            Tree::Map(entries) if !entries.is_empty() => self.map(entries, 0, true),
            Tree::List(items) if !items.is_empty() => self.list(items, 0, true),
            scalar => {
                self.scalar(scalar, self.hand.below(0));
                self.end_line();
            }
        }
    }

    /// Writes the entries at `column`; `inline`: the first one goes on where the line stands.
    fn map(&mut self, entries: &[(Cow<'_, str>, Tree<'_>)], column: usize, inline: bool) {
        let inner = self.hand.below(column);
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 || !inline {
                self.pad(column);
            }
            let explicit = key.len() > LONGEST_SIMPLE_KEY || key.contains(is_break);
            if explicit {
                self.put("? ");
                self.text(key, inner, Role::Value);
                self.end_line();
                self.pad(column);
                self.put(":");
                self.item(value, inner, inner - column - 1);
                continue;
            }
            self.text(key, inner, Role::Key);
            self.put(":");
            match value {
                Tree::Map(entries) if !entries.is_empty() => {
                    self.end_line();
                    self.map(entries, inner, false);
                }
                Tree::List(items) if !items.is_empty() => {
                    self.end_line();
                    self.list(items, self.hand.list_below(column), false);
                }
                scalar => self.scalar_line(scalar, inner),
            }
        }
    }

    fn list(&mut self, items: &[Tree<'_>], column: usize, inline: bool) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 || !inline {
                self.pad(column);
            }
            self.put("-");
            // An item's own content stands right behind its dash.
            self.item(item, column + 2, 1);
        }
    }

    /// Writes a value that begins on the line of its dash or colon, `gap` columns behind it.
    fn item(&mut self, value: &Tree<'_>, inner: usize, gap: usize) {
        match value {
            Tree::Map(entries) if !entries.is_empty() => {
                self.pad(gap);
                self.map(entries, inner, true);
            }
            Tree::List(items) if !items.is_empty() => {
                self.pad(gap);
                self.list(items, inner, true);
            }
            scalar => self.scalar_line(scalar, inner),
        }
    }

    fn scalar_line(&mut self, scalar: &Tree<'_>, text_column: usize) {
        // Nothing at all stands behind a key without a value.
        if !matches!(scalar, Tree::Verbatim(text) if text.is_empty()) {
            self.put(" ");
        }
        self.scalar(scalar, text_column);
        self.end_line();
    }

    fn scalar(&mut self, scalar: &Tree<'_>, text_column: usize) {
        match scalar {
            Tree::Text(text) => self.text(text, text_column, Role::Value),
            Tree::Argument(text) => self.text(text, text_column, Role::Argument),
            Tree::Verbatim(text) => self.put(text),
            // Only empty ones come here.
            Tree::List(_) => self.put("[]"),
            Tree::Map(_) => self.put("{}"),
        }
    }

    fn text(&mut self, text: &str, text_column: usize, role: Role) {
        let fold = self.hand == Hand::Folded && role != Role::Key;
        match self.hand.style_of(text, role) {
            Style::Plain if !fold => self.put(text),
            Style::Plain => self.flowing(text, text_column, fold, None),
            Style::Single => {
                self.put("'");
                self.flowing(text, text_column, fold, Some('\''));
                self.put("'");
            }
            Style::Literal | Style::Folded => self.literal(text, text_column),
            Style::Double => self.double(text, text_column, fold),
        }
    }

    /// Writes text whose lines may be folded at a single space once they are longer than the width.
    fn flowing(&mut self, text: &str, text_column: usize, fold: bool, doubled: Option<char>) {
        let mut previous = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let next = characters.peek().copied();
            let between = previous.is_some_and(|previous| previous != ' ')
                && next.is_some_and(|next| next != ' ');
            if character == ' ' && fold && self.column > WIDTH && between {
                self.end_line();
                self.pad(text_column);
            } else if is_break(character) {
                self.output.push(character);
                self.column = 0;
            } else {
                if previous.is_some_and(is_break) {
                    self.pad(text_column);
                }
                if doubled == Some(character) {
                    self.put_char(character);
                }
                self.put_char(character);
            }
            previous = Some(character);
        }
    }

    fn double(&mut self, text: &str, text_column: usize, fold: bool) {
        // A byte order mark at the beginning makes the encoder distrust every character behind it.
        let distrusted = text.starts_with('\u{feff}');
        self.put("\"");
        let mut previous = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let next = characters.peek().copied();
            let inside = previous.is_some_and(|previous| previous != ' ') && next.is_some();
            if character == ' ' && fold && !distrusted && self.column > WIDTH && inside {
                self.end_line();
                self.pad(text_column);
                if next == Some(' ') {
                    self.put("\\");
                }
            } else {
                let before = self.output.len();
                escape(character, distrusted, self.output);
                self.column += self.output[before..].chars().count();
            }
            previous = Some(character);
        }
        self.put("\"");
    }

    fn literal(&mut self, text: &str, text_column: usize) {
        self.put("|");
        self.output.extend(self.hand.literal_digit(text));
        if !text.ends_with(is_break) {
            self.put("-");
        } else if text.chars().nth_back(1).is_none_or(is_break) {
            self.put("+");
        }
        self.end_line();
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

    fn put(&mut self, text: &str) {
        self.output.push_str(text);
        // Only who folds has to know the column.
        if self.hand == Hand::Folded {
            self.column += text.chars().count();
        }
    }

    fn put_char(&mut self, character: char) {
        self.output.push(character);
        self.column += 1;
    }

    fn pad(&mut self, columns: usize) {
        self.output.extend(std::iter::repeat_n(' ', columns));
        self.column += columns;
    }

    /// Ends the line, unless a literal has done so already.
    fn end_line(&mut self) {
        if !self.output.ends_with('\n') {
            self.output.push('\n');
        }
        self.column = 0;
    }
}

/// The styles that a text cannot have.
pub(super) struct Facts {
    pub(super) no_plain: bool,
    pub(super) no_single: bool,
    pub(super) no_literal: bool,
}

impl Facts {
    pub(super) fn of(text: &str) -> Self {
        // Most texts are words, and certificates are long ones.
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        if !text.is_empty() && text.bytes().all(is_word) {
            return Self { no_plain: false, no_single: false, no_literal: false };
        }
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

/// Returns whether a text reads as a number in base 60, times among them.
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

/// The unit of indentation.
const INDENT: usize = 4;
const FOLDED_INDENT: usize = 2;

/// Characters in a line before it is folded.
const WIDTH: usize = 80;

/// In bytes: a longer key is written in the explicit form.
pub(super) const LONGEST_SIMPLE_KEY: usize = 128;
