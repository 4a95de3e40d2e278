//! Finds the cluster directory, and the kind of file that describes its cluster.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use engine::bounded_file;
use talos_config::yaml::{self, Limits};
use talos_config::{Coded, Diagnostic, SourceId};

use super::{FILE, TALCONFIG};
use crate::Error;
use crate::diagnostics::{DIRECTORY_AMBIGUOUS, DIRECTORY_MISSING};

/// A directory that describes a cluster.
#[derive(Debug)]
pub(crate) struct ClusterDirectory {
    /// Root of credentials and state.
    pub(crate) root: PathBuf,
    /// The file that describes the cluster.
    pub(crate) file: PathBuf,
    pub(crate) kind: DirectoryKind,
}

/// Kind of description, recognised by its keys; the file name decides only where they do not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DirectoryKind {
    Native,
    Talconfig,
}

/// Finds the named directory, or the nearest one upward that describes a cluster. One found upward is refused if it
/// belongs to another user, as Git does: whoever can write above the working directory would choose the machines that
/// are called.
pub(crate) fn find(directory: Option<&Path>) -> Result<ClusterDirectory, Error> {
    let here = fs_err::canonicalize(directory.unwrap_or(Path::new("."))).map_err(Error::Input)?;
    let found = look_from(&here, if directory.is_none() { usize::MAX } else { 1 })?;
    if directory.is_none() {
        let folder = found.file.parent().unwrap_or(&here);
        refuse_foreign(&here, &[&found.file, folder, &found.root])?;
    }
    Ok(found)
}

/// Returns whether a directory of a cluster is around the working directory.
pub(crate) fn is_in_cluster() -> Result<bool, Error> {
    match find(None) {
        Ok(_) => Ok(true),
        Err(error) if error.code() == DIRECTORY_MISSING => Ok(false),
        Err(error) => Err(error),
    }
}

fn look_from(here: &Path, levels: usize) -> Result<ClusterDirectory, Error> {
    for candidate in here.ancestors().take(levels) {
        // What is below another directory is found from afar only where that is a repository: a home directory with
        // a `talos` in it says nothing about everything else in it.
        let below = candidate == here || is_repository(candidate);
        if let Some(found) = look_in(candidate, below)? {
            return Ok(found);
        }
    }
    let above = if levels > 1 { " or a directory above it" } else { "" };
    let message = format!("neither {FILE} nor {TALCONFIG} in {}{above}", here.display());
    let hint = "pass a cluster directory with -C, or create one with `ichor init`";
    Err(Diagnostic::error(DIRECTORY_MISSING, message).with_hint(hint).into())
}

/// Returns the talosconfig that talhelper wrote for the cluster of the working directory, if it exists.
pub(crate) fn talosconfig() -> Option<PathBuf> {
    let found = find(None).ok().filter(|found| found.kind == DirectoryKind::Talconfig)?;
    let folder = found.file.parent()?.join("clusterconfig");
    let path = folder.join("talosconfig");
    let here = fs_err::canonicalize(".").ok()?;
    refuse_foreign(&here, &[&folder, &path]).ok()?;
    path.is_file().then_some(path)
}

/// Refuses what is above the working directory and belongs to another user.
fn refuse_foreign(here: &Path, paths: &[&Path]) -> Result<(), Error> {
    for path in paths.iter().filter(|path| !path.starts_with(here)) {
        // A link has an owner of its own, who chose what it leads to.
        for metadata in [fs_err::symlink_metadata(path), fs_err::metadata(path)] {
            let owner = metadata.map_err(Error::Input)?.uid();
            if !is_trusted(owner, user()) {
                return Err(Error::Owner { path: path.to_path_buf(), owner });
            }
        }
    }
    Ok(())
}

/// Returns the key at the root of the repository that a directory is in, or beside the `.sops.yaml` that counts there, which
/// may be above it. Only if both belong to the user: the owner of a key chooses what can be decrypted, and what looks as
/// if it came from the user's own files.
pub(crate) fn repository_key(directory: &Path) -> Option<PathBuf> {
    let here = fs_err::canonicalize(directory).ok()?;
    let rules = here.ancestors().find(|folder| folder.join(".sops.yaml").is_file());
    let root = here.ancestors().find(|folder| is_repository(folder));
    [root, rules].into_iter().flatten().find_map(own_key)
}

