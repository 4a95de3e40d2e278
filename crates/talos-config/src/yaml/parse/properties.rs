//! Anchors, aliases and tags.

use super::{Content, Node, Parser, SyntaxError};

/// Anchor and tag in front of a node.
#[derive(Default)]
pub(super) struct Properties<'a> {
    pub(super) anchor: Option<&'a str>,
    pub(super) tag: Option<Box<str>>,
}

impl<'a> Parser<'a> {
    pub(super) fn alias(&mut self) -> Result<Node, SyntaxError> {
        let at = self.cursor.clone();
        self.cursor.step_ascii(1);
        let name = self.anchor_name("did not find expected alphabetic or numeric character")?;
        match self.anchors.get(name) {
            None => Err(at.error("unknown anchor referenced")),
            Some(None) => Err(at.error("anchor value contains itself")),
            Some(Some((node, extent))) => {
                let (mut node, extent) = (node.clone(), *extent);
                node.alias = Some(at.origin());
                self.count(extent.nodes)?;
                self.repeated = self.repeated.saturating_add(extent.bytes);
                if self.repeated > self.limits.bytes {
                    return Err(at.error("document contains excessive aliasing"));
                }
                if self.depth + extent.depth > self.limits.depth {
                    return Err(at.error(&format!("exceeded max depth of {}", self.limits.depth)));
                }
                Ok(node)
            }
        }
    }

    pub(super) fn properties(&mut self) -> Result<Option<Properties<'a>>, SyntaxError> {
        let mut properties = Properties::default();
        let mut any = false;
        loop {
            match self.cursor.byte(0) {
                b'&' if properties.anchor.is_none() => {
                    self.cursor.step_ascii(1);
                    let problem = "did not find expected alphabetic or numeric character";
                    properties.anchor = Some(self.anchor_name(problem)?);
                }
                b'!' if properties.tag.is_none() => properties.tag = Some(self.tag()?),
                _ => return Ok(any.then_some(properties)),
            }
            any = true;
            while self.cursor.at_blank() {
                self.cursor.step();
            }
        }
    }

    pub(super) fn anchor_name(&mut self, problem: &str) -> Result<&'a str, SyntaxError> {
        let begun = self.cursor.position();
        while !self.cursor.ends_word(0)
            && !matches!(self.cursor.byte(0), b'[' | b']' | b'{' | b'}' | b',' | b':')
        {
            self.cursor.step();
        }
        let name = self.cursor.since(begun);
        if name.is_empty() || !name.is_ascii() {
            return Err(self.cursor.error(problem));
        }
        Ok(name)
    }

    pub(super) fn tag(&mut self) -> Result<Box<str>, SyntaxError> {
        let begun = self.cursor.position();
        let at = self.cursor.clone();
        let verbatim = self.cursor.rest().starts_with("!<");
        let ends = |byte: u8| !verbatim && matches!(byte, b'[' | b']' | b'{' | b'}' | b',');
        while !self.cursor.ends_word(0) && !ends(self.cursor.byte(0)) {
            self.cursor.step();
        }
        let text = self.cursor.since(begun);
        if !self.cursor.ends_word(0) && !matches!(self.cursor.byte(0), b',' | b']' | b'}') {
            return Err(self.cursor.error("did not find expected whitespace or line break"));
        }
        let escape_broken = text.match_indices('%').any(|(found, _)| {
            let digits = text.as_bytes().get(found + 1..found + 3);
            !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        });
        if escape_broken {
            return Err(at.error("did not find URI escaped octet"));
        }
        if let Some(verbatim) = text.strip_prefix("!<") {
            let inner = verbatim.strip_suffix('>').filter(|inner| !inner.is_empty());
            return inner.map(Into::into).ok_or_else(|| at.error("did not find the expected '>'"));
        }
        if text == "!" {
            return Ok("!".into());
        }
        let handle_end = text[1..].find('!').map_or(1, |found| found + 2);
        let (handle, suffix) = text.split_at(handle_end);
        let prefix = match (self.tags.get(handle), handle) {
            (Some(prefix), _) => prefix,
            (None, "!!") => "tag:yaml.org,2002:",
            (None, "!") => "!",
            (None, _) => return Err(at.error("found undefined tag handle")),
        };
        if suffix.is_empty() {
            return Err(at.error("did not find expected tag URI"));
        }
        Ok(format!("{prefix}{suffix}").into())
    }

    /// Marks an anchor as being read, so that its node cannot contain itself.
    pub(super) fn announce(&mut self, properties: Option<&Properties<'a>>) {
        if let Some(anchor) = properties.and_then(|properties| properties.anchor) {
            self.anchors.insert(anchor, None);
        }
    }

    /// Gives a node its properties and remembers it under its anchor.
    pub(super) fn finish(
        &mut self,
        mut node: Node,
        properties: Option<Properties<'a>>,
    ) -> Result<Node, SyntaxError> {
        let Some(Properties { anchor, tag }) = properties else { return Ok(node) };
        let own = node.properties.get_or_insert_default();
        if tag.is_some() {
            own.tag = tag;
        }
        if let Some(anchor) = anchor {
            own.anchor = Some(anchor.into());
            let extent = Extent::of(&node);
            self.count(extent.nodes)?;
            self.anchors.insert(anchor, Some((node.clone(), extent)));
        }
        Ok(node)
    }
}

/// The size of a node.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    nodes: usize,
    depth: usize,
    bytes: usize,
}

impl Extent {
    fn of(node: &Node) -> Self {
        let inner = match &node.content {
            Content::Scalar { text, .. } => return Self { nodes: 1, depth: 0, bytes: text.len() },
            Content::Sequence(items) => {
                items.iter().map(Self::of).fold(Self::default(), Self::beside)
            }
            Content::Mapping(entries) => {
                let nodes = entries.iter().flat_map(|(key, value)| [key, value]);
                nodes.map(Self::of).fold(Self::default(), Self::beside)
            }
        };
        Self { nodes: inner.nodes + 1, depth: inner.depth + 1, bytes: inner.bytes }
    }

    fn beside(self, other: Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            depth: self.depth.max(other.depth),
            bytes: self.bytes + other.bytes,
        }
    }
}
