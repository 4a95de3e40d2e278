//! From text to nodes.
//!
//! A hand-written descent by indentation. In block context a scalar, alias or flow collection is first
//! read as such; when a `:` then follows on the same line it was the key of a mapping, whose column is
//! where the key began. That is the only look-ahead there is.

mod flow;
mod properties;

use std::collections::BTreeMap;

use properties::{Extent, Properties};

use super::SyntaxError;
use super::cursor::Cursor;
use super::node::{Comment, Content, Document, Node, Style};
use super::scalar::{self, ScalarContext};
use crate::{Location, SourceId};

/// Bounds that keep hostile text from using up memory or stack.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of text.
    pub bytes: usize,
    /// Collections within collections.
    pub depth: usize,
    /// Nodes, aliases written out.
    pub nodes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Machine configuration must fit the 4 MiB of a gRPC message; this leaves room for patches.
            bytes: 16 << 20,
            // Ten times what anybody writes by hand, and safe on a 2 MiB stack.
            depth: 200,
            // About what 16 MiB of text can hold without aliases in practice.
            nodes: 1 << 20,
        }
    }
}

/// Reads a stream of documents. Empty documents are kept, as plain empty scalars.
pub fn parse(text: &str, source: SourceId, limits: Limits) -> Result<Vec<Document>, SyntaxError> {
    let text_start = text.strip_prefix('\u{feff}').unwrap_or(text);
    let cursor = Cursor::new(text_start, source);
    if text.len() > limits.bytes {
        return Err(cursor.error(&format!("more than {} bytes", limits.bytes)));
    }
    only_text(&cursor)?;
    let mut parser = Parser {
        cursor,
        limits,
        depth: 0,
        nodes: 0,
        repeated: 0,
        anchors: BTreeMap::new(),
        tags: BTreeMap::new(),
        comments: Vec::new(),
    };
    parser.stream()
}

/// Refuses characters that YAML does not allow to stand in a text.
fn only_text(cursor: &Cursor<'_>) -> Result<(), SyntaxError> {
    let refused = |c: char| {
        !matches!(c,
            '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}'
            | '\u{10000}'..='\u{10ffff}')
    };
    let Some(at) = cursor.rest().find(refused) else { return Ok(()) };
    let mut cursor = cursor.clone();
    while cursor.position() < at {
        if cursor.line_break().is_some() {
            cursor.step_line();
        } else {
            cursor.step();
        }
    }
    Err(cursor.error("control characters are not allowed"))
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    limits: Limits,
    depth: usize,
    nodes: usize,
    /// Bytes of text that aliases have repeated.
    repeated: usize,
    /// What `*name` stands for, with its extent; `None` while it is still being read.
    anchors: BTreeMap<&'a str, Option<(Node, Extent)>>,
    /// Handles that `%TAG` declared in this document.
    tags: BTreeMap<&'a str, &'a str>,
    comments: Vec<Comment>,
}

/// What may begin here in block context.
#[derive(Clone, Copy, PartialEq)]
enum Allowed {
    /// A new line, or behind `- `: anything, also keys and lists.
    Anything,
    /// Behind `key:` on the same line: nothing that would need a line of its own.
    Inline,
}

impl<'a> Parser<'a> {
    fn stream(&mut self) -> Result<Vec<Document>, SyntaxError> {
        let mut documents = Vec::new();
        loop {
            self.skip(true)?;
            while self.cursor.at_marker("...") {
                self.marker()?;
                self.skip(true)?;
            }
            let directives = self.directives()?;
            let explicit = self.cursor.at_marker("---");
            if directives && !explicit {
                return Err(self.cursor.error("did not find expected <document start>"));
            }
            if self.cursor.at_end() {
                return Ok(documents);
            }
            let origin = self.cursor.origin();
            if explicit {
                self.cursor.step_ascii(3);
            } else if !documents.is_empty() {
                return Err(self.cursor.error("did not find expected <document start>"));
            }
            documents.push(self.document(origin, explicit)?);
        }
    }

    fn document(&mut self, origin: Location, explicit: bool) -> Result<Document, SyntaxError> {
        self.anchors.clear();
        let allowed = if explicit { Allowed::Inline } else { Allowed::Anything };
        let root = self.block_node(-1, false, allowed)?;
        self.skip(false)?;
        if self.cursor.at_marker("...") {
            self.marker()?;
        } else if !self.cursor.at_end() && !self.cursor.at_marker("---") {
            return Err(self.unexpected("did not find expected <document start>"));
        }
        self.tags.clear();
        Ok(Document { origin, root, comments: std::mem::take(&mut self.comments) })
    }

