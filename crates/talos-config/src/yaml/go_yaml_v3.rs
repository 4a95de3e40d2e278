//! Documents written again: another indentation, with or without comments, and the style of every scalar
//! kept.
//!
//! This is the hand of a third library, the one that talhelper uses. It differs from the encoder of Talos
//! ([`emit`](super::emit())) in what it does to scalars that it chooses the style of, and in that a literal
//! loses the first line break that it begins with.

use super::emit::{Facts, LONGEST_SIMPLE_KEY, Tree, escape, is_base_60, is_break};
use super::node::{Comment, Content, Document, Node, Style};
use super::resolve::{CORE_TAG, Resolved, old_boolean, resolve};
use crate::Location;

/// Writes documents with `indent` spaces for each level. With `comments` those are kept, each before or
/// behind what it stands at.
pub fn rewrite(documents: &[Document], indent: usize, comments: bool) -> String {
    let mut output = String::new();
    for (index, document) in documents.iter().enumerate() {
        if index > 0 {
            output.push_str("---\n");
        }
        let kept = if comments { document.comments.as_slice() } else { &[] };
        let mut writer = Writer { output: &mut output, indent, comments: kept };
        writer.document(&document.root, index + 1 == documents.len());
    }
    output
}

impl Node {
    /// Returns a text in the style that the library chooses for it.
    pub fn of_text(text: &str) -> Self {
        let plain = resolve(text, Style::Plain) == Resolved::Text
            && old_boolean(text).is_none()
            && !is_base_60(text);
        let style = match text {
            _ if text.contains('\n') => Style::Literal,
            _ if plain => Style::Plain,
            _ => Style::Double,
        };
        Self::new(Content::Scalar { text: text.into(), style }, Location::default())
    }
}

impl From<&Tree<'_>> for Node {
    fn from(tree: &Tree<'_>) -> Self {
        let content = match tree {
            Tree::Text(text) | Tree::Argument(text) => return Self::of_text(text),
            Tree::Verbatim(text) => return Self::plain(text, Location::default()),
            Tree::List(items) => Content::Sequence(items.iter().map(Self::from).collect()),
            Tree::Map(entries) => Content::Mapping(
                entries
                    .iter()
                    .map(|(key, value)| (Self::of_text(key), Self::from(value)))
                    .collect(),
            ),
        };
        Self::new(content, Location::default())
    }
}

struct Writer<'a> {
    output: &'a mut String,
    indent: usize,
    /// Those that have not been written yet.
    comments: &'a [Comment],
}

/// The context of a scalar.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Within {
    Block,
    Key,
    Flow,
}

