//! Where the keys of a talconfig stand.
//!
//! Values carry their locations, from the file through all the texts that talhelper makes of it
//! ([`text::relocate`]). What else is needed for people is here: the name of the file, and which texts begin on the line
//! after their key.

use std::collections::BTreeSet;

use talos_config::yaml::{Content, Node, Style};
use talos_config::{Data, FileLocation, Location, SourceId, Value};

use crate::door::load::Talconfig;
use crate::door::text;

/// A talconfig as it was written; empty where errors are in talhelper's words, which name no locations.
#[derive(Clone, Default)]
pub(crate) struct SourceText {
    file: String,
    /// The locations of texts that are written with `|`.
    literals: BTreeSet<Location>,
}

impl SourceText {
    pub(crate) fn new(file: &str, root: &Node) -> Self {
        fn collect(node: &Node, literals: &mut BTreeSet<Location>) {
            match &node.content {
                // Through an alias a text is somewhere else than its lines.
                _ if node.alias.is_some() => {}
                Content::Scalar { style: Style::Literal, .. } => {
                    literals.insert(node.origin);
                }
                Content::Scalar { .. } => {}
                Content::Sequence(items) => items.iter().for_each(|item| collect(item, literals)),
                Content::Mapping(entries) => {
                    for (_, value) in entries {
                        collect(value, literals);
                    }
                }
            }
        }
        let mut literals = BTreeSet::new();
        collect(root, &mut literals);
        Self { file: file.to_owned(), literals }
    }

    /// Returns true if values have locations.
    pub(crate) fn is_known(&self) -> bool {
        !self.file.is_empty()
    }

    /// Returns a location in the file for messages.
    pub(crate) fn place(&self, origin: Location) -> Option<FileLocation> {
        let Location { line, column, .. } = origin;
        self.is_known().then(|| FileLocation { file: self.file.clone(), line, column })
    }
}

impl Talconfig {
    /// Returns the location of a key such as `nodes[0].patches[1]`.
    pub(crate) fn origin(&self, path: &str) -> Option<Location> {
        self.find(path).map(|value| value.origin).filter(|origin| origin.line > 0)
    }

    /// Returns the location of a key, or of the nearest key above it.
    pub(crate) fn nearest_origin(&self, path: &str, source: SourceId) -> Location {
        let mut path = path;
        loop {
            if let Some(origin) = self.origin(path) {
                return Location { source, ..origin };
            }
            let Some(at) = path.rfind(['.', '[']) else { return Location::default() };
            path = &path[..at];
        }
    }

    /// Returns the location of a key for people: `talconfig.yaml:12 (nodes[0].installDisk)`. If the
    /// machine does not set the key, its group does.
    pub(crate) fn key_location(&self, path: &str, group: &str) -> String {
        let file = &self.source_text.file;
        let of_group = || {
            let (node, key) = path.split_once("].")?;
            node.starts_with("nodes[").then(|| format!("{group}.{key}"))
        };
        let paths = [Some(path.to_owned()), of_group()];
        for path in paths.into_iter().flatten() {
            if let Some(origin) = self.origin(&path) {
                return format!("{file}:{} ({path})", origin.line);
            }
        }
        format!("{file} (default of {})", path.rsplit('.').next().unwrap_or(path))
    }

    /// Returns the text of a key for plans, with a map of its lines to those of the file.
    pub(crate) fn plan_text(&self, path: &str, lines: usize) -> plan::LayerSource {
        let SourceText { file, literals } = &self.source_text;
        let lines = self.origin(path).map_or_else(Vec::new, |origin| {
            if literals.contains(&origin) {
                let count = u32::try_from(lines).unwrap_or(u32::MAX);
                // The text begins on the line after the `|`.
                (1..=count).map(|line| origin.line.saturating_add(line)).collect()
            } else {
                vec![origin.line; lines]
            }
        });
        plan::LayerSource { file: file.clone(), key: path.to_owned(), lines }
    }

