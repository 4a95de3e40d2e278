//! The source text of a talconfig, as a map from keys to lines.
//!
//! A talconfig is rewritten several times on the way to machine configuration, and its lines get
//! lost. Here they are found again by the paths of keys.

use std::sync::OnceLock;

use talos_config::yaml::{Content, Node, Style};
use talos_config::{Location, SourceId};

use crate::door::text;

/// A talconfig as it was written.
#[derive(Clone, Default)]
pub(crate) struct SourceText {
    file: String,
    text: String,
    /// Parsed on first use, since most commands never need a location.
    root: OnceLock<Option<Node>>,
}

impl SourceText {
    /// Takes the text of a file. Text that is not YAML has no locations.
    pub(crate) fn new(file: &str, text: &str) -> Self {
        Self { file: file.to_owned(), text: text.to_owned(), root: OnceLock::new() }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Returns the location of a key such as `nodes[0].patches[1]`.
    pub(crate) fn origin(&self, path: &str) -> Option<Location> {
        self.find(path).map(|node| node.alias.unwrap_or(node.origin))
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
        let of_group = || {
            let (node, key) = path.split_once("].")?;
            node.starts_with("nodes[").then(|| format!("{group}.{key}"))
        };
        let paths = [Some(path.to_owned()), of_group()];
        for path in paths.into_iter().flatten() {
            if let Some(origin) = self.origin(&path) {
                return format!("{}:{} ({path})", self.file, origin.line);
            }
        }
        format!("{} (default of {})", self.file, path.rsplit('.').next().unwrap_or(path))
    }

    /// Returns the text of a key for plans, with a map of its lines to those of the file.
    pub(crate) fn plan_text(&self, path: &str, lines: usize) -> plan::LayerSource {
        let lines = self.find(path).map_or_else(Vec::new, |node| {
            let first = node.origin.line;
            let count = u32::try_from(lines).unwrap_or(u32::MAX);
            match (node.alias, node.scalar()) {
                // The text begins on the line after the `|`.
                (None, Some((_, Style::Literal))) => {
                    (1..=count).map(|line| first.saturating_add(line)).collect()
                }
                (alias, _) => vec![alias.map_or(first, |alias| alias.line); lines],
            }
        });
        plan::LayerSource { file: self.file.clone(), key: path.to_owned(), lines }
    }

    /// Returns the path of the key on a line, as far as it can be told.
    pub(crate) fn key_at(&self, line: u32) -> Option<String> {
        fn below(node: &Node, path: &str, line: u32, found: &mut Option<String>) {
            match &node.content {
                Content::Scalar { .. } => {}
                Content::Sequence(items) => {
                    for (index, item) in items.iter().enumerate() {
                        let path = format!("{path}[{index}]");
                        if item.origin.line == line {
                            found.get_or_insert_with(|| path.clone());
                        }
                        below(item, &path, line, found);
                    }
                }
                Content::Mapping(entries) => {
                    for (key, value) in entries {
                        let Some((name, _)) = key.scalar() else { continue };
                        let path = if path.is_empty() {
                            name.to_owned()
                        } else {
                            format!("{path}.{name}")
                        };
                        if key.origin.line == line || value.origin.line == line {
                            *found = Some(path.clone());
                        }
                        below(value, &path, line, found);
                    }
                }
            }
        }
        let mut found = None;
        below(self.root()?, "", line, &mut found);
        found
    }

    fn root(&self) -> Option<&Node> {
        let read = || {
            let documents = text::parse(&self.text).unwrap_or_default();
            documents.into_iter().next().map(|document| document.root)
        };
        self.root.get_or_init(read).as_ref()
    }

    fn find(&self, path: &str) -> Option<&Node> {
        let mut node = self.root()?;
        for part in path.split(['.', '[']) {
            node = match (part.strip_suffix(']'), &node.content) {
                (Some(index), Content::Sequence(items)) => {
                    items.get(index.parse::<usize>().ok()?)?
                }
                (None, Content::Mapping(entries)) => {
                    let entries = text::merged(entries);
                    let named = |(key, _): &&(&Node, &Node)| {
                        key.scalar().is_some_and(|(key, _)| key == part)
                    };
                    entries.iter().find(named).map(|(_, value)| *value)?
                }
                _ => return None,
            };
        }
        Some(node)
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
    use super::*;

    const TEXT: &str = "\
# Comment
clusterName: c1
base: &base
  installDisk: /dev/sda
nodes:
  - <<: *base
    hostname: n1
    patches:
      - |
        machine:
          sysctls: {a: b}
";

    #[test]
    fn keys_are_found_where_they_stand() {
        let original = SourceText::new("talconfig.yaml", TEXT);
        let line = |path: &str| original.origin(path).map(|origin| origin.line);
        assert_eq!(line("clusterName"), Some(2));
        assert_eq!(line("nodes[0].hostname"), Some(7));
        assert_eq!(line("nodes[0].installDisk"), Some(4));
        assert_eq!(line("nodes[1]"), None);
        assert_eq!(original.nearest_origin("nodes[0].ipAddress", SourceId(3)).line, 6);
        assert_eq!(original.plan_text("nodes[0].patches[0]", 2).lines, [10, 11]);
        assert_eq!(original.key_at(7).as_deref(), Some("nodes[0].hostname"));
    }

    #[test]
    fn what_was_laid_out_anew_is_found_in_the_original() {
        let original =
            "# a\nmachine:\n\n  # b\n  sysctls:\n    x: ${Y}\n  files:\n    - path: /a\n";
        let anew = "machine:\n  sysctls:\n    x: \"1\"\n  files:\n    - path: /a\n";
        assert_eq!(line_map(original, anew), [2, 5, 6, 7, 8]);
    }
}