    /// Steps over `...`, behind which only a comment may stand.
    fn marker(&mut self) -> Result<(), SyntaxError> {
        let line = self.cursor.line();
        self.cursor.step_ascii(3);
        self.skip(false)?;
        if !self.cursor.at_end() && self.cursor.line() == line {
            return Err(self.cursor.error("did not find expected <document start>"));
        }
        Ok(())
    }

    /// Reads `%YAML` and `%TAG` lines; says whether there were any.
    fn directives(&mut self) -> Result<bool, SyntaxError> {
        let mut any = false;
        while self.cursor.column() == 0 && self.cursor.byte(0) == b'%' {
            any = true;
            let at = self.cursor.clone();
            let begun = self.cursor.position();
            while !self.cursor.at_break_or_end() {
                self.cursor.step();
            }
            let line = self.cursor.since(begun);
            let line = line.split_once(" #").map_or(line, |(line, _)| line);
            let words: Vec<&'a str> =
                line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
            match words.as_slice() {
                ["%YAML", "1.1"] => {}
                ["%YAML", _] => return Err(at.error("found incompatible YAML document")),
                ["%TAG", handle, prefix] if handle.starts_with('!') && handle.ends_with('!') => {
                    if self.tags.insert(handle, prefix).is_some() {
                        return Err(at.error("found duplicate %TAG directive"));
                    }
                }
                _ => return Err(at.error("found unknown directive name")),
            }
            self.skip(true)?;
        }
        Ok(any)
    }

    /// Reads a node below a block at `parent`, or gives an empty one when there is none.
    ///
    /// `in_mapping`: it is the value of a key, so a list may stand in the key's own column.
    fn block_node(
        &mut self,
        parent: i64,
        in_mapping: bool,
        allowed: Allowed,
    ) -> Result<Node, SyntaxError> {
        let at_value = self.cursor.origin();
        let line = self.cursor.line();
        self.skip(allowed == Allowed::Anything)?;
        let mut allowed = if self.cursor.line() == line { allowed } else { Allowed::Anything };
        if !self.belongs(parent, in_mapping) {
            return Ok(Node::plain("", at_value));
        }
        self.count(1)?;
        let column = self.cursor.column();
        let origin = self.cursor.origin();
        let properties_line = self.cursor.line();
        let properties = self.properties()?;
        if properties.is_some() {
            self.skip(false)?;
            if self.cursor.line() != properties_line {
                allowed = Allowed::Anything;
                if !self.belongs(parent, in_mapping) {
                    return self.finish(Node::plain("", origin), properties);
                }
            }
        }
        let own_line = self.cursor.line() != properties_line;
        if properties.is_none() || own_line {
            let column = i64::from(self.cursor.column());
            match self.cursor.byte(0) {
                b'-' if self.cursor.ends_word(1) => {
                    if allowed == Allowed::Inline {
                        return Err(
                            self.error("block sequence entries are not allowed in this context")
                        );
                    }
                    self.announce(properties.as_ref());
                    let node = self.block_sequence(column)?;
                    return self.finish(node, properties);
                }
                b'?' if self.cursor.ends_word(1) => {
                    if allowed == Allowed::Inline {
                        return Err(self.error("mapping keys are not allowed in this context"));
                    }
                    self.announce(properties.as_ref());
                    let node = self.block_mapping(column, None)?;
                    return self.finish(node, properties);
                }
                b':' if self.cursor.ends_word(1) => {
                    if allowed == Allowed::Inline {
                        return Err(self.error("mapping values are not allowed in this context"));
                    }
                    self.announce(properties.as_ref());
                    let key = Node::plain("", self.cursor.origin());
                    let node = self.block_mapping(column, Some(key))?;
                    return self.finish(node, properties);
                }
                _ => {}
            }
        }
        match self.cursor.byte(0) {
            style @ (b'|' | b'>') => {
                let folded = style == b'>';
                let header = scalar::header(&mut self.cursor)?;
                self.comment();
                let text = scalar::block(&mut self.cursor, header, folded, parent)?;
                let style = if folded { Style::Folded } else { Style::Literal };
                let content = Content::Scalar { text: text.into(), style };
                return self.finish(
                    Node { content, origin, flow: false, alias: None, properties: None },
                    properties,
                );
            }
            b'%' | b'@' | b'`' => return Err(self.no_token()),
            _ => {}
        }
        // Properties on the line of the node belong to it even when it turns out to be a key; on a
        // line before it they belong to the mapping.
        let mapping_column = if own_line { self.cursor.column() } else { column };
        let (outer, inner) = if own_line { (properties, None) } else { (None, properties) };
        self.announce(outer.as_ref());
        let key_line = self.cursor.line();
        // A key ends on its line, so only what is no key needs to know how far it may go on.
        let node = self.inline_node(parent, inner, origin)?;
        if self.is_key(key_line) {
            if allowed == Allowed::Inline {
                return Err(self.error("mapping values are not allowed in this context"));
            }
            let mapping = self.block_mapping(i64::from(mapping_column), Some(node))?;
            return self.finish(mapping, outer);
        }
        self.finish(node, outer)
    }

