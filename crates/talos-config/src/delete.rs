//! `$patch: delete`: what a patch takes away.
//!
//! [`extract`] finds the statements in a patch document, takes them out of it and gives selectors;
//! [`Selector::apply`] takes what they select out of a configuration.

use std::collections::BTreeMap;

use crate::config::{Config, Identity};
use crate::error::Error;
use crate::schema::{self, Field, Format, Type};
use crate::value::{Data, Value};
use crate::yaml::{Content, Dialect, Node};

/// The part of a document to take away.
#[derive(Clone)]
pub(crate) struct Selector {
    pub(crate) document: Identity,
    /// Empty for the whole document.
    path: Vec<Step>,
}

#[derive(Clone)]
enum Step {
    Key(String),
    /// The element of a list whose `key` has this text; `None` when it was no text.
    Element {
        index: usize,
        key: String,
        text: Option<String>,
    },
}

/// Takes the delete statements out of a patch document. What becomes empty goes with them.
pub(crate) fn extract(node: &mut Node, line: u32) -> Result<Vec<Selector>, Error> {
    let original = node.clone();
    let text_of = |key: &str| original.get(key).and_then(Node::scalar).map_or("", |(text, _)| text);
    let document = Identity::selected(&original);
    let wrong = |reason: String| {
        Error::PatchSyntax(format!(
            "error processing patch delete statements at line {line}: {reason}"
        ))
    };
    if asks_deletion(node) {
        for key in ["apiVersion", "kind"] {
            if node.get(key).is_none() {
                return Err(wrong(format!(
                    "missing {key} in document for which $patch: delete is used"
                )));
            }
        }
        if text_of("apiVersion").is_empty() || text_of("kind").is_empty() {
            return Err(wrong("kind and apiVersion must be both set for path ".to_owned()));
        }
        node.content = Content::Mapping(Vec::new());
        return Ok(vec![Selector { document, path: Vec::new() }]);
    }
    let mut found = Vec::new();
    walk(node, &mut Vec::new(), &mut found).map_err(wrong)?;
    let [version, kind] = ["apiVersion", "kind"].map(text_of);
    match found.first() {
        Some(path) if version.is_empty() != kind.is_empty() => {
            Err(wrong(format!("kind and apiVersion must be both set for path {}", spell(path))))
        }
        _ => Ok(found
            .into_iter()
            .map(|path| Selector { document: document.clone(), path })
            .collect()),
    }
}

fn walk(node: &mut Node, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) -> Result<(), String> {
    match &mut node.content {
        Content::Scalar { .. } => {}
        Content::Mapping(entries) => {
            let mut index = 0;
            // What stands behind the statement in the same mapping is not looked at.
            let end = entries.iter().position(is_statement).unwrap_or(entries.len());
            let mut left = end;
            while index < left {
                let (key, value) = &mut entries[index];
                let name = key.scalar().map(|(text, _)| text.to_owned()).unwrap_or_default();
                path.push(Step::Key(name));
                let gone = take(value, path, found)?;
                path.pop();
                if gone {
                    entries.remove(index);
                    left -= 1;
                } else {
                    index += 1;
                }
            }
        }
        Content::Sequence(items) => {
            let mut index = 0;
            while index < items.len() {
                let item = &mut items[index];
                let (key, text) = selecting_pair(item);
                path.push(Step::Element { index, key, text });
                let gone = take(item, path, found)?;
                path.pop();
                if gone {
                    items.remove(index);
                } else {
                    index += 1;
                }
            }
        }
    }
    Ok(())
}

/// Handles one value; says whether it is to be left out of the patch.
fn take(node: &mut Node, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) -> Result<bool, String> {
    // A statement counts where it is written, not where an alias repeats it.
    if node.alias.is_some() {
        return Ok(false);
    }
    let count = found.len();
    walk(node, path, found)?;
    if asks_deletion(node) {
        match path.as_slice() {
            [.., Step::Element { key, .. }] if key.is_empty() => {
                return Err(format!("no key:val found in sequence node for path {}", spell(path)));
            }
            [before @ .., Step::Key(_)]
                if before.iter().any(|step| matches!(step, Step::Element { .. })) =>
            {
                return Err(format!("cannot delete an inner key in '{}'", spell(path)));
            }
            _ => {}
        }
        found.push(path.clone());
        return Ok(true);
    }
    let emptied = match &node.content {
        Content::Mapping(entries) => entries.is_empty(),
        Content::Sequence(items) => items.is_empty(),
        Content::Scalar { .. } => false,
    };
    Ok(emptied && found.len() > count)
}

fn asks_deletion(node: &Node) -> bool {
    matches!(&node.content, Content::Mapping(entries) if entries.iter().any(is_statement))
}

fn is_statement((key, value): &(Node, Node)) -> bool {
    let text = |node: &Node, wanted: &str| node.scalar().is_some_and(|(text, _)| text == wanted);
    text(key, "$patch") && text(value, "delete")
}

/// Returns the first key of a mapping that is not the statement itself.
fn selecting_pair(node: &Node) -> (String, Option<String>) {
    let Content::Mapping(entries) = &node.content else { return Default::default() };
    let pair = entries.iter().find_map(|(key, value)| {
        let (key, _) = key.scalar().filter(|(key, _)| *key != "$patch")?;
        Some((key.to_owned(), value.scalar().map(|(text, _)| text.to_owned())))
    });
    pair.unwrap_or_default()
}

