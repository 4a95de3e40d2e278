//! A place in the text that moves forward and knows its line and column.

use super::SyntaxError;
use crate::{Location, SourceId};

#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Characters since the line began.
    column: u32,
    source: SourceId,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, source: SourceId) -> Self {
        Self { text, at: 0, line: 1, column: 0, source }
    }

    /// The byte at an offset from here; NUL beyond the end, which no accepted text contains.
    pub(super) fn byte(&self, offset: usize) -> u8 {
        self.text.as_bytes().get(self.at + offset).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn line(&self) -> u32 {
        self.line
    }

    pub(super) fn column(&self) -> u32 {
        self.column
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn since(&self, position: usize) -> &'a str {
        &self.text[position..self.at]
    }

    pub(super) fn origin(&self) -> Location {
        Location { source: self.source, line: self.line, column: self.column + 1 }
    }

    pub(super) fn error(&self, problem: &str) -> SyntaxError {
        SyntaxError { problem: problem.to_owned(), origin: self.origin() }
    }

    /// Steps over one character that is no line break.
    pub(super) fn step(&mut self) -> Option<char> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        self.column += 1;
        Some(next)
    }

    /// Steps over ASCII characters that are no line breaks.
    pub(super) fn step_ascii(&mut self, count: u32) {
        self.at += count as usize;
        self.column += count;
    }

    /// Steps over ASCII bytes as long as they are wanted, and gives them. None of them may be a line break.
    pub(super) fn step_run(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().take_while(|&byte| byte.is_ascii() && wanted(byte)).count();
        self.at += length;
        self.column += u32::try_from(length).unwrap_or(u32::MAX);
        &rest[..length]
    }

    /// Steps over the rest of the line, up to its line break.
    pub(super) fn step_to_break(&mut self) {
        loop {
            self.step_run(|byte| byte != b'\n' && byte != b'\r');
            if self.at_break_or_end() {
                return;
            }
            self.step();
        }
    }

    /// The line break that stands here: its length, and the text that it means.
    pub(super) fn line_break(&self) -> Option<(usize, &'static str)> {
        self.line_break_at(0)
    }

    fn line_break_at(&self, offset: usize) -> Option<(usize, &'static str)> {
        let byte = |further: usize| self.byte(offset + further);
        match byte(0) {
            b'\n' => Some((1, "\n")),
            b'\r' if byte(1) == b'\n' => Some((2, "\n")),
            b'\r' => Some((1, "\n")),
            0xC2 if byte(1) == 0x85 => Some((2, "\n")),
            0xE2 if byte(1) == 0x80 && byte(2) == 0xA8 => Some((3, "\u{2028}")),
            0xE2 if byte(1) == 0x80 && byte(2) == 0xA9 => Some((3, "\u{2029}")),
            _ => None,
        }
    }

    /// Steps over the line break that stands here and gives the text that it means.
    pub(super) fn step_line(&mut self) -> &'static str {
        let Some((length, meaning)) = self.line_break() else { return "" };
        self.at += length;
        self.line += 1;
        self.column = 0;
        meaning
    }

    pub(super) fn at_blank(&self) -> bool {
        matches!(self.byte(0), b' ' | b'\t')
    }

    pub(super) fn at_break_or_end(&self) -> bool {
        self.at_end() || self.line_break().is_some()
    }

    /// Whether a blank, a line break or the end stands at an offset of ASCII characters from here.
    pub(super) fn ends_word(&self, offset: usize) -> bool {
        match self.byte(offset) {
            b' ' | b'\t' | b'\n' | b'\r' => true,
            0 => self.at + offset >= self.text.len(),
            byte if byte.is_ascii() => false,
            _ => self.line_break_at(offset).is_some(),
        }
    }

    /// `---` or `...` at the beginning of a line.
    pub(super) fn at_marker(&self, marker: &str) -> bool {
        self.column == 0 && self.rest().starts_with(marker) && self.ends_word(marker.len())
    }

    /// Whether only blanks stand before a position on its line.
    pub(super) fn is_first_on_line(&self, position: usize) -> bool {
        let before = self.text[..position].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'])
    }

    /// Whether only blanks stand on the line above the one of a position.
    pub(super) fn is_below_a_blank_line(&self, position: usize) -> bool {
        let before = self.text[..position].trim_end_matches([' ', '\t']);
        let above = before.strip_suffix("\r\n").or_else(|| {
            let mut characters = before.chars();
            characters.next_back().map(|_| characters.as_str())
        });
        above.is_some_and(|above| self.is_first_on_line(above.len()))
    }

    pub(super) fn at_any_marker(&self) -> bool {
        self.at_marker("---") || self.at_marker("...")
    }
}
