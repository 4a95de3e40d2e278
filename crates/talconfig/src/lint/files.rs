//! Rules about files: missing ones and unused ones.

use std::collections::BTreeSet;

use super::directory::Directory;
use super::{FileLocation, Violation};
use crate::door::dotenv;
use crate::door::load::RELEASES;
use crate::door::sops_files;

/// Without secrets every run makes new ones, and no machine knows the others.
pub(super) fn no_secrets(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let names = &directory.files.secret_files;
    if present(directory).is_empty() {
        let location = FileLocation { file: directory.files.cluster.clone(), line: 0, column: 0 };
        found.push(Violation::new(
            location,
            format!("there are no secrets: none of {} exists", names.join(", ")),
            format!(
                "`ichor gen secrets -o {}` makes them; without them talhelper makes new ones in every run, which \
                 fit no machine of before",
                names.first().map_or("secrets.yaml", String::as_str)
            ),
        ));
    }
}

/// Of several files only one counts.
pub(super) fn several_secrets(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let present = present(directory);
    let Some((last, others)) = present.split_last() else { return };
    for other in others {
        found.push(Violation::new(
            whole(other),
            format!("these secrets are not used: {last} is there too"),
            "remove the one that is not the cluster's",
        ));
    }
}

/// One line that cannot be read, and a whole file sets nothing.
pub(super) fn env_file(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for (file, text) in env_texts(directory) {
        if let Err(error) = dotenv::parse(&text) {
            let line = u32::try_from(error.line).unwrap_or_default();
            found.push(Violation::new(
                FileLocation { file, line, column: 1 },
                format!("nothing in this file is loaded: {}", error.problem),
                "env files are lines of NAME: value, without lists, blocks, quoted names or dashes in names",
            ));
        }
    }
}

/// A variable that no file refers to.
pub(super) fn unused_variable(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let mut texts = vec![directory.text.clone()];
    let named = directory.references.iter().map(|reference| &reference.path);
    let bare = directory.patches.iter().filter_map(|patch| patch.path.as_ref());
    let secrets = directory.files.secret_files.iter();
    for path in named.chain(bare).chain(secrets).collect::<BTreeSet<_>>() {
        let bytes = directory.host.read(path).unwrap_or_default();
        texts.push(String::from_utf8_lossy(&bytes).into_owned());
    }
    for (file, text) in env_texts(directory) {
        let Ok(variables) = dotenv::parse(&text) else { continue };
        // These count without being referred to.
        let counts = |name: &str| name.starts_with("SOPS_") || RELEASES.contains(&name);
        for name in variables.keys().filter(|name| !counts(name)) {
            let line = text.lines().position(|line| line.trim_start().starts_with(name.as_str()));
            let line = line.and_then(|line| u32::try_from(line + 1).ok()).unwrap_or_default();
            let here = text.lines().filter(|line| line.contains(name.as_str())).count() > 1;
            if !here && !texts.iter().any(|text| text.contains(name.as_str())) {
                found.push(Violation::new(
                    FileLocation { file: file.clone(), line, column: 1 },
                    format!("{name} is set and never used"),
                    format!("write ${{{name}}} where its value belongs, or remove it"),
                ));
            }
        }
    }
}

/// A reference to a missing file.
pub(super) fn missing(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for reference in &directory.references {
        if directory.host.stat(&reference.path).is_err() {
            found.push(Violation::new(
                reference.location.clone(),
                format!("there is no file {}", reference.name),
                format!("paths begin at {}", directory.files.cluster),
            ));
        }
    }
}

/// A patch file without a reference.
pub(super) fn unused_patch(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let named = directory.references.iter().map(|reference| &reference.path);
    let bare = directory.patches.iter().filter_map(|patch| patch.path.as_ref());
    let used: BTreeSet<&String> = named.chain(bare).collect();
    for file in &directory.files.patches {
        if !used.contains(&directory.host.absolute(file)) {
            found.push(Violation::new(
                whole(file),
                "no machine uses this file",
                format!("name it under patches in {}, or remove it", directory.files.cluster),
            ));
        }
    }
}

fn whole(file: &str) -> FileLocation {
    FileLocation { file: file.to_owned(), line: 0, column: 0 }
}

fn present<'a>(directory: &'a Directory<'_>) -> Vec<&'a String> {
    let files = directory.files.secret_files.iter();
    files.filter(|file| directory.host.stat(file).is_ok()).collect()
}

/// Returns the existing env files, decrypted and without separators.
fn env_texts(directory: &Directory<'_>) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for file in &directory.files.env_files {
        let Ok(bytes) = directory.host.read(file) else { continue };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // A file that cannot be decrypted is an error that is reported elsewhere.
        let opened = sops_files::decrypt_yaml(text, file, &directory.environment, directory.host);
        let Ok(opened) = opened else { continue };
        texts.push((file.clone(), dotenv::without_separators(&opened.text)));
    }
    texts
}
