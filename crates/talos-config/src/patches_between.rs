//! Patches that turn one configuration into another.
//!
//! Two are enough: the first takes away what is not wanted, and lists that differ, since merging would add to them; the
//! second puts what is wanted in its place. Fields that are the same are in neither.

use std::borrow::Cow;

use crate::config::{Config, Document};
use crate::encode::Secrets;
use crate::secret::Secret;
use crate::yaml::{Dialect, Tree, emit};

/// Returns the texts of the patches, to be applied in their order; none where nothing differs. They hold secrets
/// where these differ.
pub fn patches_between(from: &Config, to: &Config) -> Vec<Secret<String>> {
    let (before, after): (Vec<_>, Vec<_>) = (from.in_order().collect(), to.in_order().collect());
    // Documents have an order. Behind the first that differs all are made anew.
    let same = before.iter().zip(&after).take_while(|(one, other)| one.id() == other.id()).count();
    let (mut taken, mut put) = (Vec::new(), Vec::new());
    for (one, other) in before.iter().zip(&after).take(same) {
        let Sides { take, put: set } = sides(fields(one), fields(other));
        if !take.is_empty() {
            taken.push(Tree::Map(head(one, take)));
        }
        if !set.is_empty() {
            put.push(Tree::Map(head(one, set)));
        }
    }
    let gone = before[same..].iter();
    taken.extend(gone.map(|one| Tree::Map(head(one, vec![(PATCH.into(), delete_word())]))));
    put.extend(after[same..].iter().map(|other| other.tree(Secrets::Shown, Dialect::default())));
    let patches = [taken, put].into_iter().filter(|documents| !documents.is_empty());
    patches.map(|documents| Secret::new(text(&documents))).collect()
}

/// The removals and the additions of one object.
#[derive(Default)]
struct Sides<'a> {
    take: Entries<'a>,
    put: Entries<'a>,
}

type Entries<'a> = Vec<(Cow<'a, str>, Tree<'a>)>;

fn sides<'a>(from: Entries<'a>, to: Entries<'a>) -> Sides<'a> {
    let mut sides = Sides::default();
    let mut wanted = to;
    for (key, before) in from {
        let Some(at) = wanted.iter().position(|(other, _)| *other == key) else {
            sides.take.push((key, delete()));
            continue;
        };
        let (_, after) = wanted.remove(at);
        match (before, after) {
            (before, after) if before == after => {}
            (Tree::Map(before), Tree::Map(after)) => {
                let Sides { take, put } = self::sides(before, after);
                if !take.is_empty() {
                    sides.take.push((key.clone(), Tree::Map(take)));
                }
                if !put.is_empty() {
                    sides.put.push((key, Tree::Map(put)));
                }
            }
            (before, after) => {
                // Merging adds to lists, and a scalar is no map.
                if !is_scalar(&before) || !is_scalar(&after) {
                    sides.take.push((key.clone(), delete()));
                }
                sides.put.push((key, after));
            }
        }
    }
    sides.put.extend(wanted);
    sides
}

fn is_scalar(tree: &Tree<'_>) -> bool {
    matches!(tree, Tree::Text(_) | Tree::Argument(_) | Tree::Verbatim(_))
}

/// The fields of a document, without what it is recognised by.
fn fields(document: &Document) -> Entries<'_> {
    let Tree::Map(mut entries) = document.tree(Secrets::Shown, Dialect::default()) else {
        return Vec::new();
    };
    entries.retain(|(key, _)| !identifies(document, key));
    entries
}

/// Entries behind what a document is recognised by.
fn head<'a>(document: &'a Document, entries: Entries<'a>) -> Entries<'a> {
    let Tree::Map(mut head) = document.tree(Secrets::Shown, Dialect::default()) else {
        return entries;
    };
    head.retain(|(key, _)| identifies(document, key));
    head.extend(entries);
    head
}

fn identifies(document: &Document, key: &str) -> bool {
    let known =
        ["apiVersion", "kind"].contains(&key) || key == "name" && !document.name().is_empty();
    known && !document.is_v1alpha1()
}

fn delete<'a>() -> Tree<'a> {
    Tree::Map(vec![(PATCH.into(), delete_word())])
}

fn delete_word<'a>() -> Tree<'a> {
    Tree::Text("delete".into())
}

fn text(documents: &[Tree<'_>]) -> String {
    let mut text = String::new();
    for (index, document) in documents.iter().enumerate() {
        if index > 0 {
            text.push_str("---\n");
        }
        emit(document, Dialect::default(), &mut text);
    }
    text
}

const PATCH: &str = "$patch";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Patch, Patched, SourceId};

    #[test]
    fn what_is_turned_is_what_was_wanted() {
        let texts = [
            "machine:\n  type: worker\n  certSANs: [a, b]\n  sysctls: {x: \"1\", y: \"2\"}\n",
            "machine:\n  type: worker\n  certSANs: [b]\n  sysctls: {y: \"3\", z: \" 4\"}\n  kubelet:\n    \
             extraArgs: {v: \"2\"}\n",
            "machine:\n  type: worker\n---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: a\n---\n\
             apiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\nup: true\naddresses:\n  - address: 10.0.0.1/24\n",
            "machine:\n  type: worker\n---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth0\naddresses:\n  \
             - address: 10.0.0.2/24\n---\napiVersion: v1alpha1\nkind: LinkConfig\nname: eth1\nup: true\n",
        ];
        let configs = texts.map(|text| Config::parse(text, SourceId::default()).unwrap());
        for from in &configs {
            for to in &configs {
                let mut patched = Patched::from(from.clone());
                for patch in patches_between(from, to) {
                    let patch = Patch::parse(patch.expose(), SourceId::default()).unwrap();
                    patched = patched.apply(&patch, Dialect::default()).unwrap();
                }
                let turned = patched.into_config().unwrap();
                let wanted = to.encode(Dialect::default());
                assert_eq!(turned.encode(Dialect::default()).expose(), wanted.expose());
            }
            assert!(patches_between(from, from).is_empty());
        }
    }
}