fn own_key(root: &Path) -> Option<PathBuf> {
    let key = root.join(KEY);
    let is_own = |path: &Path| {
        let metadata = fs_err::symlink_metadata(path).ok()?;
        is_trusted(metadata.uid(), user()).then_some(metadata)
    };
    is_own(root)?;
    // A link leads anywhere, and a pipe is waited for.
    let is_small_file = |metadata: Metadata| metadata.is_file() && metadata.len() < 1 << 16;
    is_own(&key).is_some_and(is_small_file).then_some(key)
}

/// Returns whether files of an owner are used without being named. Root could replace the program itself as well.
fn is_trusted(owner: u32, user: Option<u32>) -> bool {
    owner == 0 || Some(owner) == user
}

/// Returns the id of the current user.
fn user() -> Option<u32> {
    let process = fs_err::metadata("/proc/self");
    // Without /proc, a new file shows it.
    let process = process.or_else(|_| tempfile::tempfile()?.metadata());
    process.ok().map(|metadata| metadata.uid())
}

/// `below`: whether a description in a directory below counts too.
fn look_in(directory: &Path, below: bool) -> Result<Option<ClusterDirectory>, Error> {
    let there = |name: &str| Some(directory.join(name)).filter(|path| path.is_file());
    let file = match (there(FILE), there(TALCONFIG)) {
        (Some(_), Some(_)) => {
            let message = format!("{} has both {FILE} and {TALCONFIG}", directory.display());
            let hint = "keep one of them, and move the other one away";
            return Err(Diagnostic::error(DIRECTORY_AMBIGUOUS, message).with_hint(hint).into());
        }
        (Some(file), None) | (None, Some(file)) => file,
        (None, None) => match there(&format!("{BELOW}/{TALCONFIG}")).filter(|_| below) {
            Some(file) => file,
            None => return Ok(None),
        },
    };
    let kind = kind(&file)?;
    let folder = file.parent().unwrap_or(directory);
    let root = match kind {
        DirectoryKind::Native => folder.to_owned(),
        DirectoryKind::Talconfig => root(folder),
    };
    Ok(Some(ClusterDirectory { root, file, kind }))
}

/// Returns the root that a talconfig belongs to: in `talos/` of a repository it is the repository.
fn root(folder: &Path) -> PathBuf {
    let above = folder.parent().filter(|_| folder.ends_with(BELOW));
    above.filter(|above| is_repository(above)).unwrap_or(folder).to_owned()
}

fn is_repository(directory: &Path) -> bool {
    MARKS.iter().any(|mark| directory.join(mark).exists())
}

fn kind(file: &Path) -> Result<DirectoryKind, Error> {
    let text = match bounded_file::read_to_string(file) {
        // What is not text is reported with its line when it is read.
        Err(error) if error.kind() == ErrorKind::InvalidData => String::new(),
        read => read.map_err(Error::Input)?,
    };
    let documents = yaml::parse(&text, SourceId::default(), Limits::default()).unwrap_or_default();
    let root = documents.first().map(|document| &document.root);
    let has = |key: &str| root.is_some_and(|root| root.get(key).is_some());
    let is_talconfig = has("clusterName") || has("nodes");
    Ok(if has("ichor") || (!is_talconfig && file.ends_with(FILE)) {
        DirectoryKind::Native
    } else {
        DirectoryKind::Talconfig
    })
}