    /// Whether what stands here is inside a block that begins right of `parent`.
    fn belongs(&self, parent: i64, in_mapping: bool) -> bool {
        let column = i64::from(self.cursor.column());
        let list_of_key = in_mapping
            && column == parent
            && self.cursor.byte(0) == b'-'
            && self.cursor.ends_word(1);
        !self.cursor.at_end() && !self.cursor.at_any_marker() && (column > parent || list_of_key)
    }

    fn block_sequence(&mut self, column: i64) -> Result<Node, SyntaxError> {
        self.enter()?;
        let origin = self.cursor.origin();
        let mut items = Vec::new();
        while i64::from(self.cursor.column()) == column
            && !self.cursor.at_any_marker()
            && self.cursor.byte(0) == b'-'
            && self.cursor.ends_word(1)
        {
            self.cursor.step_ascii(1);
            items.push(self.block_node(column, false, Allowed::Anything)?);
            self.skip(true)?;
        }
        if i64::from(self.cursor.column()) > column && !self.cursor.at_end() {
            return Err(self.unexpected("did not find expected '-' indicator"));
        }
        self.depth -= 1;
        Ok(Node {
            content: Content::Sequence(items),
            origin,
            flow: false,
            alias: None,
            properties: None,
        })
    }

    /// Reads a mapping whose first key has been read already, up to its `:`.
    fn block_mapping(&mut self, column: i64, first: Option<Node>) -> Result<Node, SyntaxError> {
        self.enter()?;
        let origin = first.as_ref().map_or_else(|| self.cursor.origin(), |key| key.origin);
        let mut entries = Vec::new();
        let mut first = first;
        loop {
            let key = match first.take() {
                Some(key) => key,
                None => match self.block_key(column)? {
                    Some(key) => key,
                    None => break,
                },
            };
            let value = if self.at_value() {
                let complex = i64::from(self.cursor.column()) == column;
                self.cursor.step_ascii(1);
                let allowed = if complex { Allowed::Anything } else { Allowed::Inline };
                self.block_node(column, true, allowed)?
            } else {
                Node::plain("", self.cursor.origin())
            };
            entries.push((key, value));
            self.skip(true)?;
        }
        self.depth -= 1;
        Ok(Node {
            content: Content::Mapping(entries),
            origin,
            flow: false,
            alias: None,
            properties: None,
        })
    }

    /// Reads the next key of a mapping in `column`; `None` where the mapping ends.
    fn block_key(&mut self, column: i64) -> Result<Option<Node>, SyntaxError> {
        let here = i64::from(self.cursor.column());
        if self.cursor.at_end() || self.cursor.at_any_marker() || here < column {
            return Ok(None);
        }
        if here > column {
            return Err(self.unexpected("did not find expected key"));
        }
        match self.cursor.byte(0) {
            b'-' if self.cursor.ends_word(1) => Err(self.unexpected("did not find expected key")),
            b'?' if self.cursor.ends_word(1) => {
                self.cursor.step_ascii(1);
                let key = self.block_node(column, true, Allowed::Anything)?;
                self.skip(true)?;
                Ok(Some(key))
            }
            b':' if self.cursor.ends_word(1) => Ok(Some(Node::plain("", self.cursor.origin()))),
            _ => {
                self.count(1)?;
                let origin = self.cursor.origin();
                let line = self.cursor.line();
                let properties = self.properties()?;
                self.skip(false)?;
                let key = self.inline_node(column, properties, origin)?;
                if !self.is_key(line) {
                    let problem = "could not find expected ':'".to_owned();
                    return Err(SyntaxError { problem, origin });
                }
                Ok(Some(key))
            }
        }
    }

