//! Brackets and braces, where line breaks and indentation mean nothing.

use super::{Content, Node, Parser, ScalarContext, SyntaxError};

impl Parser<'_> {
    /// Reads `[…]` or `{…}`, where line breaks and indentation mean nothing.
    pub(super) fn flow_collection(&mut self) -> Result<Content, SyntaxError> {
        self.enter()?;
        let in_mapping = self.cursor.byte(0) == b'{';
        let end = if in_mapping { b'}' } else { b']' };
        self.cursor.step_ascii(1);
        let mut items = Vec::new();
        let mut entries = Vec::new();
        loop {
            self.skip_flow();
            if self.cursor.byte(0) == end {
                break;
            }
            if self.cursor.byte(0) == b',' {
                return Err(self.error("did not find expected node content"));
            }
            if in_mapping {
                entries.push(self.flow_pair()?);
            } else {
                items.push(self.flow_item()?);
            }
            self.skip_flow();
            match self.cursor.byte(0) {
                b',' => self.cursor.step_ascii(1),
                byte if byte == end => break,
                _ if in_mapping => return Err(self.unexpected("did not find expected ',' or '}'")),
                _ => return Err(self.unexpected("did not find expected ',' or ']'")),
            }
        }
        self.cursor.step_ascii(1);
        self.depth -= 1;
        Ok(if in_mapping { Content::Mapping(entries) } else { Content::Sequence(items) })
    }

    pub(super) fn flow_pair(&mut self) -> Result<(Node, Node), SyntaxError> {
        let explicit = self.cursor.byte(0) == b'?' && self.cursor.ends_word(1);
        if explicit {
            self.cursor.step_ascii(1);
            self.skip_flow();
        }
        let line = self.cursor.line();
        let key = self.flow_node(b":,}")?;
        let key_end = self.cursor.line();
        self.skip_flow();
        let value_here = self.cursor.byte(0) == b':';
        // An implicit key stands on one line with its colon.
        if value_here && !explicit && (line != key_end || line != self.cursor.line()) {
            return Err(self.unexpected("did not find expected ',' or '}'"));
        }
        if !value_here {
            return Ok((key, Node::plain("", self.cursor.origin())));
        }
        self.cursor.step_ascii(1);
        self.skip_flow();
        Ok((key, self.flow_node(b",}")?))
    }

    /// Reads an item of a flow list; `[a: b]` holds a mapping of one pair.
    pub(super) fn flow_item(&mut self) -> Result<Node, SyntaxError> {
        let origin = self.cursor.origin();
        let line = self.cursor.line();
        let explicit = self.cursor.byte(0) == b'?' && self.cursor.ends_word(1);
        if explicit {
            self.cursor.step_ascii(1);
            self.skip_flow();
        }
        let item = self.flow_node(b":,]")?;
        let one_line = line == self.cursor.line();
        let mut ahead = self.cursor.clone();
        while ahead.at_blank() {
            ahead.step();
        }
        if explicit {
            self.skip_flow();
        } else if one_line && ahead.byte(0) == b':' {
            self.cursor = ahead;
        }
        let value_here = self.cursor.byte(0) == b':' && (explicit || one_line);
        if !explicit && !value_here {
            return Ok(item);
        }
        let value = if value_here {
            self.cursor.step_ascii(1);
            self.skip_flow();
            self.flow_node(b",]")?
        } else {
            Node::plain("", self.cursor.origin())
        };
        Ok(Node {
            content: Content::Mapping(vec![(item, value)]),
            origin,
            flow: true,
            alias: None,
            properties: None,
        })
    }

    /// Reads one node within brackets; an empty one when one of `ends` stands here already.
    pub(super) fn flow_node(&mut self, ends: &[u8]) -> Result<Node, SyntaxError> {
        self.count(1)?;
        let origin = self.cursor.origin();
        let properties = self.properties()?;
        if properties.is_some() {
            self.skip_flow();
        }
        let here = self.cursor.byte(0);
        let empty_key = here == b':' && (ends.contains(&b':') && self.cursor.ends_word(1));
        if empty_key || (here != b':' && ends.contains(&here)) {
            return self.finish(Node::plain("", origin), properties);
        }
        self.inline(ScalarContext { indent: -1, in_flow: true }, properties, origin)
    }

    pub(super) fn skip_flow(&mut self) {
        loop {
            while self.cursor.at_blank() {
                self.cursor.step_ascii(1);
            }
            self.comment();
            if self.cursor.line_break().is_none() {
                break;
            }
            self.cursor.step_line();
        }
    }
}