/// The private key of a repository, which its `.gitignore` names.
const KEY: &str = "age.key";
/// Usual folder of a talconfig in a repository.
const BELOW: &str = "talos";
/// Files that mark the root of a repository.
const MARKS: [&str; 6] =
    [".git", ".sops.yaml", ".ichor", "Taskfile.yaml", "Taskfile.yml", "nodes.yaml"];

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        files: &[(&str, &str)],
        from: &str,
    ) -> Result<(String, String, DirectoryKind), String> {
        found_within(files, from, 1)
    }

    fn found_within(
        files: &[(&str, &str)],
        from: &str,
        levels: usize,
    ) -> Result<(String, String, DirectoryKind), String> {
        let directory = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = directory.path().join(name);
            fs_err::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs_err::write(path, text).expect("a file");
        }
        let above = fs_err::canonicalize(directory.path()).expect("a path");
        fs_err::create_dir_all(above.join(from)).expect("a directory");
        let here = fs_err::canonicalize(above.join(from)).expect("a path");
        let found = look_from(&here, levels).map_err(|error| error.to_string())?;
        let below = |path: &Path| {
            path.strip_prefix(&above).expect("a path below").to_string_lossy().into_owned()
        };
        Ok((below(&found.root), below(&found.file), found.kind))
    }

    #[test]
    fn a_file_is_what_its_keys_say() {
        let of = |name: &str, text: &str| found(&[(name, text)], "").map(|(_, _, kind)| kind);
        assert_eq!(of("ichor.yaml", "ichor: v1\n"), Ok(DirectoryKind::Native));
        assert_eq!(of("talconfig.yaml", "clusterName: a\n"), Ok(DirectoryKind::Talconfig));
        assert_eq!(of("talconfig.yaml", "ichor: v1\n"), Ok(DirectoryKind::Native));
        assert_eq!(of("ichor.yaml", "nodes: []\n"), Ok(DirectoryKind::Talconfig));
        // Unreadable files are reported by their reader.
        assert_eq!(of("talconfig.yaml", "{"), Ok(DirectoryKind::Talconfig));
        assert!(of("cluster.yaml", "nodes: []\n").is_err());
    }

    #[test]
    fn what_is_below_a_repository_belongs_to_it() {
        let talconfig = ("talos/talconfig.yaml", "nodes: []\n");
        let whole =
            Ok((String::new(), "talos/talconfig.yaml".to_owned(), DirectoryKind::Talconfig));
        let part =
            Ok(("talos".to_owned(), "talos/talconfig.yaml".to_owned(), DirectoryKind::Talconfig));
        for from in ["", "talos"] {
            assert_eq!(found(&[talconfig, (".git/HEAD", "")], from), whole, "{from}");
            assert_eq!(found(&[talconfig], from), part, "{from}");
        }
    }

    #[test]
    fn what_is_upward_is_found_and_what_is_beside_only_in_a_repository() {
        let beside = [("talos/talconfig.yaml", "nodes: []\n"), ("Taskfile.yaml", "")];
        assert!(found_within(&beside, "apps/one", 3).is_ok());
        assert!(found_within(&beside[..1], "apps/one", 3).is_err());
        let upward = [("talconfig.yaml", "nodes: []\n")];
        assert!(found_within(&upward, "patches/all", 3).is_ok());
        assert!(found_within(&upward, "patches/all", 2).is_err());
    }

    #[test]
    fn only_own_files_and_those_of_root_are_trusted() {
        for (owner, user, expected) in [
            (1000, Some(1000), true),
            (0, Some(1000), true),
            (0, Some(0), true),
            (1000, Some(0), false),
            (1001, Some(1000), false),
            (65534, Some(1000), false),
            (1000, None, false),
            (0, None, true),
        ] {
            assert_eq!(is_trusted(owner, user), expected, "{owner} {user:?}");
        }
    }

    #[test]
    fn what_is_in_the_working_directory_is_not_asked_for_its_owner() {
        let directory = tempfile::tempdir().expect("a directory");
        let here = fs_err::canonicalize(directory.path()).expect("a path");
        // Nothing is there, so that looking at it would fail.
        assert!(refuse_foreign(&here, &[&here.join("talconfig.yaml")]).is_ok());
        assert!(refuse_foreign(&here.join("apps"), &[&here.join("talconfig.yaml")]).is_err());
    }

    #[test]
    fn key_of_a_repository_is_a_file_at_its_root() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = fs_err::canonicalize(directory.path()).expect("a path");
        let below = root.join("talos/patches");
        fs_err::create_dir_all(&below).expect("a directory");
        fs_err::write(root.join("age.key"), "").expect("a file");
        assert_eq!(repository_key(&below), None, "this is no repository");
        fs_err::create_dir(root.join(".git")).expect("a directory");
        assert_eq!(repository_key(&below), Some(root.join("age.key")));
        // A repository of its own below the rule that counts.
        fs_err::write(root.join(".sops.yaml"), "").expect("a file");
        fs_err::create_dir(root.join("talos/.git")).expect("a directory");
        assert_eq!(repository_key(&below), Some(root.join("age.key")));
        fs_err::remove_file(root.join("age.key")).expect("removed");
        fs_err::os::unix::fs::symlink("/dev/zero", root.join("age.key")).expect("a link");
        assert_eq!(repository_key(&below), None, "it is a link");
    }

    #[test]
    fn two_descriptions_are_refused() {
        let files = [("ichor.yaml", "ichor: v1\n"), ("talconfig.yaml", "nodes: []\n")];
        let error = found(&files, "").expect_err("an error");
        assert!(error.ends_with("has both ichor.yaml and talconfig.yaml"), "{error}");
    }
}