impl Writer<'_> {
    fn document(&mut self, root: &Node, is_last: bool) {
        match Self::block_of(root) {
            Some(_) if has_properties(root) => {
                self.properties(root);
                self.output.push('\n');
                self.block(root, 0, false);
            }
            Some(_) => self.block(root, 0, false),
            None => {
                self.heads(root.origin, 0, &mut false);
                self.inline(root, self.indent, Within::Block);
                self.end_line(root);
            }
        }
        for (index, comment) in std::mem::take(&mut self.comments).iter().enumerate() {
            // At the end of everything a comment stays where it is.
            let is_apart = index == 0 && (comment.is_apart || !is_last);
            self.output.push_str(if is_apart { "\n#" } else { "#" });
            self.output.push_str(&comment.text);
            self.output.push('\n');
        }
    }

    /// Returns the content of a node that goes on lines of its own.
    fn block_of(node: &Node) -> Option<&Content> {
        let empty = match &node.content {
            Content::Scalar { .. } => true,
            Content::Sequence(items) => items.is_empty(),
            Content::Mapping(entries) => entries.is_empty(),
        };
        (node.alias.is_none() && !node.flow && !empty).then_some(&node.content)
    }

    /// `begun`: the first entry goes on where the line stands.
    fn block(&mut self, node: &Node, column: usize, mut begun: bool) {
        match &node.content {
            Content::Sequence(items) => {
                for item in items {
                    self.heads(start(item), column, &mut begun);
                    self.begin(column, &mut begun);
                    self.output.push('-');
                    self.behind(item, column + 2, true);
                }
            }
            Content::Mapping(entries) => {
                let below = self.below(column);
                for (key, value) in entries {
                    self.heads(start(key), column, &mut begun);
                    self.begin(column, &mut begun);
                    if is_simple(key) {
                        self.inline(key, below, Within::Key);
                        self.output.push(':');
                        self.behind(value, below, false);
                    } else {
                        self.output.push('?');
                        self.behind(key, below, true);
                        self.pad(column);
                        self.output.push(':');
                        self.behind(value, below, true);
                    }
                }
            }
            Content::Scalar { .. } => {}
        }
    }

    /// Writes what stands behind a colon or a dash, to the end of the line; `same_line`: a collection may
    /// begin there too.
    fn behind(&mut self, node: &Node, column: usize, same_line: bool) {
        let is_block = Self::block_of(node).is_some();
        if node.alias.is_none() && has_properties(node) {
            self.output.push(' ');
            self.properties(node);
        }
        if is_block {
            let begun = same_line && !has_properties(node);
            if begun {
                // A collection behind a dash begins two columns on, whatever the indentation.
                let here = self.output.len() - self.output.rfind('\n').map_or(0, |at| at + 1);
                self.pad(column.saturating_sub(here));
            } else {
                self.line_comment(node.origin.line.saturating_sub(1));
                self.output.push('\n');
            }
            self.block(node, column, begun);
            return;
        }
        let is_nothing = node.alias.is_none() && matches!(node.scalar(), Some(("", Style::Plain)));
        if !is_nothing {
            self.output.push(' ');
            self.content(node, column, Within::Block);
        }
        self.end_line(node);
    }

    fn inline(&mut self, node: &Node, column: usize, within: Within) {
        if node.alias.is_none() && has_properties(node) {
            self.properties(node);
            self.output.push(' ');
        }
        self.content(node, column, within);
    }

    fn content(&mut self, node: &Node, column: usize, within: Within) {
        if let (Some(_), Some(name)) = (node.alias, node.anchor()) {
            self.output.push('*');
            self.output.push_str(name);
            if within == Within::Key {
                self.output.push(' ');
            }
            return;
        }
        match &node.content {
            Content::Scalar { text, style } => self.scalar(text, *style, column, within),
            Content::Sequence(items) => {
                self.output.push('[');
                for (index, item) in items.iter().enumerate() {
                    self.output.push_str(if index > 0 { ", " } else { "" });
                    self.inline(item, column, Within::Flow);
                }
                self.output.push(']');
            }
            Content::Mapping(entries) => {
                self.output.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    self.output.push_str(if index > 0 { ", " } else { "" });
                    if !is_simple(key) {
                        self.output.push_str("? ");
                    }
                    self.inline(key, column, Within::Flow);
                    self.output.push_str(": ");
                    self.inline(value, column, Within::Flow);
                }
                self.output.push('}');
            }
        }
    }

    fn properties(&mut self, node: &Node) {
        let mut words = Vec::new();
        words.extend(node.anchor().map(|name| format!("&{name}")));
        words.extend(node.tag().map(|tag| match tag.strip_prefix(CORE_TAG) {
            Some(core) => format!("!!{core}"),
            None if tag.starts_with('!') => tag.to_string(),
            None => format!("!<{tag}>"),
        }));
        self.output.push_str(&words.join(" "));
    }

    fn scalar(&mut self, text: &str, style: Style, column: usize, within: Within) {
        match style_of(text, style, within) {
            // The library knows no other way to say that this is not a merge.
            Style::Plain if text == "<<" => self.output.push_str("!!merge <<"),
            Style::Plain => self.output.push_str(text),
            Style::Single => self.single(text, column),
            Style::Double => {
                // A byte order mark at the beginning makes the library distrust every character behind it.
                let distrusted = text.starts_with('\u{feff}');
                self.output.push('"');
                for character in text.chars() {
                    escape(character, distrusted, self.output);
                }
                self.output.push('"');
            }
            Style::Literal => self.lines('|', text, column, false),
            Style::Folded => self.lines('>', text, column, true),
        }
    }

    fn single(&mut self, text: &str, column: usize) {
        self.output.push('\'');
        let mut breaks = false;
        for character in text.chars() {
            if is_break(character) {
                if !breaks && character == '\n' {
                    self.output.push('\n');
                }
                self.output.push(character);
                breaks = true;
                continue;
            }
            if breaks {
                self.pad(column);
            }
            breaks = false;
            if character == '\'' {
                self.output.push('\'');
            }
            self.output.push(character);
        }
        self.output.push('\'');
    }

    fn lines(&mut self, sign: char, text: &str, column: usize, folded: bool) {
        self.output.push(sign);
        if text.starts_with([' ', '\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
            self.output.push_str(&self.indent.to_string());
        }
        if !text.ends_with(is_break) {
            self.output.push('-');
        } else if text.chars().nth_back(1).is_none_or(is_break) {
            self.output.push('+');
        }
        // The break that ends the header is the first one that is written, be it one of the text.
        let mut at_header = true;
        let mut after_break = true;
        let mut after_space = true;
        // The library looks at the beginning of the text, not at what follows the break.
        let begins_blank = text.trim_start_matches(is_break).starts_with([' ', '\t']);
        for character in text.chars() {
            if is_break(character) {
                if folded && !after_break && !after_space && character == '\n' && !begins_blank {
                    self.output.push('\n');
                }
                self.output.push(character);
                (at_header, after_break) = (false, true);
                continue;
            }
            if after_break {
                if at_header {
                    self.output.push('\n');
                }
                self.pad(column);
                after_space = character == ' ' || character == '\t';
            }
            self.output.push(character);
            (at_header, after_break) = (false, false);
        }
    }

    /// Writes the comments that stand before a place, each on its line.
    fn heads(&mut self, place: Location, column: usize, begun: &mut bool) {
        // Behind a dash is no place for them.
        while let Some((comment, rest)) = self.comments.split_first()
            && comment.origin < place
            && !*begun
        {
            self.pad(column);
            self.output.push('#');
            self.output.push_str(&comment.text);
            self.output.push('\n');
            self.comments = rest;
        }
    }

    /// Writes the comment behind something on its line.
    fn line_comment(&mut self, line: u32) {
        if let Some((comment, rest)) = self.comments.split_first()
            && !comment.own_line
            && comment.origin.line == line
        {
            self.output.push_str(" #");
            self.output.push_str(&comment.text);
            self.comments = rest;
        }
    }

    fn end_line(&mut self, node: &Node) {
        self.line_comment(start(node).line);
        if !self.output.ends_with('\n') {
            self.output.push('\n');
        }
    }

    fn begin(&mut self, column: usize, begun: &mut bool) {
        if !std::mem::take(begun) {
            self.pad(column);
        }
    }

    fn pad(&mut self, columns: usize) {
        self.output.extend(std::iter::repeat_n(' ', columns));
    }

    fn below(&self, column: usize) -> usize {
        (column / self.indent + 1) * self.indent
    }
}

