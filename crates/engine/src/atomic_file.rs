//! Atomic file writes and durable directories: after a crash a file is there wholly or not at all.

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// The users who may read a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Its owner only: it holds secrets.
    Private,
    /// All whom the umask lets.
    Shared,
}

/// A file that is still written, beside its place. It is gone when this is dropped before it is committed.
#[derive(Debug)]
pub struct AtomicFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl AtomicFile {
    /// Begins a file in a directory that is there.
    pub fn create(path: &Path, access: Access) -> io::Result<Self> {
        let mode = match access {
            Access::Private => 0o600,
            Access::Shared => 0o644,
        };
        let file = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(directory_of(path))?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// Sets the permissions that the file has in its place.
    pub fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        self.file.as_file().set_permissions(permissions)
    }

    /// Returns the number of bytes that were written so far.
    pub fn written(&self) -> io::Result<u64> {
        Ok(self.file.as_file().metadata()?.len())
    }

    /// Writes the content to the disk, so that committing is all that is left.
    pub fn sync(&self) -> io::Result<()> {
        self.file.as_file().sync_all()
    }

    /// Moves the file into its place, over one that is there.
    pub fn commit(self) -> io::Result<()> {
        self.sync()?;
        self.file.persist(&self.path)?;
        sync_directory(directory_of(&self.path))
    }

    /// Moves the file into its place, and fails if something is there.
    pub fn commit_new(self) -> io::Result<()> {
        self.sync()?;
        self.file.persist_noclobber(&self.path)?;
        sync_directory(directory_of(&self.path))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file that only its owner may read, over one that is there.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = AtomicFile::create(path, Access::Private)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}

/// Returns the directory that a path names a file in.
pub fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
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

/// Begins the names of files that are not in their place yet: `.gitignore` has it.
pub const PREFIX: &str = ".ichor-";

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
    fn atomic_file_is_private_unless_it_is_shared() {
        let root = tempfile::tempdir().unwrap();
        let plain = root.path().join("plain");
        fs_err::write(&plain, "").unwrap();
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        for (access, expected) in [(Access::Private, 0o600), (Access::Shared, mode(&plain) & 0o644)]
        {
            let path = root.path().join("file");
            AtomicFile::create(&path, access).unwrap().commit().unwrap();
            assert_eq!(mode(&path), expected, "{access:?}");
            assert!(AtomicFile::create(&path, access).unwrap().commit_new().is_err());
        }
    }

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