fn spell(path: &[Step]) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Key(key) => key.clone(),
        Step::Element { index, .. } => format!("[{index}]"),
    });
    steps.collect::<Vec<_>>().join(".")
}

impl Selector {
    /// Takes what is selected out of the configuration. A document that is not there is no error.
    pub(crate) fn apply(&self, config: &mut Config, dialect: Dialect) -> Result<(), Error> {
        let id = &self.document;
        let documents = config.documents_mut();
        let found = documents.iter().position(|document| {
            document.kind.name == id.kind
                && document.name() == id.name
                && document.is_v1alpha1() == id.is_v1alpha1()
                && (id.is_v1alpha1() || id.version == "v1alpha1")
        });
        let Some(index) = found else { return Ok(()) };
        if self.path.is_empty() {
            documents.remove(index);
            return Ok(());
        }
        let document = &mut documents[index];
        let fields = document.kind.fields;
        delete_in_object(&mut document.body, fields, &self.path, dialect).map_err(|reason| {
            let path = spell(&self.path);
            let problem = format!("failed to delete path '{path}': {reason}");
            Error::Patch(if id.name.is_empty() {
                let document = format!("{}/{}", id.version, id.kind);
                format!("patch delete: path '{path}' in document '{document}': {problem}")
            } else {
                format!("named patch delete: document {}/{}: {problem}", id.version, id.kind)
            })
        })
    }
}

type Object = BTreeMap<String, Value>;

fn delete_in_object(
    object: &mut Object,
    fields: &'static [Field],
    path: &[Step],
    dialect: Dialect,
) -> Result<(), &'static str> {
    let [Step::Key(key), rest @ ..] = path else { return Err(LOOKUP_FAILED) };
    let field = find(fields, key, dialect)?;
    if rest.is_empty() {
        object.remove(key);
        return Ok(());
    }
    match object.get_mut(key) {
        Some(value) => delete_in(value, field.ty, rest, dialect),
        // An object that is no pointer is always there, with nothing in it.
        None => match field.ty {
            Type::Object(fields) | Type::Encryption(fields) if !field.optional => {
                delete_in_object(&mut Object::new(), fields, rest, dialect)
            }
            Type::List(_) | Type::StrictList(_) | Type::KeyedList(..) => {
                delete_in(&mut Value::new(Data::List(Vec::new())), field.ty, rest, dialect)
            }
            _ => Err(LOOKUP_FAILED),
        },
    }
}

fn delete_in(
    value: &mut Value,
    ty: Type,
    path: &[Step],
    dialect: Dialect,
) -> Result<(), &'static str> {
    match (&mut value.data, ty, path) {
        (_, Type::Any, _) if dialect == Dialect::V1_12 => Err(LOOKUP_FAILED),
        (Data::Map(object), Type::Object(fields) | Type::Encryption(fields), _) => {
            delete_in_object(object, fields, path, dialect)
        }
        (Data::Map(map), Type::Map(_) | Type::Arguments | Type::Any, [Step::Key(key)]) => {
            map.remove(key).map(drop).ok_or(LOOKUP_FAILED)
        }
        (Data::Map(map), Type::Map(element), [Step::Key(key), rest @ ..]) => {
            delete_in(map.get_mut(key).ok_or(LOOKUP_FAILED)?, *element, rest, dialect)
        }
        (Data::Map(map), Type::Any, [Step::Key(key), rest @ ..]) => {
            delete_in(map.get_mut(key).ok_or(LOOKUP_FAILED)?, Type::Any, rest, dialect)
        }
        (
            Data::List(items),
            Type::List(element) | Type::StrictList(element) | Type::KeyedList(element, ..),
            [Step::Element { key, text, .. }, rest @ ..],
        ) => {
            if !rest.is_empty() {
                return Err("searching for complex paths in slices is not supported");
            }
            let (Type::Object(fields), Some(text)) = (element, text) else {
                return Err(LOOKUP_FAILED);
            };
            let field = find(fields, key, dialect)?;
            if dialect == Dialect::V1_12 && !matches!(field.ty, Type::Text) {
                return Err(LOOKUP_FAILED);
            }
            let matches = |item: &Value| comparable(item, field).as_deref() == Some(text);
            let index = items.iter().position(matches).ok_or(LOOKUP_FAILED)?;
            items.remove(index);
            Ok(())
        }
        _ => Err(LOOKUP_FAILED),
    }
}

/// The field of a key. The oldest does not look into objects whose fields stand in their place.
fn find(
    fields: &'static [Field],
    key: &str,
    dialect: Dialect,
) -> Result<&'static Field, &'static str> {
    let own = || fields.iter().any(|field| field.key == key);
    let found = schema::find(fields, key);
    found.filter(|_| dialect > Dialect::V1_12 || own()).ok_or(LOOKUP_FAILED)
}

/// The text of a field that a list element can be found by. Plain numbers have none.
fn comparable(item: &Value, field: &Field) -> Option<String> {
    match (item.get(field.key).map(|value| &value.data), field.ty) {
        (Some(Data::Int(mode)), Type::Format(Format::Octal)) => Some(format!("0o{mode:o}")),
        (Some(Data::Text(text)), _) => Some(text.clone()),
        (None, Type::Text) => Some(String::new()),
        _ => None,
    }
}

const LOOKUP_FAILED: &str = "lookup failed";
