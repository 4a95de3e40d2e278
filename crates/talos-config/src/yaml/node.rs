//! What YAML text says, before anybody asks what it means.

use crate::Location;

/// One node of a document: its raw text and style, where it stands, and its tag.
#[derive(Clone, Eq, PartialEq)]
pub struct Node {
    /// What it holds.
    pub content: Content,
    /// Where it begins.
    pub origin: Location,
    /// Whether it is a list or a mapping in brackets.
    pub flow: bool,
    /// Where the alias is through which it stands here.
    pub alias: Option<Location>,
    /// What is written in front of it. Apart, because hardly any node has it, and nodes within nodes take up the stack.
    pub properties: Option<Box<Properties>>,
}

/// What may be written in front of a node.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Properties {
    /// An explicit tag, as written out in full: `!!int` is `tag:yaml.org,2002:int`.
    pub tag: Option<Box<str>>,
    /// The name of its anchor; where it stands through an alias, the name that the alias has.
    pub anchor: Option<Box<str>>,
}

/// The three shapes of a node.
#[derive(Clone, Eq, PartialEq)]
pub enum Content {
    /// Text that is still to be resolved.
    Scalar {
        /// The text without quotes, escapes and folds.
        text: Box<str>,
        /// How it was written.
        style: Style,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// Keys with values, in the order of the text.
    Mapping(Vec<(Node, Node)>),
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Style {
    /// Without quotes: the only style whose text decides about its type.
    Plain,
    /// `'…'`
    Single,
    /// `"…"`
    Double,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// One document of a stream.
#[derive(Clone, Eq, PartialEq)]
pub struct Document {
    /// Where it begins: at its `---`, or at its content when it has none.
    pub origin: Location,
    /// Its content; an empty document is a plain empty scalar.
    pub root: Node,
    /// The comments in it, in the order of the text.
    pub comments: Vec<Comment>,
}

/// A comment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Comment {
    /// Where its `#` stands.
    pub origin: Location,
    /// The text behind the `#`.
    pub text: Box<str>,
    /// Whether nothing stands before it on its line.
    pub own_line: bool,
    /// Whether the line above is blank.
    pub is_apart: bool,
}

impl Node {
    /// A scalar written plainly.
    pub fn plain(text: &str, origin: Location) -> Self {
        Self::new(Content::Scalar { text: text.into(), style: Style::Plain }, origin)
    }

    /// A node without properties, in block style.
    pub fn new(content: Content, origin: Location) -> Self {
        Self { content, origin, flow: false, alias: None, properties: None }
    }

    /// Its explicit tag, in full.
    pub fn tag(&self) -> Option<&str> {
        self.properties.as_ref()?.tag.as_deref()
    }

    /// The name of its anchor, or of the alias that it stands for.
    pub fn anchor(&self) -> Option<&str> {
        self.properties.as_ref()?.anchor.as_deref()
    }

    /// The text and style of a scalar.
    pub fn scalar(&self) -> Option<(&str, Style)> {
        match &self.content {
            Content::Scalar { text, style } => Some((text, *style)),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    /// The value of a key, in a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Content::Mapping(entries) = &self.content else { return None };
        entries
            .iter()
            .find(|(name, _)| name.scalar().is_some_and(|(text, _)| text == key))
            .map(|(_, value)| value)
    }
}
