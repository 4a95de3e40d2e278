//! Adds entries to the list of machines in a file, which otherwise stays byte for byte.
//!
//! In: the text of the file, the path of its list, an entry. Out: the text with the entry at the end of the list, or
//! why there is no place for it.

use talos_config::SourceId;
use talos_config::yaml::{self, Content, Limits, Node};

/// The key of the list, and the keys of an entry that differ from those of every other.
pub(super) struct EntryList {
    pub(super) path: &'static [&'static str],
    pub(super) unique: &'static [&'static str],
}

impl EntryList {
    /// Adds an entry that is written as an item of the list.
    pub(super) fn add(&self, text: &str, entry: &str) -> Result<String, String> {
        let root = parse(text)?;
        let added = parse(entry)?;
        let Some(added) = items(Some(&added)).first() else {
            return Err("this is not an entry".to_owned());
        };
        let list = self.path.iter().try_fold(&root, |node, step| match &node.content {
            // Of several pools, only a person knows which one is meant.
            Content::Sequence(items) if *step == ONLY && items.len() == 1 => items.first(),
            _ => node.get(step),
        });
        for other in items(list) {
            for key in self.unique {
                let value = |node: &Node| Some(node.get(key)?.scalar()?.0.to_owned());
                if let (Some(known), Some(own)) = (value(other), value(added))
                    && known == own
                {
                    let line = other.origin.line;
                    return Err(format!("the entry on line {line} has {key} {known} already"));
                }
            }
        }
        let new = match list {
            Some(list) => below(text, list, entry)?,
            None if self.path.len() == 1 => {
                let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
                format!("{text}{end}{}:\n{entry}", self.path[0])
            }
            None => return Err(format!("it has no list {}", self.path.join("."))),
        };
        // Whatever the layout of the file was: it must have one entry more and say nothing else.
        let again = parse(&new)?;
        let found = self.path.iter().try_fold(&again, |node, step| match &node.content {
            Content::Sequence(items) => items.first(),
            _ => node.get(step),
        });
        if items(found).len() != items(list).len() + 1 {
            return Err("its layout is not understood".to_owned());
        }
        Ok(new)
    }
}

/// The step of a path into a list of one.
pub(super) const ONLY: &str = "[]";

fn parse(text: &str) -> Result<Node, String> {
    let documents = yaml::parse(text, SourceId::default(), Limits::default());
    let documents = documents.map_err(|error| format!("line {}: {error}", error.origin.line))?;
    let root = documents.into_iter().next().map(|document| document.root);
    Ok(root.unwrap_or_else(|| Node::plain("null", talos_config::Location::default())))
}

fn items(list: Option<&Node>) -> &[Node] {
    match list.map(|list| &list.content) {
        Some(Content::Sequence(items)) => items,
        _ => &[],
    }
}

/// Writes an entry below those of a list.
fn below(text: &str, list: &Node, entry: &str) -> Result<String, String> {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let line_of = |node: &Node| usize::try_from(node.origin.line).unwrap_or_default();
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    match (&list.content, items(Some(list)).last()) {
        (Content::Sequence(_), None) => {
            // `nodes: []` becomes a list of lines.
            let at = line_of(list).saturating_sub(1);
            let line = lines.get(at).ok_or("its list is nowhere")?;
            let (before, after) =
                line.split_once("[]").ok_or("its list is not `[]` in one line")?;
            let new = format!(
                "{}{}\n{}",
                before.trim_end(),
                Some(after.trim())
                    .filter(|rest| !rest.is_empty())
                    .map_or(String::new(), |rest| format!(" {rest}")),
                shifted(entry, indent(line) + 2)
            );
            lines[at] = &new;
            Ok(lines.concat())
        }
        (Content::Sequence(_), Some(_)) if list.flow => {
            Err("its list is in brackets: write it as lines that begin with a dash".to_owned())
        }
        (Content::Sequence(items), Some(last)) => {
            let dash = items.first().and_then(|first| lines.get(line_of(first).checked_sub(1)?));
            let dash = indent(dash.ok_or("its list is nowhere")?);
            let start = line_of(last);
            let rest = lines.iter().skip(start);
            let length =
                rest.take_while(|line| line.trim().is_empty() || indent(line) > dash).count();
            // Blank lines and comments before the next key stay with it.
            let mut end = start + length;
            while end > start && lines[end - 1].trim().is_empty() {
                end -= 1;
            }
            let mut entry = shifted(entry, dash);
            if end > 0 && !lines[end - 1].ends_with('\n') {
                entry.insert(0, '\n');
            }
            lines.insert(end, &entry);
            Ok(lines.concat())
        }
        // `nodes:` with nothing in it.
        (Content::Scalar { .. }, _) => {
            let at = line_of(list);
            let line = lines.get(at.saturating_sub(1)).ok_or("its list is nowhere")?;
            let mut entry = shifted(entry, indent(line) + 2);
            if !line.ends_with('\n') {
                entry.insert(0, '\n');
            }
            lines.insert(at.min(lines.len()), &entry);
            Ok(lines.concat())
        }
        (Content::Mapping(_), _) => Err("its list is a mapping".to_owned()),
    }
}

