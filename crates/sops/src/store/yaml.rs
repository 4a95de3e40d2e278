//! Reads YAML into a tree, with comments where SOPS would place them.
//!
//! A comment on its own line is placed before the next node of its level, or after the last entry
//! of the block that contains its column. A comment after a value is placed before the entry of
//! that value. Comments decide what is encrypted under two of the selections, so none may be lost,
//! and each must have the same place when the output is read again.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use talos_config::yaml::{self, Content, Resolved, Style};
use talos_config::{Location, SourceId};

use super::LIMITS;
use crate::error::{Error, ValueLocation};
use crate::time;
use crate::tree::{Comment, Element, Entry, Map, Node, Value};

pub(super) fn read(text: &str) -> Result<Vec<Map>, Error> {
    let documents = yaml::parse(text, SourceId::default(), LIMITS)
        .map_err(|error| Error::Syntax { problem: error.problem, line: Some(error.origin.line) })?;
    documents
        .iter()
        .map(|document| Reader::new(&document.comments).document(&document.root))
        .collect()
}

struct Reader<'a> {
    /// Comments that have not been placed yet, in the order of the text.
    comments: std::iter::Peekable<std::slice::Iter<'a, yaml::Comment>>,
}

/// The surroundings of a collection.
#[derive(Clone, Copy)]
struct Around {
    /// The start of the next node; later comments do not belong to this one.
    until: Location,
    /// The column of the block around it; a comment there is not for this one.
    column: u32,
    in_list: bool,
}

impl<'a> Reader<'a> {
    fn new(comments: &'a [yaml::Comment]) -> Self {
        Self { comments: comments.iter().peekable() }
    }

    fn document(mut self, root: &yaml::Node) -> Result<Map, Error> {
        let around = Around { until: END, column: 0, in_list: false };
        let mut map = match &root.content {
            Content::Mapping(entries) => self.map(root, entries, around)?,
            Content::Scalar { .. } if scalar(root)?.is_null() => Map::new(),
            Content::Scalar { .. } | Content::Sequence(_) => {
                let problem = "the document is not a mapping".to_owned();
                return Err(Error::Syntax { problem, line: Some(root.origin.line) });
            }
        };
        map.extend(self.comments.map(|comment| Entry::Comment(placed(comment))));
        Ok(map)
    }

    fn map(
        &mut self,
        node: &yaml::Node,
        entries: &[(yaml::Node, yaml::Node)],
        around: Around,
    ) -> Result<Map, Error> {
        let mut map = Map::new();
        let mut keys = BTreeSet::new();
        for (index, (key, value)) in entries.iter().enumerate() {
            let name = Self::key(key)?;
            if !keys.insert(name.clone()) {
                let location = ValueLocation::new(&name, key.origin.line);
                return Err(Error::Value { location, problem: "its key is duplicated" });
            }
            let until = entries.get(index + 1).map_or(around.until, |(next, _)| start(next));
            map.extend(self.before(start(key)).map(Entry::Comment));
            let inner = Around { until, column: node.origin.column, ..around };
            let mut said = Vec::new();
            let value = self.node(value, inner, &mut said)?;
            map.extend(said.into_iter().map(Entry::Comment));
            map.push(Entry::Pair(name, value));
        }
        let trailing = self.trailing(node, around);
        match map.last_mut() {
            Some(Entry::Pair(_, last)) if around.in_list && last.value.has_inner() => {
                sink(&mut last.value, trailing);
            }
            _ => map.extend(trailing.into_iter().map(Entry::Comment)),
        }
        Ok(map)
    }

