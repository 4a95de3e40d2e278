//! Rules about patches.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use talos_config::yaml::{Content, Node};
use talos_config::{Coded, Error, Location};

use super::Violation;
use super::directory::{Directory, NamedPatch, PatchText, entries, key_text, word};
use crate::door::text;

/// A patch that cannot be read: a misspelt key, most of the time.
pub(super) fn broken(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for patch in &directory.patches {
        if let PatchText::Unusable(detail) = &patch.content {
            let hint = detail.hint.clone().unwrap_or_else(|| "look at this file".to_owned());
            found.push(Violation::new(patch.at(Location::default()), &detail.message, hint));
        }
        let Some(Err(error)) = patch.parsed() else { continue };
        let general = || error.hint().unwrap_or(Cow::Borrowed(PATCH_HINT)).into_owned();
        let problems = match &error {
            Error::Document(problems) => problems.as_slice(),
            other => {
                let origin = other.origin().unwrap_or_default();
                found.push(Violation::new(patch.at(origin), other.to_string(), general()));
                continue;
            }
        };
        for problem in problems {
            let hint = problem.hint.clone().unwrap_or_else(general);
            let location = patch.at(problem.location.unwrap_or_default());
            found.push(Violation::new(location, &problem.message, hint));
        }
    }
}

/// A patch that says nothing.
pub(super) fn empty(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for patch in &directory.patches {
        if matches!(patch.content, PatchText::Empty) {
            found.push(Violation::new(
                patch.location.clone(),
                format!("{} is empty", patch.name()),
                "remove it from the list",
            ));
        }
    }
}

/// RFC 6902 operations need a configuration of one document, and there are several.
pub(super) fn operations(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for machine in &directory.machines {
        let several = directory.since(12) || machine.documents;
        for patch in machine.patches.iter().filter_map(|index| directory.patches.get(*index)) {
            let is_list = patch.parsed().is_some_and(|it| it.is_ok_and(|it| it.is_operations()));
            if several && is_list {
                let why = if directory.since(12) {
                    "configuration of Talos 1.12 and later always has several documents"
                } else {
                    "this machine's configuration has several documents"
                };
                found.push(Violation::new(
                    patch.location.clone(),
                    format!("{} is a list of RFC 6902 operations: {why}", patch.name()),
                    "write it as a strategic merge patch; `$patch: delete` takes a part away",
                ));
            }
        }
    }
}

/// A file that is named without `@` is read as it is.
pub(super) fn bare_file(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for patch in directory.patches.iter().filter(|patch| patch.bare) {
        found.push(Violation::new(
            patch.location.clone(),
            "this is taken for the name of a file in the working directory, whose variables and templates stay \
             as they are",
            "put @ in front of it",
        ));
    }
}

/// A file that is applied twice to one machine.
pub(super) fn twice(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for machine in &directory.machines {
        let mut seen: BTreeMap<&str, &NamedPatch> = BTreeMap::new();
        for patch in machine.patches.iter().filter_map(|index| directory.patches.get(*index)) {
            let Some(path) = patch.path.as_deref() else { continue };
            if let Some(first) = seen.insert(path, patch) {
                let name = patch.name();
                found.push(Violation::new(
                    patch.location.clone(),
                    format!(
                        "{name} is applied to a machine twice: line {} names it",
                        first.location.line
                    ),
                    "lists get their entries twice that way: name it once",
                ));
            }
        }
    }
}

/// A machine's own patch whose value a patch for all machines overwrites.
pub(super) fn overruled(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let leaves: Vec<_> = directory.patches.iter().map(leaves).collect();
    for machine in &directory.machines {
        let (own, all) = machine.patches.split_at(machine.own.min(machine.patches.len()));
        let later: BTreeSet<(&String, &String, usize)> = all
            .iter()
            .flat_map(|index| {
                leaves[*index].iter().map(move |(path, (_, value))| (path, value, *index))
            })
            .collect();
        for index in own {
            for (path, (origin, value)) in &leaves[*index] {
                let winner = later.iter().find(|(other, set, _)| *other == path && *set != value);
                let Some((_, _, winner)) = winner else { continue };
                let winner = &directory.patches[*winner];
                found.push(Violation::new(
                    directory.patches[*index].at(*origin),
                    format!("{path} is set here, and {} sets it to something else", winner.name()),
                    "patches for all machines are applied last: take it out of there, or move it to the groups",
                ));
            }
        }
    }
}

/// Returns the single values that a patch sets, by their paths.
fn leaves(patch: &NamedPatch) -> BTreeMap<String, (Location, String)> {
    let mut leaves = BTreeMap::new();
    let PatchText::Text(text) = &patch.content else { return leaves };
    for document in text::parse(text).unwrap_or_default() {
        let root = &document.root;
        let kind = word(root.get("kind"));
        let name = word(root.get("name"));
        let id = [kind, name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        for (key, value) in entries(root) {
            if !["apiVersion", "kind", "name", "version"].contains(&key_text(key)) {
                let path = [id.join("/").as_str(), key_text(key)].join(".");
                collect(path.trim_start_matches('.'), value, &mut leaves);
            }
        }
    }
    leaves
}

fn collect(path: &str, node: &Node, leaves: &mut BTreeMap<String, (Location, String)>) {
    match &node.content {
        Content::Scalar { text, .. } => {
            leaves.insert(path.to_owned(), (node.origin, text.to_string()));
        }
        Content::Mapping(entries) => {
            for (key, value) in entries {
                collect(&format!("{path}.{}", key_text(key)), value, leaves);
            }
        }
        // Lists are added to, most of them.
        Content::Sequence(_) => {}
    }
}

const PATCH_HINT: &str = "a patch is a part of machine configuration";