/// Indents an entry, whose first line has the least blanks.
fn shifted(entry: &str, indent: usize) -> String {
    let own = entry.len() - entry.trim_start_matches(' ').len();
    let pad = " ".repeat(indent);
    let lines =
        entry.split_inclusive('\n').map(|line| format!("{pad}{}", &line[own.min(line.len())..]));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODES: EntryList = EntryList { path: &["nodes"], unique: &["name", "address"] };
    const ENTRY: &str = "  - name: w-2\n    address: \"10.0.0.22\"\n";

    #[test]
    fn entry_is_added_to_a_list() {
        for (before, after) in [
            ("", "nodes:\n  - name: w-2\n    address: \"10.0.0.22\"\n"),
            ("---\nnodes: []\n", "---\nnodes:\n  - name: w-2\n    address: \"10.0.0.22\"\n"),
            (
                "nodes: [] # none\nx: 1\n",
                "nodes: # none\n  - name: w-2\n    address: \"10.0.0.22\"\nx: 1\n",
            ),
            ("nodes:\nx: 1\n", "nodes:\n  - name: w-2\n    address: \"10.0.0.22\"\nx: 1\n"),
            (
                "# a\nnodes:\n- name: a # b\n  note: |\n    x\n\n# next\nx: 1\n",
                "# a\nnodes:\n- name: a # b\n  note: |\n    x\n- name: w-2\n  address: \"10.0.0.22\"\n\n# next\nx: 1\n",
            ),
            (
                "nodes:\n    - name: a",
                "nodes:\n    - name: a\n    - name: w-2\n      address: \"10.0.0.22\"\n",
            ),
        ] {
            assert_eq!(NODES.add(before, ENTRY).as_deref(), Ok(after), "{before}");
        }
    }

    #[test]
    fn entry_that_is_there_or_has_no_place_is_refused() {
        for (before, wrong) in [
            ("nodes:\n  - name: w-2\n", "the entry on line 2 has name w-2 already"),
            ("nodes:\n  - address: 10.0.0.22\n", "line 2 has address 10.0.0.22 already"),
            ("nodes: [{name: a}]\n", "its list is in brackets"),
            ("nodes: {}\n", "its list is a mapping"),
            ("\tnodes: []\n", "line 1: "),
        ] {
            let error = NODES.add(before, ENTRY).expect_err("an error");
            assert!(error.contains(wrong), "{before}: {error}");
        }
        let pools = EntryList { path: &["pools", ONLY, "machines"], unique: &["name"] };
        let two = "pools:\n  - machines: []\n  - machines: []\n";
        assert_eq!(pools.add(two, ENTRY), Err("it has no list pools.[].machines".to_owned()));
        let one = "pools:\n  - name: w\n    machines:\n      - {name: a}\n";
        let entry = "      - {name: b}\n";
        assert_eq!(pools.add(one, entry), Ok(format!("{one}{entry}")));
    }
}