    /// Whether the `:` that makes a key of what was just read stands here.
    fn is_key(&mut self, line: u32) -> bool {
        if self.cursor.line() != line {
            return false;
        }
        while self.cursor.at_blank() {
            self.cursor.step();
        }
        self.at_value()
    }

    fn at_value(&self) -> bool {
        self.cursor.byte(0) == b':' && self.cursor.ends_word(1)
    }

    /// Reads a scalar, an alias or a flow collection.
    fn inline_node(
        &mut self,
        indent: i64,
        properties: Option<Properties<'a>>,
        origin: Location,
    ) -> Result<Node, SyntaxError> {
        let around = ScalarContext { indent, in_flow: false };
        self.inline(around, properties, origin)
    }

    fn inline(
        &mut self,
        around: ScalarContext,
        properties: Option<Properties<'a>>,
        origin: Location,
    ) -> Result<Node, SyntaxError> {
        let scalar = |text: String, style| Content::Scalar { text: text.into(), style };
        let flow = matches!(self.cursor.byte(0), b'[' | b'{');
        let content = match self.cursor.byte(0) {
            b'*' => {
                if properties.is_some() {
                    return Err(self.unexpected("did not find expected node content"));
                }
                return self.alias();
            }
            b'[' | b'{' => {
                self.announce(properties.as_ref());
                self.flow_collection()?
            }
            b'\'' => scalar(scalar::single(&mut self.cursor)?, Style::Single),
            b'"' => scalar(scalar::double(&mut self.cursor)?, Style::Double),
            _ if self.starts_plain() => {
                scalar(scalar::plain(&mut self.cursor, around)?, Style::Plain)
            }
            _ if properties.is_some() => scalar(String::new(), Style::Plain),
            _ => return Err(self.no_token()),
        };
        self.finish(Node { content, origin, flow, alias: None, properties: None }, properties)
    }

    fn starts_plain(&self) -> bool {
        match self.cursor.byte(0) {
            0 | b' ' | b'\t' | b'\r' | b'\n' => false,
            b'-' => !matches!(self.cursor.byte(1), b' ' | b'\t'),
            b'?' | b':' => !self.cursor.ends_word(1),
            b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\''
            | b'"' | b'%' | b'@' | b'`' => false,
            _ => self.cursor.line_break().is_none(),
        }
    }

    fn enter(&mut self) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(self.error(&format!("exceeded max depth of {}", self.limits.depth)));
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize) -> Result<(), SyntaxError> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.nodes {
            return Err(self.error("document contains excessive aliasing"));
        }
        Ok(())
    }

    /// Steps over blanks, comments and line breaks. A tab may not indent what begins a line.
    fn skip(&mut self, mut line_start: bool) -> Result<(), SyntaxError> {
        loop {
            while self.cursor.byte(0) == b' ' || (!line_start && self.cursor.byte(0) == b'\t') {
                self.cursor.step_ascii(1);
            }
            self.comment();
            if self.cursor.line_break().is_none() {
                break;
            }
            self.cursor.step_line();
            line_start = true;
        }
        if self.cursor.byte(0) == b'\t' {
            return Err(self.no_token());
        }
        Ok(())
    }

    fn comment(&mut self) {
        if self.cursor.byte(0) != b'#' {
            return;
        }
        let origin = self.cursor.origin();
        self.cursor.step_ascii(1);
        let begun = self.cursor.position();
        self.cursor.step_to_break();
        let text = self.cursor.since(begun).into();
        let own_line = self.cursor.is_first_on_line(begun - 1);
        let is_apart = own_line && self.cursor.is_below_a_blank_line(begun - 1);
        self.comments.push(Comment { origin, text, own_line, is_apart });
    }

    fn error(&self, problem: &str) -> SyntaxError {
        self.cursor.error(problem)
    }

    /// Says that no token begins here when that is so, and otherwise what was expected instead.
    fn unexpected(&self, problem: &str) -> SyntaxError {
        if matches!(self.cursor.byte(0), b'%' | b'@' | b'`' | b'\t') {
            return self.no_token();
        }
        self.error(problem)
    }

    fn no_token(&self) -> SyntaxError {
        self.error("found character that cannot start any token")
    }
}
