//! Kinds, keys and words that came with a later release: refused by the talosctl of an older one, and by us when we do
//! as it does. All of them, since the seeded cases of a release have none in them.

use std::fmt::Write;

use talos_config::Error;
use talos_config::kinds;
use talos_config::schema::{Field, Kind, Type};

use crate::patches::patched;
use crate::talosctl::{self, OLDER, Release};
use crate::validation::in_parallel;

#[test]
#[ignore = "level bytes: needs talosctl (cargo xtask test)"]
fn what_came_later_is_refused() {
    let cases: Vec<Case> = OLDER.iter().flat_map(|release| cases(*release)).collect();
    let wrong: Vec<String> = in_parallel(&cases, Case::problem).into_iter().flatten().collect();
    assert!(cases.len() > 130, "{}", cases.len());
    assert!(wrong.is_empty(), "{} of {} differ\n{}", wrong.len(), cases.len(), wrong.join("\n\n"));
}

/// A patch with one thing in it that the release does not know.
struct Case {
    release: Release,
    patch: String,
    /// What the release says about it, one of these.
    words: &'static [&'static str],
}

impl Case {
    fn problem(&self) -> Option<String> {
        let Self { release, patch, words } = self;
        let config = "machine: {type: worker}\n";
        let patch = std::slice::from_ref(patch);
        let theirs = talosctl::patch_with(*release, config, patch);
        let ours = patched(release.dialect, config, patch);
        let they_do =
            theirs.as_ref().is_err_and(|said| words.iter().any(|words| said.contains(words)));
        let came = |hint: &String| hint.starts_with("it came with Talos 1.");
        let we_do = matches!(&ours, Err(Error::Document(problems))
            if problems.len() == 1 && problems[0].hint.as_ref().is_some_and(came));
        let version = release.version;
        (!they_do || !we_do).then(|| format!("{version}\n{patch:?}\n{ours:?}\n{theirs:?}"))
    }
}

fn cases(release: Release) -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in kinds::ALL {
        if kind.since.is_known_to(release.dialect) {
            fields(release, kind, kind.fields, &mut Vec::new(), &mut cases);
        } else {
            cases.push(Case { release, patch: document(kind), words: &["not registered"] });
        }
    }
    cases
}

/// Puts one case for each key that the release does not know below a place.
fn fields(
    release: Release,
    kind: &Kind,
    of: &'static [Field],
    path: &mut Vec<Part>,
    cases: &mut Vec<Case>,
) {
    for field in of {
        if !field.key.is_empty() {
            path.push(Part::Key(field.key));
        }
        if field.since.is_some_and(|since| !since.is_known_to(release.dialect)) {
            let patch = document(kind) + &written(path, "null") + "\n";
            cases.push(Case { release, patch, words: &["unknown keys found"] });
        } else {
            below(release, kind, field.ty, path, cases);
        }
        if !field.key.is_empty() {
            path.pop();
        }
    }
}

fn below(release: Release, kind: &Kind, ty: Type, path: &mut Vec<Part>, cases: &mut Vec<Case>) {
    let (part, element) = match ty {
        Type::Choice(choice) => {
            let later =
                choice.words.iter().filter(|word| !choice.is_known_to(word, release.dialect));
            for word in later {
                let patch = document(kind) + &written(path, word) + "\n";
                cases.push(Case {
                    release,
                    patch,
                    words: &["does not belong to", "cannot unmarshal"],
                });
            }
            return;
        }
        Type::Object(of) | Type::WholeObject(of) | Type::Encryption(of) => {
            return fields(release, kind, of, path, cases);
        }
        Type::List(element) | Type::StrictList(element) | Type::KeyedList(element, ..) => {
            (Part::Element, element)
        }
        Type::Map(element) => (Part::Key("a"), element),
        _ => return,
    };
    path.push(part);
    below(release, kind, *element, path, cases);
    path.pop();
}

/// A part of a way to a value.
enum Part {
    Key(&'static str),
    Element,
}

/// What a document is recognised by.
fn document(kind: &Kind) -> String {
    if kind.name == kinds::V1ALPHA1.name {
        return String::new();
    }
    let name = if kind.named { "name: a\n" } else { "" };
    format!("apiVersion: v1alpha1\nkind: {}\n{name}", kind.name)
}

/// A way with a value at its end; every type takes null.
fn written(path: &[Part], value: &str) -> String {
    let mut text = String::new();
    let mut end = Vec::new();
    for (index, part) in path.iter().enumerate() {
        match part {
            Part::Key(key) if index == 0 => {
                let _ = write!(text, "{key}: ");
            }
            Part::Key(key) => {
                let _ = write!(text, "{{{key}: ");
                end.push('}');
            }
            Part::Element => {
                text.push('[');
                end.push(']');
            }
        }
    }
    text.push_str(value);
    text.extend(end.into_iter().rev());
    text
}