    fn find(&self, path: &str) -> Option<&Value> {
        let mut value = &self.cluster;
        for part in path.split(['.', '[']) {
            value = match (part.strip_suffix(']'), &value.data) {
                (Some(index), Data::List(items)) => items.get(index.parse::<usize>().ok()?)?,
                (None, Data::Map(map)) => map.get(part)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

/// Maps the lines of a rewritten text to those of the original.
pub(crate) fn line_map(original: &str, anew: &str) -> Vec<u32> {
    let (Ok(original), Ok(anew_documents)) = (text::parse(original), text::parse(anew)) else {
        return Vec::new();
    };
    let mut lines = vec![0; anew.lines().count()];
    for (original, anew) in original.iter().zip(&anew_documents) {
        pair(&original.root, &anew.root, &mut lines);
    }
    // A line without a key belongs to the key above it.
    let mut last = 0;
    for line in &mut lines {
        last = if *line == 0 { last.max(1) } else { *line };
        *line = last;
    }
    lines
}

fn pair(original: &Node, anew: &Node, lines: &mut [u32]) {
    match (&original.content, &anew.content) {
        (Content::Mapping(before), Content::Mapping(after)) => {
            for (key, value) in after {
                let Some((name, _)) = key.scalar() else { continue };
                // `$$` is an escaped dollar sign.
                let same = before.iter().find(|(other, _)| {
                    other.scalar().is_some_and(|(other, _)| other.replace("$$", "$") == name)
                });
                if let Some((other, before)) = same {
                    note(key.origin.line, other.origin.line, lines);
                    pair(before, value, lines);
                }
            }
        }
        (Content::Sequence(before), Content::Sequence(after)) => {
            for (before, after) in before.iter().zip(after) {
                note(after.origin.line, before.origin.line, lines);
                pair(before, after, lines);
            }
        }
        (Content::Scalar { style: Style::Literal, .. }, Content::Scalar { text, .. }) => {
            for line in 1..=u32::try_from(text.lines().count()).unwrap_or(0) {
                note(anew.origin.line + line, original.origin.line + line, lines);
            }
        }
        _ => note(anew.origin.line, original.origin.line, lines),
    }
}

/// Records the original line of a line, unless it is known already.
fn note(anew: u32, original: u32, lines: &mut [u32]) {
    let at = usize::try_from(anew).ok().and_then(|line| line.checked_sub(1));
    if let Some(line) = at.and_then(|at| lines.get_mut(at)).filter(|line| **line == 0) {
        *line = original;
    }
}

#[cfg(test)]
mod tests {
    use talos_config::Confidential;

    use super::*;
    use crate::door::decode;
    use crate::door::environment::Environment;
    use crate::door::schema::TALCONFIG;

    const TEXT: &str = "\
# Comment
clusterName: c1
base: &base
  installDisk: /dev/sda
nodes:
  - <<: *base
    hostname: ${NAME}
    patches:
      - |
        machine:
          sysctls: {a: b}
worker:
  nameservers: [1.1.1.1]
";

    #[test]
    fn values_carry_their_locations_through_every_text() {
        let environment = Environment::from_iter([("NAME".to_owned(), "n1".to_owned())]);
        let documents = text::parse(TEXT).expect("YAML");
        let root = &documents[0].root;
        let substituted = text::substitute_documents(&documents, &environment).expect("a text");
        let (text, tree) = text::absolutize_paths(
            text::parse(&substituted).expect("YAML"),
            Some(root),
            &str::to_owned,
        )
        .expect("a text");
        let confidential = Confidential::default();
        let cluster =
            decode::object(&text, &TALCONFIG, Some(&tree), &confidential).expect("a talconfig");
        let talconfig = Talconfig {
            cluster,
            source_text: SourceText::new("talconfig.yaml", root),
            encrypted: Confidential::default(),
            nodes: Vec::new(),
            warnings: Vec::new(),
        };
        let line = |path: &str| talconfig.origin(path).map(|origin| origin.line);
        assert_eq!(line("clusterName"), Some(2));
        assert_eq!(line("nodes[0].hostname"), Some(7));
        assert_eq!(line("nodes[0].installDisk"), Some(4));
        assert_eq!(line("nodes[1]"), None);
        assert_eq!(talconfig.nearest_origin("nodes[0].ipAddress", SourceId(3)).line, 6);
        assert_eq!(talconfig.plan_text("nodes[0].patches[0]", 2).lines, [10, 11]);
        assert_eq!(
            talconfig.key_location("nodes[0].nameservers", "worker"),
            "talconfig.yaml:13 (worker.nameservers)"
        );
    }

    #[test]
    fn what_was_laid_out_anew_is_found_in_the_original() {
        let original =
            "# a\nmachine:\n\n  # b\n  sysctls:\n    x: ${Y}\n  files:\n    - path: /a\n";
        let anew = "machine:\n  sysctls:\n    x: \"1\"\n  files:\n    - path: /a\n";
        assert_eq!(line_map(original, anew), [2, 5, 6, 7, 8]);
    }
}
