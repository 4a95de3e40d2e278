//! Rules about files: missing ones and unused ones.

use std::collections::{BTreeMap, BTreeSet};

use talos_config::yaml::Content;

use super::directory::Directory;
use super::{FileLocation, Files, Violation};
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
                "restore them from your backup; only for a cluster that does not exist yet: `ichor gen secrets -o {}`",
                names.first().map_or("secrets.yaml", String::as_str)
            ),
        ));
    }
}

/// Of several files of a talconfig only one counts; in a native directory they are refused.
pub(super) fn several_secrets(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let present = present(directory);
    let Some((last, others)) = present.split_last() else { return };
    for other in others {
        let message = if directory.is_native {
            format!("no command chooses between these secrets and {last}")
        } else {
            format!("these secrets are not used: {last} is there too")
        };
        let hint = "move the one that is not the cluster's away";
        found.push(Violation::new(whole(other), message, hint));
    }
}

/// Secrets in clear that others on this computer may read.
pub(super) fn open_secrets(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    for file in present(directory) {
        if directory.host.is_open(file) && !is_encrypted(directory, file) {
            found.push(Violation::new(
                whole(file),
                "others may read the secrets in this file",
                format!("run `chmod 600 {file}`, or encrypt it with SOPS"),
            ));
        }
    }
}

/// A file whose name promises what its content does not keep.
pub(super) fn not_encrypted(directory: &Directory<'_>, found: &mut Vec<Violation>) {
    let Files { env_files, secret_files, patches, .. } = directory.files;
    let has_sops_name = |file: &&String| {
        let name = file.rsplit('/').next().unwrap_or_default();
        name.contains(".sops.")
    };
    for file in env_files.iter().chain(secret_files).chain(patches).filter(has_sops_name) {
        if directory.host.stat(file).is_ok() && !is_encrypted(directory, file) {
            found.push(Violation::new(
                whole(file),
                "the name says that this file is encrypted, and it is not",
                format!("run `sops --encrypt --in-place {file}`, and change the secrets if it was in Git"),
            ));
        }
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
    let used: BTreeSet<&str> = texts.iter().flat_map(|text| names(text)).collect();
    for (file, text) in env_texts(directory) {
        let Ok(variables) = dotenv::parse(&text) else { continue };
        // The file itself may use a variable beside the line that sets it.
        let mut lines: BTreeMap<&str, u32> = BTreeMap::new();
        for line in text.lines() {
            for name in names(line).collect::<BTreeSet<_>>() {
                *lines.entry(name).or_default() += 1;
            }
        }
        for (name, variable) in &variables {
            // These count without being referred to.
            let counts = name.starts_with("SOPS_") || RELEASES.contains(&name.as_str());
            let is_used = used.contains(name.as_str()) || lines.get(name.as_str()) > Some(&1);
            if !counts && !is_used {
                let line = u32::try_from(variable.line).unwrap_or_default();
                found.push(Violation::new(
                    FileLocation { file: file.clone(), line, column: 1 },
                    format!("{name} is set and never used"),
                    format!("write ${{{name}}} where its value belongs, or remove it"),
                ));
            }
        }
    }
}

/// Returns the words of a text that can be names of variables: a point may be a part of the name or stand behind it.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let words = text.split(move |c: char| !is_name(c) && c != '.');
    words.flat_map(move |word| {
        let parts = word.split('.').filter(move |_| word.contains('.'));
        std::iter::once(word).chain(parts)
    })
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
    // What a file that is not YAML refers to is unknown.
    if !directory.is_native
        && matches!(&directory.root.content, Content::Mapping(entries) if entries.is_empty())
    {
        return;
    }
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

fn is_encrypted(directory: &Directory<'_>, file: &str) -> bool {
    let bytes = directory.host.read(file).unwrap_or_default();
    sops::is_encrypted(&String::from_utf8_lossy(&bytes), sops::Format::Yaml)
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
