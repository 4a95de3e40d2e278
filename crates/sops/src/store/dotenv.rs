//! Lines of `KEY=value` and comments. The metadata is flat: `sops_age__list_0__map_enc=…`.

use std::collections::BTreeMap;

use crate::error::{Error, ValueLocation};
use crate::tree::{Comment, Element, Entry, Map, Node, Value};

pub(super) fn read(text: &str) -> Result<Map, Error> {
    super::not_too_long(text)?;
    let mut map = Map::new();
    for (line, number) in text.split('\n').zip(1..) {
        if let Some(comment) = line.strip_prefix('#') {
            map.push(Entry::Comment(Comment::new(comment)));
        } else if let Some((key, value)) = line.split_once('=') {
            let value = Value::Text(value.replace("\\n", "\n"));
            map.push(Entry::Pair(key.to_owned(), Node { value, line: number }));
        } else if !line.is_empty() {
            let problem = "neither a comment nor KEY=value".to_owned();
            return Err(Error::Syntax { problem, line: Some(number) });
        }
    }
    Ok(map)
}

pub(super) fn write(map: &Map) -> Result<String, Error> {
    let mut text = String::new();
    for entry in map {
        match entry {
            Entry::Comment(comment) => {
                text.extend(comment.text.split('\n').flat_map(|line| ["#", line, "\n"]));
            }
            Entry::Pair(key, node) => {
                let value = match &node.value {
                    Value::Null => String::new(),
                    Value::Bool(flag) => flag.to_string(),
                    Value::Text(text) => text.replace('\n', "\\n"),
                    Value::List(_) | Value::Map(_) => {
                        let location = ValueLocation::new(key, node.line);
                        let problem = "a dotenv file has neither lists nor mappings";
                        return Err(Error::Value { location, problem });
                    }
                    number => number.plain().unwrap_or_default().0,
                };
                text.extend([key, "=", &value, "\n"]);
            }
        }
    }
    Ok(text)
}

/// Flattens metadata to lines.
pub(super) fn flatten(metadata: &Map) -> Map {
    let mut flat = Map::new();
    flatten_map(metadata, PREFIX, &mut flat);
    flat
}

fn flatten_map(map: &Map, prefix: &str, flat: &mut Map) {
    for (key, node) in map.iter().filter_map(Entry::pair) {
        flatten_value(node, format!("{prefix}{key}"), flat);
    }
}

fn flatten_value(node: &Node, key: String, flat: &mut Map) {
    match &node.value {
        Value::Map(map) => flatten_map(map, &format!("{key}{MAP}"), flat),
        Value::List(elements) => {
            for (index, node) in elements.iter().filter_map(Element::node).enumerate() {
                flatten_value(node, format!("{key}{LIST}{index}"), flat);
            }
        }
        _ => flat.push(Entry::Pair(key, node.clone())),
    }
}

/// Reads metadata from lines.
pub(super) fn unflatten(flat: Map) -> Result<Map, Error> {
    let mut root = Branch::default();
    for entry in flat {
        if let Entry::Pair(key, node) = entry {
            let steps = steps(key.strip_prefix(PREFIX).unwrap_or(&key))?;
            let branch = steps
                .into_iter()
                .fold(&mut root, |branch, step| branch.below.entry(step).or_default());
            if branch.value.replace(node).is_some() {
                return Err(ambiguous());
            }
        }
    }
    match root.into_value()? {
        Value::Map(map) => Ok(map),
        _ => Err(ambiguous()),
    }
}

/// A partially read value at one step of a path.
#[derive(Default)]
struct Branch {
    value: Option<Node>,
    below: BTreeMap<Step, Self>,
}

#[derive(Eq, Ord, PartialEq, PartialOrd)]
enum Step {
    Key(String),
    Index(usize),
}

impl Branch {
    fn into_value(self) -> Result<Value, Error> {
        match (self.value, self.below.keys().next()) {
            (Some(node), None) => Ok(node.value),
            (None, Some(Step::Index(_))) => {
                let elements = self.below.into_iter().enumerate().map(|(index, (step, branch))| {
                    // Sorted, so that a gap shows as a number that is ahead of its position.
                    if step != Step::Index(index) {
                        return Err(ambiguous());
                    }
                    Ok(Element::Node(Node::new(branch.into_value()?)))
                });
                Ok(Value::List(elements.collect::<Result<_, _>>()?))
            }
            (None, _) => {
                let entries = self.below.into_iter().map(|(step, branch)| match step {
                    Step::Key(key) => Ok(Entry::Pair(key, Node::new(branch.into_value()?))),
                    Step::Index(_) => Err(ambiguous()),
                });
                Ok(Value::Map(entries.collect::<Result<_, _>>()?))
            }
            (Some(_), Some(_)) => Err(ambiguous()),
        }
    }
}

/// Takes `age__list_0__map_enc` apart.
fn steps(key: &str) -> Result<Vec<Step>, Error> {
    let mut steps = Vec::new();
    for (depth, part) in key.split(MAP).enumerate() {
        let mut names = part.split(LIST);
        let name = names.next().unwrap_or_default();
        // Between `__list_0` and `__map_` there is nothing that could be a name.
        if depth == 0 || !name.is_empty() {
            steps.push(Step::Key(name.to_owned()));
        }
        for index in names {
            steps.push(Step::Index(index.parse().map_err(|_| ambiguous())?));
        }
    }
    if steps.len() > DEEPEST { Err(ambiguous()) } else { Ok(steps) }
}

fn ambiguous() -> Error {
    Error::Metadata("its lines do not fit together".to_owned())
}

pub(super) const PREFIX: &str = "sops_";
const MAP: &str = "__map_";
const LIST: &str = "__list_";

/// Metadata has at most a list of groups with a list of keys with fields of maps.
const DEEPEST: usize = 16;

#[cfg(test)]
mod tests {
    use talos_config::Coded;

    use super::*;

    #[test]
    fn what_is_flattened_can_be_put_together() {
        let flat = "sops_age__list_0__map_enc=a\\nb\nsops_age__list_0__map_recipient=r\n\
                    sops_age__list_1__map_enc=c\nsops_mac=m\n";
        let map = unflatten(read(flat).unwrap()).unwrap();
        assert_eq!(write(&flatten(&map)).unwrap(), flat);
    }

    #[test]
    fn lines_that_do_not_fit_together_are_refused() {
        for flat in [
            "sops_a=1\nsops_a=2",
            "sops_a=1\nsops_a__map_b=2",
            "sops_a__list_1=1",
            "sops_a__list_0=1\nsops_a__map_b=1",
            "sops_a__list_x=1",
            "sops_a__list_99999999999999999999=1",
        ] {
            assert_eq!(
                unflatten(read(flat).unwrap()).err().unwrap().code(),
                "sops.metadata",
                "{flat}"
            );
        }
    }

    #[test]
    fn a_line_that_is_nothing_is_refused_without_repeating_it() {
        let error = read("A=1\nsecret words").err().unwrap();
        assert_eq!((error.code(), error.line()), ("sops.syntax", Some(2)));
        assert!(!error.to_string().contains("secret"));
    }
}
