//! Files that commands write: all of them or none, and never over one that is there unasked.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::printer::Printer;
use crate::{Error, ExitStatus};

/// Writes several files: all of them or none. Each is staged beside its destination; they are moved into place only
/// when all are staged, and moved back if one move fails. They may hold secrets, so only their owner may read them.
/// Reports each path.
pub(crate) fn write_all(
    files: &[(PathBuf, String)],
    overwrite: bool,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut staged = Vec::new();
    for (path, text) in files {
        let place = place(path, overwrite)?;
        staged.push((stage(&place, text).map_err(Error::Output)?, place));
    }
    let mut written: Vec<ReplacedFile> = Vec::new();
    for (file, place) in staged {
        match replace(file, place, overwrite) {
            Ok(done) => written.push(done),
            Err(error) => {
                for done in written.into_iter().rev() {
                    done.undo();
                }
                return Err(Error::Output(error));
            }
        }
    }
    for (path, _) in files {
        printer.note(&format!("wrote {}", path.display()));
    }
    Ok(ExitStatus::Done)
}

/// A file that is still written, beside its place. It is gone when this is dropped before it is finished.
#[derive(Debug)]
pub(crate) struct PendingFile {
    file: NamedTempFile,
    place: PathBuf,
    overwrite: bool,
}

impl PendingFile {
    /// Begins a file that only its owner may read.
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Self, Error> {
        let place = place(path, overwrite)?;
        let file = create_beside(&place)?;
        Ok(Self { file, place, overwrite })
    }

    /// Returns the bytes that were written so far.
    pub(crate) fn size(&self) -> Result<u64, Error> {
        Ok(self.file.as_file().metadata()?.len())
    }

    /// Moves the file into place atomically.
    pub(crate) fn commit(self) -> Result<(), Error> {
        let Self { file, place, overwrite } = self;
        file.as_file().sync_all()?;
        if overwrite {
            file.persist(&place).map_err(|error| error.error)?;
        } else {
            file.persist_noclobber(&place).map_err(|error| error.error)?;
        }
        // The new name lasts once the directory is on the disk too.
        fs_err::File::open(folder(&place))?.sync_all()?;
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Replaces a file atomically: a crash leaves either the old or the new content.
pub(crate) fn update(path: &Path, text: &str) -> Result<(), Error> {
    let mut file = PendingFile::create(path, true)?;
    file.write_all(text.as_bytes())?;
    file.commit()
}

/// Resolves the destination of a file: links are followed, and only regular files are overwritten.
fn place(path: &Path, overwrite: bool) -> Result<PathBuf, Error> {
    let Ok(metadata) = fs_err::symlink_metadata(path) else { return Ok(path.to_owned()) };
    if metadata.is_dir() {
        return Err(Error::NotAFile(path.to_owned()));
    }
    if !overwrite {
        return Err(Error::Exists { path: path.to_owned(), hint: "--force overwrites it" });
    }
    let target =
        if metadata.is_symlink() { fs_err::canonicalize(path).ok() } else { Some(path.to_owned()) };
    target.filter(|target| target.is_file()).ok_or_else(|| Error::NotAFile(path.to_owned()))
}

fn stage(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let mut file = create_beside(path)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// A new file in the directory of another, readable by its owner only.
fn create_beside(path: &Path) -> io::Result<NamedTempFile> {
    let directory = folder(path);
    fs_err::create_dir_all(directory)?;
    tempfile::Builder::new().prefix(".ichor-").tempfile_in(directory)
}

/// Moves a file to its place, keeping what was there until all is done.
fn replace(file: NamedTempFile, place: PathBuf, overwrite: bool) -> io::Result<ReplacedFile> {
    let before = if overwrite && place.exists() {
        // A second name of the old file: the first one names the old file or the new one at every moment.
        let keep = |path: &Path| {
            // Not every file system has links.
            fs_err::hard_link(&place, path).or_else(|_| fs_err::copy(&place, path).map(drop))
        };
        Some(tempfile::Builder::new().prefix(".ichor-").make_in(folder(&place), keep)?)
    } else {
        None
    };
    let moved = match &before {
        Some(_) => file.persist(&place),
        // Creating it anew closes the gap between the first look and now.
        None => file.persist_noclobber(&place),
    };
    match moved {
        Ok(_) => Ok(ReplacedFile { place, before }),
        Err(error) => Err(error.error),
    }
}

/// A file that was moved to its place, and what was there before.
struct ReplacedFile {
    place: PathBuf,
    before: Option<NamedTempFile<()>>,
}

impl ReplacedFile {
    /// Restores the previous state. A failure here is ignored: there is nothing left to try.
    fn undo(self) {
        let _ = match self.before {
            Some(kept) => kept.persist(&self.place).map_err(|error| error.error),
            None => fs_err::remove_file(&self.place),
        };
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
