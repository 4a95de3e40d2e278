//! Atomic file writes and durable directories: after a crash a file is there wholly or not at all.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file that only its owner may read, over one that is there.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".ichor-").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_directory(directory)
}

/// Makes a directory with those above it. When this returns, no crash takes them back.
pub(crate) fn create_directory(path: &Path) -> io::Result<()> {
    let changed = changed_by_creating(path);
    fs_err::create_dir_all(path)?;
    changed.into_iter().try_for_each(sync_directory)
}

/// Writes the names in a directory to the disk: a file is on it only when its name is.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    fs_err::File::open(path)?.sync_all()
}

/// Returns the directories that get a new name in them when this one is made.
fn changed_by_creating(path: &Path) -> Vec<&Path> {
    // The last ancestor of a relative path is the empty one, which means here.
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let parents = path.ancestors().take_while(is_missing).filter_map(Path::parent);
    let here = |path: &Path| path.as_os_str().is_empty();
    parents.map(|path| if here(path) { Path::new(".") } else { path }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directory_that_gets_a_new_name_is_synced() {
        let root = tempfile::tempdir().unwrap();
        let plans = root.path().join("home/.ichor/plans");
        let above: Vec<&Path> = plans.ancestors().skip(1).take(3).collect();
        assert_eq!(changed_by_creating(&plans), above);
        create_directory(&plans).unwrap();
        assert!(plans.is_dir());
        assert_eq!(changed_by_creating(&plans), Vec::<&Path>::new());
        assert_eq!(changed_by_creating(Path::new("no-such-place")), [Path::new(".")]);
    }
}
