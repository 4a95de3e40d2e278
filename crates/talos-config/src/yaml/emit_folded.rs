//! The style of the older encoder, seen where operations were the last patch: two spaces, lists in the
//! column of their key, long lines folded.

use std::borrow::Cow;

use super::Style;
use super::emit::{Facts, Tree, escape, is_base_60, is_break};
use super::resolve::{Resolved, old_boolean, resolve};

/// Writes one document, ended by a line break.
pub(crate) fn emit_folded(tree: &Tree<'_>, output: &mut String) {
    let mut writer = Writer { output, column: 0 };
    match tree {
        Tree::Map(entries) if !entries.is_empty() => writer.map(entries, 0, true),
        Tree::List(items) if !items.is_empty() => writer.list(items, 0, true),
        scalar => {
            writer.scalar(scalar, INDENT, true);
            writer.end_line();
        }
    }
}

struct Writer<'a> {
    output: &'a mut String,
    /// Characters since the line began.
    column: usize,
}

impl Writer<'_> {
    fn map(&mut self, entries: &[(Cow<'_, str>, Tree<'_>)], column: usize, inline: bool) {
        let inner = column + INDENT;
        for (index, (key, value)) in entries.iter().enumerate() {
            if index > 0 || !inline {
                self.pad(column);
            }
            let explicit = key.len() > LONGEST_SIMPLE_KEY || key.contains(is_break);
            if explicit {
                self.put("? ");
                self.text(key, inner, true);
                self.end_line();
                self.pad(column);
                self.put(":");
                match value {
                    Tree::Map(entries) if !entries.is_empty() => {
                        self.put(" ");
                        self.map(entries, inner, true);
                    }
                    Tree::List(items) if !items.is_empty() => {
                        self.put(" ");
                        self.list(items, inner, true);
                    }
                    scalar => self.scalar_line(scalar, inner),
                }
                continue;
            }
            self.text(key, inner, false);
            self.put(":");
            match value {
                Tree::Map(entries) if !entries.is_empty() => {
                    self.new_line();
                    self.map(entries, inner, false);
                }
                Tree::List(items) if !items.is_empty() => {
                    self.new_line();
                    self.list(items, column, false);
                }
                scalar => self.scalar_line(scalar, inner),
            }
        }
    }

    fn list(&mut self, items: &[Tree<'_>], column: usize, inline: bool) {
        let inner = column + INDENT;
        for (index, item) in items.iter().enumerate() {
            if index > 0 || !inline {
                self.pad(column);
            }
            self.put("-");
            match item {
                Tree::Map(entries) if !entries.is_empty() => {
                    self.put(" ");
                    self.map(entries, inner, true);
                }
                Tree::List(items) if !items.is_empty() => {
                    self.put(" ");
                    self.list(items, inner, true);
                }
                scalar => self.scalar_line(scalar, inner),
            }
        }
    }

    fn scalar_line(&mut self, scalar: &Tree<'_>, text_column: usize) {
        self.put(" ");
        self.scalar(scalar, text_column, true);
        self.end_line();
    }

    fn scalar(&mut self, scalar: &Tree<'_>, text_column: usize, fold: bool) {
        match scalar {
            Tree::Text(text) => self.text(text, text_column, fold),
            Tree::Verbatim(text) => self.put(text),
            Tree::List(_) => self.put("[]"),
            Tree::Map(_) => self.put("{}"),
        }
    }

    fn text(&mut self, text: &str, text_column: usize, fold: bool) {
        match style_of(text, fold) {
            Style::Plain => self.folded(text, text_column, fold, Writer::put_char),
            Style::Single => {
                self.put("'");
                self.folded(text, text_column, fold, |writer, c| {
                    if c == '\'' {
                        writer.put_char(c);
                    }
                    writer.put_char(c);
                });
                self.put("'");
            }
            Style::Literal | Style::Folded => self.literal(text, text_column),
            Style::Double => self.double(text, text_column, fold),
        }
    }

    /// Writes text and breaks the line at a single space once it is longer than the width.
    fn folded(
        &mut self,
        text: &str,
        text_column: usize,
        fold: bool,
        mut put: impl FnMut(&mut Self, char),
    ) {
        let mut after_space = false;
        let mut after_break = false;
        let mut characters = text.chars().peekable();
        let mut first = true;
        while let Some(character) = characters.next() {
            let next = characters.peek().copied();
            if character == ' ' {
                let inside = !first && next.is_some_and(|next| next != ' ');
                if fold && !after_space && self.column > WIDTH && inside {
                    self.new_line();
                    self.pad(text_column);
                } else {
                    self.put_char(character);
                }
                after_space = true;
            } else if is_break(character) {
                self.output.push(character);
                self.column = 0;
                after_break = true;
            } else {
                if after_break {
                    self.pad(text_column);
                }
                put(self, character);
                after_space = false;
                after_break = false;
            }
            first = false;
        }
    }

    fn double(&mut self, text: &str, text_column: usize, fold: bool) {
        self.put("\"");
        let distrusted = text.starts_with('\u{feff}');
        let mut after_space = false;
        let mut characters = text.chars().enumerate().peekable();
        while let Some((index, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if character == ' ' && !distrusted {
                if fold && !after_space && self.column > WIDTH && index > 0 && next.is_some() {
                    self.new_line();
                    self.pad(text_column);
                    if next == Some(' ') {
                        self.put("\\");
                    }
                } else {
                    self.put_char(' ');
                }
                after_space = true;
            } else {
                let before = self.output.len();
                escape(character, distrusted, self.output);
                self.column += self.output[before..].chars().count();
                after_space = false;
            }
        }
        self.put("\"");
    }

    fn literal(&mut self, text: &str, text_column: usize) {
        self.put("|");
        if text.starts_with([' ', '\n']) {
            self.put("2");
        }
        if !text.ends_with(is_break) {
            self.put("-");
        } else if text.chars().nth_back(1).is_none_or(is_break) {
            self.put("+");
        }
        self.new_line();
        let mut after_break = true;
        for character in text.chars() {
            let is_break = is_break(character);
            if after_break && !is_break {
                self.pad(text_column);
            }
            self.output.push(character);
            after_break = is_break;
        }
        self.column = 0;
    }

    fn put(&mut self, text: &str) {
        self.output.push_str(text);
        self.column += text.chars().count();
    }

    fn put_char(&mut self, character: char) {
        self.output.push(character);
        self.column += 1;
    }

    fn pad(&mut self, columns: usize) {
        self.output.extend(std::iter::repeat_n(' ', columns));
        self.column += columns;
    }

    fn new_line(&mut self) {
        self.output.push('\n');
        self.column = 0;
    }

    fn end_line(&mut self) {
        if !self.output.ends_with('\n') {
            self.output.push('\n');
        }
        self.column = 0;
    }
}

/// `block`: whether a literal may stand here; it may not in a simple key.
fn style_of(text: &str, block: bool) -> Style {
    let facts = Facts::of(text);
    let resolved = resolve(text, Style::Plain);
    let is_plain = matches!(resolved, Resolved::Text | Resolved::Merge)
        && old_boolean(text).is_none()
        && !is_base_60(text);
    if text.contains('\n') {
        return if facts.no_literal || text.contains('\t') || !block {
            Style::Double
        } else {
            Style::Literal
        };
    }
    if !is_plain || facts.no_single {
        return Style::Double;
    }
    if facts.no_plain { Style::Single } else { Style::Plain }
}

const INDENT: usize = 2;

/// Characters in a line before it is folded.
const WIDTH: usize = 80;

/// In bytes: a longer key is written in the explicit form.
const LONGEST_SIMPLE_KEY: usize = 128;