/// Returns the style that a scalar gets, given the one that it had.
fn style_of(text: &str, style: Style, within: Within) -> Style {
    let facts = Facts::of(text);
    let several = text.contains(is_break);
    let wanted = match style {
        Style::Plain if text.contains('\n') => Style::Literal,
        style => style,
    };
    let wanted = if within == Within::Key && several { Style::Double } else { wanted };
    match wanted {
        Style::Literal | Style::Folded if facts.no_literal || within != Within::Block => {
            Style::Double
        }
        Style::Plain
            if !facts.no_plain
                && !facts.no_single
                && (within == Within::Block || !text.is_empty())
                && (within != Within::Flow || !has_flow_indicator(text)) =>
        {
            Style::Plain
        }
        Style::Plain | Style::Single if facts.no_single => Style::Double,
        Style::Plain => Style::Single,
        style => style,
    }
}

/// Returns whether a text needs quotes within brackets.
fn has_flow_indicator(text: &str) -> bool {
    text.contains([',', '?', '[', ']', '{', '}', ':'])
}

/// Returns whether a key fits on one line with its value.
fn is_simple(key: &Node) -> bool {
    let name = key.anchor().map_or(0, str::len);
    if key.alias.is_some() {
        return name <= LONGEST_SIMPLE_KEY;
    }
    let length = match &key.content {
        Content::Scalar { text, .. } if text.contains(is_break) => return false,
        Content::Scalar { text, .. } => text.len(),
        Content::Sequence(items) if items.is_empty() => 0,
        Content::Mapping(entries) if entries.is_empty() => 0,
        Content::Sequence(_) | Content::Mapping(_) => return false,
    };
    name + length <= LONGEST_SIMPLE_KEY
}

fn has_properties(node: &Node) -> bool {
    node.properties.is_some()
}

/// Returns the location at which a node is read, which for an alias is not where it was written.
fn start(node: &Node) -> Location {
    node.alias.unwrap_or(node.origin)
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, parse};
    use super::rewrite;
    use crate::SourceId;

    fn again(text: &str, indent: usize, comments: bool) -> String {
        let documents = parse(text, SourceId::default(), Limits::default());
        rewrite(&documents.unwrap_or_default(), indent, comments)
    }

    #[test]
    fn styles_and_anchors_stay_and_comments_go() {
        let text = "# head\na: &x {b: 'c', d: [1, \"2\"]} # line\nlist:\n- <<: *x\n  e: >-\n    f\n    g\n- - h\n\
                    empty:\n---\nlast: |\n    i\n";
        let expected = "a: &x {b: 'c', d: [1, \"2\"]}\nlist:\n  - !!merge <<: *x\n    e: >-\n      f g\n  - - h\n\
                        empty:\n---\nlast: |\n  i\n";
        assert_eq!(again(text, 2, false), expected);
    }

    #[test]
    fn comments_stay_where_they_are() {
        let text = "# head\na: b # line\n\n# before\nc:    \"d\"\n# foot\n";
        let expected = "# head\na: b # line\n# before\nc: \"d\"\n# foot\n";
        assert_eq!(again(text, 2, true), expected);
        // What talhelper does at the end of documents.
        for (text, expected) in [
            ("a: b\n# foot\n# two", "a: b\n# foot\n# two\n"),
            ("a: b\n\n# foot\n", "a: b\n\n# foot\n"),
            ("a: b\r\n \r\n# foot\r\n", "a: b\n\n# foot\n"),
            ("a: b\n# foot\n---\nc: d\n# foot\n", "a: b\n\n# foot\n---\nc: d\n# foot\n"),
        ] {
            assert_eq!(again(text, 2, true), expected);
        }
    }

    #[test]
    fn a_literal_loses_the_break_that_it_begins_with() {
        assert_eq!(
            again("- a: \"\\n b\\nc\\n\"\n- |2\n   d\n", 4, false),
            "- a: \"\\n b\\nc\\n\"\n- |4\n   d\n"
        );
        assert_eq!(again("a: |2\n\n  b\n", 2, false), "a: |2\n  b\n");
    }
}