    fn list(
        &mut self,
        node: &yaml::Node,
        items: &[yaml::Node],
        around: Around,
    ) -> Result<Vec<Element>, Error> {
        let mut list = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let until = items.get(index + 1).map_or(around.until, start);
            list.extend(self.before(start(item)).map(Element::Comment));
            let inner = Around { until, column: node.origin.column, in_list: true };
            let mut said = Vec::new();
            let mut value = self.node(item, inner, &mut said)?;
            // After a dash a comment cannot apply to the first entry only.
            said.extend(leading(&mut value.value));
            list.extend(said.into_iter().map(Element::Comment));
            list.push(Element::Node(value));
        }
        let trailing = self.trailing(node, around);
        match list.last_mut() {
            Some(Element::Node(last)) if last.value.has_inner() => sink(&mut last.value, trailing),
            _ => list.extend(trailing.into_iter().map(Element::Comment)),
        }
        // SOPS would take an empty one for an element that is an empty text.
        list.retain(
            |element| !matches!(element, Element::Comment(comment) if comment.text.is_empty()),
        );
        Ok(list)
    }

    /// Reads a value; comments that go before its entry are added to `said`.
    fn node(
        &mut self,
        node: &yaml::Node,
        around: Around,
        said: &mut Vec<Comment>,
    ) -> Result<Node, Error> {
        if node.alias.is_some() {
            said.extend(self.before(start(node)));
            said.extend(self.behind(around.until).map(own_line));
            // Comments are at the definition of the anchor, and not repeated.
            return Reader::new(&[]).content(node, around, &mut Vec::new());
        }
        self.content(node, around, said)
    }

    fn content(
        &mut self,
        node: &yaml::Node,
        around: Around,
        said: &mut Vec<Comment>,
    ) -> Result<Node, Error> {
        let (line, flow) = (node.origin.line, node.flow);
        let value = match &node.content {
            Content::Scalar { .. } => {
                said.extend(self.before(node.origin));
                said.extend(self.behind(around.until));
                return Ok(Node { value: scalar(node)?.0, line });
            }
            Content::Sequence(items) if items.is_empty() => Value::List(Vec::new()),
            Content::Mapping(entries) if entries.is_empty() => Value::Map(Map::new()),
            Content::Sequence(items) => {
                said.extend(self.behind(node.origin).map(own_line));
                let inner = if flow { Around { until: BEGIN, ..around } } else { around };
                Value::List(self.list(node, items, inner)?)
            }
            Content::Mapping(entries) => {
                said.extend(self.behind(node.origin).map(own_line));
                let inner = if flow { Around { until: BEGIN, ..around } } else { around };
                Value::Map(self.map(node, entries, inner)?)
            }
        };
        let mut value = Node { value, line };
        if !flow {
            return Ok(value);
        }
        // After a bracket: it applies to the contents of the brackets and goes to their beginning.
        let behind = self.behind(around.until).map(own_line);
        match &mut value.value {
            Value::Map(map) if !map.is_empty() && !around.in_list => {
                map.splice(0..0, behind.map(Entry::Comment));
            }
            Value::List(list) if !list.is_empty() && !around.in_list => {
                list.splice(0..0, behind.map(Element::Comment));
            }
            _ => said.extend(behind),
        }
        Ok(value)
    }

    fn key(key: &yaml::Node) -> Result<String, Error> {
        match scalar(key) {
            Ok(Scalar(Value::Text(text))) => Ok(text),
            _ => {
                let location = ValueLocation::new("", key.origin.line);
                Err(Error::Value { location, problem: "its key is not text" })
            }
        }
    }

    /// Takes the comments before a position.
    fn before(&mut self, origin: Location) -> std::vec::IntoIter<Comment> {
        let mut taken = Vec::new();
        while let Some(comment) = self.comments.next_if(|comment| comment.origin < origin) {
            taken.push(Comment { inline: false, ..placed(comment) });
        }
        taken.into_iter()
    }

    /// Takes the comments after a node on its line that come before a position.
    fn behind(&mut self, origin: Location) -> std::vec::IntoIter<Comment> {
        let mut taken = Vec::new();
        let wanted = |comment: &&yaml::Comment| !comment.own_line && comment.origin < origin;
        while let Some(comment) = self.comments.next_if(wanted) {
            taken.push(placed(comment));
        }
        taken.into_iter()
    }

    /// Takes the comments at the end of a block that are in its column or right of it.
    fn trailing(&mut self, node: &yaml::Node, around: Around) -> Vec<Comment> {
        let column = node.origin.column.max(around.column + 1);
        let mut taken = Vec::new();
        let wanted = |comment: &&yaml::Comment| {
            comment.origin < around.until && comment.origin.column >= column
        };
        while let Some(comment) = self.comments.next_if(wanted) {
            taken.push(own_line(placed(comment)));
        }
        taken
    }
}

