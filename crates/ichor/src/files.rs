//! Files that commands write: all of them or none, and never over one that is there unasked.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use engine::atomic_file::{Access, AtomicFile, PREFIX, directory_of};
use tempfile::NamedTempFile;

use crate::printer::Printer;
use crate::{Error, ExitStatus};

/// A file to write.
pub(crate) struct OutputFile {
    pub(crate) path: PathBuf,
    text: String,
    access: Access,
}

impl OutputFile {
    /// For its owner only.
    pub(crate) fn secret(path: PathBuf, text: String) -> Self {
        Self { path, text, access: Access::Private }
    }

    /// For all whom the umask lets: it holds no secret.
    pub(crate) fn shared(path: PathBuf, text: String) -> Self {
        Self { path, text, access: Access::Shared }
    }
}

/// Writes files with the directories that they are in.
pub(crate) fn write_tree(
    files: &[OutputFile],
    overwrite: bool,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    for file in files {
        fs_err::create_dir_all(directory_of(&file.path)).map_err(Error::Output)?;
    }
    write_all(files, overwrite, printer)
}

/// Writes several files: all of them or none. Each is staged beside its destination; they are moved into place only
/// when all are staged, and moved back if one move fails. Of their directories at most one is made: a path may be
/// misspelt. Reports each path.
pub(crate) fn write_all(
    files: &[OutputFile],
    overwrite: bool,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut staged = Vec::new();
    for OutputFile { path, text, access } in files {
        let place = place(path, overwrite)?;
        staged.push((stage(&place, text, *access).map_err(Error::Output)?, place));
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
    for file in files {
        printer.note(&format!("wrote {}", file.path.display()));
    }
    Ok(ExitStatus::Done)
}

/// A file for its owner that is still written, beside its place. It is gone when this is dropped before it is finished.
#[derive(Debug)]
pub(crate) struct PendingFile {
    file: AtomicFile,
    overwrite: bool,
}

impl PendingFile {
    pub(crate) fn create(path: &Path, overwrite: bool) -> Result<Self, Error> {
        let place = place(path, overwrite)?;
        Ok(Self { file: AtomicFile::create(&place, Access::Private)?, overwrite })
    }

    /// Returns the bytes that were written so far.
    pub(crate) fn size(&self) -> Result<u64, Error> {
        Ok(self.file.written()?)
    }

    /// Moves the file into place atomically.
    pub(crate) fn commit(self) -> Result<(), Error> {
        if self.overwrite {
            self.file.commit()?;
        } else {
            self.file.commit_new()?;
        }
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

/// Replaces a file atomically: a crash leaves either the old or the new content. One that is shared keeps its
/// permissions.
pub(crate) fn update(path: &Path, text: &str, access: Access) -> Result<(), Error> {
    let place = place(path, true)?;
    let file = stage(&place, text, access)?;
    if access == Access::Shared
        && let Ok(before) = fs_err::metadata(&place)
    {
        file.set_permissions(before.permissions())?;
    }
    file.commit()?;
    Ok(())
}

/// Resolves the destination of a file: links are followed, and only regular files are overwritten.
fn place(path: &Path, overwrite: bool) -> Result<PathBuf, Error> {
    let Ok(metadata) = fs_err::symlink_metadata(path) else {
        let directory = directory_of(path);
        // A directory in one that is there may be meant; a whole path that is not is more likely misspelt.
        if !directory.exists() && directory_of(directory).is_dir() {
            fs_err::create_dir(directory).map_err(Error::Output)?;
        }
        if directory.is_dir() {
            return Ok(path.to_owned());
        }
        return Err(Error::Usage {
            message: format!("{}: {} is not a directory", path.display(), directory.display()),
            hint: format!("if it is spelt right: mkdir -p {}", directory.display()),
        });
    };
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

fn stage(path: &Path, text: &str, access: Access) -> io::Result<AtomicFile> {
    let mut file = AtomicFile::create(path, access)?;
    file.write_all(text.as_bytes())?;
    file.sync()?;
    Ok(file)
}

/// Moves a file to its place, keeping what was there until all is done.
fn replace(file: AtomicFile, place: PathBuf, overwrite: bool) -> io::Result<ReplacedFile> {
    let before = if overwrite && place.exists() {
        // A second name of the old file: the first one names the old file or the new one at every moment.
        let keep = |path: &Path| {
            // Not every file system has links.
            fs_err::hard_link(&place, path).or_else(|_| fs_err::copy(&place, path).map(drop))
        };
        Some(tempfile::Builder::new().prefix(PREFIX).make_in(directory_of(&place), keep)?)
    } else {
        None
    };
    match &before {
        Some(_) => file.commit()?,
        // Creating it anew closes the gap between the first look and now.
        None => file.commit_new()?,
    }
    Ok(ReplacedFile { place, before })
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