/// Moves comments that end a list, or a map in a list, to the end of the innermost block that ends there:
/// between a nested block and the next entry around it SOPS does not find them again where they were.
fn sink(value: &mut Value, comments: Vec<Comment>) {
    if comments.is_empty() {
        return;
    }
    match value {
        Value::List(list) => match list.last_mut() {
            Some(Element::Node(last)) if last.value.has_inner() => sink(&mut last.value, comments),
            _ => {
                let said = comments.into_iter().filter(|comment| !comment.text.is_empty());
                list.extend(said.map(Element::Comment));
            }
        },
        Value::Map(map) => match map.last_mut() {
            Some(Entry::Pair(_, last)) if last.value.has_inner() => sink(&mut last.value, comments),
            _ => map.extend(comments.into_iter().map(Entry::Comment)),
        },
        // Only what has something in it comes here.
        _ => {}
    }
}

/// Takes the comments off the beginning of a list or a map.
fn leading(value: &mut Value) -> Vec<Comment> {
    let mut taken = Vec::new();
    match value {
        Value::List(list) => {
            let count = list.iter().take_while(|item| matches!(item, Element::Comment(_))).count();
            taken.extend(list.drain(..count).filter_map(|element| match element {
                Element::Comment(comment) => Some(own_line(comment)),
                Element::Node(_) => None,
            }));
        }
        Value::Map(map) => {
            let count = map.iter().take_while(|item| matches!(item, Entry::Comment(_))).count();
            taken.extend(map.drain(..count).filter_map(|entry| match entry {
                Entry::Comment(comment) => Some(own_line(comment)),
                Entry::Pair(..) => None,
            }));
        }
        _ => {}
    }
    taken
}

/// A scalar that was resolved.
struct Scalar(Value);

impl Scalar {
    fn is_null(&self) -> bool {
        matches!(self.0, Value::Null)
    }
}

fn scalar(node: &yaml::Node) -> Result<Scalar, Error> {
    let wrong = |problem: &'static str| {
        let location = ValueLocation::new("", node.origin.line);
        Error::Value { location, problem }
    };
    let (text, style) = node.scalar().ok_or_else(|| wrong("a scalar is wanted here"))?;
    let tag = node.tag().map(|tag| tag.strip_prefix("tag:yaml.org,2002:").unwrap_or(tag));
    let resolved = match tag {
        None => yaml::resolve(text, style),
        Some("int" | "float" | "bool" | "null" | "timestamp") => yaml::resolve(text, Style::Plain),
        Some("binary") => {
            let compact: String = text.split_whitespace().collect();
            let bytes = STANDARD.decode(compact).map_err(|_| wrong("its base64 is broken"))?;
            let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8"))?;
            return Ok(Scalar(Value::Text(text)));
        }
        Some(_) => Resolved::Text,
    };
    Ok(Scalar(match resolved {
        Resolved::Null => Value::Null,
        Resolved::Bool(flag) => Value::Bool(flag),
        #[expect(clippy::cast_precision_loss, reason = "the tag asks for a float")]
        Resolved::Int(number) if tag == Some("float") => Value::Float(number as f64),
        Resolved::Int(number) => Value::Int(
            i64::try_from(number).map_err(|_| wrong("the number has more than 63 bits"))?,
        ),
        Resolved::Float(number) => Value::Float(number),
        Resolved::Timestamp => Value::Time(
            time::canonical(text, true).ok_or_else(|| wrong("the time cannot be written again"))?,
        ),
        Resolved::Merge | Resolved::Text => Value::Text(text.to_owned()),
    }))
}

/// Returns the position where a node is used, which for an alias is not where it is defined.
fn start(node: &yaml::Node) -> Location {
    node.alias.unwrap_or(node.origin)
}

fn placed(comment: &yaml::Comment) -> Comment {
    Comment { text: comment.text.to_string(), inline: !comment.own_line }
}

fn own_line(comment: Comment) -> Comment {
    Comment { inline: false, ..comment }
}

const BEGIN: Location = Location { source: SourceId(0), line: 0, column: 0 };
const END: Location = Location { source: SourceId(0), line: u32::MAX, column: u32::MAX };
