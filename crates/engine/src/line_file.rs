//! An append-only file of whole lines, as the journal and the audit log are.
//!
//! Always holds: a line that [`LockedLines::append`] has returned for is on the disk; what stands behind the last line
//! break was being written when the process or the machine died, is not there for readers, and is cut off before the
//! next line is written. Only bytes are looked at, so that no damage to a character stops anything. A symbolic link is
//! never followed.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fs_err::os::unix::fs::OpenOptionsExt;

use crate::atomic_file::{self, create_directory, sync_directory};
use crate::bounded_file;

/// A file of whole lines.
#[derive(Debug)]
pub struct LineFile {
    path: PathBuf,
    file: fs_err::File,
    /// The end of the lines that were read.
    read_to: u64,
    writable: bool,
}

impl LineFile {
    /// Opens the file, or makes it together with its directory.
    pub fn create(path: &Path) -> io::Result<Self> {
        if let Some(directory) = path.parent() {
            create_directory(directory)?;
        }
        let is_new = !path.exists();
        let mut lines = Self::open_with(path, fs_err::OpenOptions::new().create(true).write(true))?;
        lines.writable = true;
        if is_new && let Some(directory) = path.parent() {
            sync_directory(directory)?;
        }
        Ok(lines)
    }

    /// Opens the file to read it; `None` where there is none.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        match Self::open_with(path, &mut fs_err::OpenOptions::new()) {
            Ok(lines) => Ok(Some(lines)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open_with(path: &Path, options: &mut fs_err::OpenOptions) -> io::Result<Self> {
        let file = options
            .read(true)
            .truncate(false)
            .mode(0o600)
            // A FIFO is not waited for.
            .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK)
            .open(path)?;
        bounded_file::check(&file, path)?;
        Ok(Self { path: path.to_owned(), file, read_to: 0, writable: false })
    }

    /// Makes a file that was opened to be read ready for [`LineFile::lock`]; what was read is not read again. One
    /// that the path does not name any more stays as it is.
    pub fn make_writable(&mut self) -> io::Result<()> {
        if !self.writable {
            let opened = Self::create(&self.path)?;
            if identity(&opened.file.metadata()?) == identity(&self.file.metadata()?) {
                *self = Self { read_to: self.read_to, ..opened };
            }
        }
        Ok(())
    }

    /// Returns whether the path still names this file: a directory may be deleted and made again under a running
    /// process.
    pub fn is_current(&self) -> bool {
        names(&self.path, &self.file)
    }

    /// Returns the whole lines that were appended since the last call, each with its line break.
    pub fn read_new(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = self.read_rest()?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.truncate(whole);
        self.read_to += whole as u64;
        Ok(bytes)
    }

    /// Returns the bytes behind the last whole line: what a crash has left of the next one.
    pub fn torn(&mut self) -> io::Result<Vec<u8>> {
        self.read_rest()
    }

    fn read_rest(&mut self) -> io::Result<Vec<u8>> {
        self.seek_to_end_of_lines()?;
        let length = self.file.metadata()?.len();
        if length > LONGEST {
            let message = format!("{} has more than {} MiB", self.path.display(), LONGEST >> 20);
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
        }
        let mut bytes = Vec::new();
        (&mut self.file).take(LONGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// A file that has become shorter than what was read of it is another one: what stands behind is not what comes
    /// next.
    fn seek_to_end_of_lines(&mut self) -> io::Result<()> {
        if self.file.metadata()?.len() < self.read_to {
            let message = format!("{} was shortened while it was in use", self.path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.file.seek(SeekFrom::Start(self.read_to))?;
        Ok(())
    }

    /// Keeps other writers out. A writer that was stopped while it held the lock is waited for, but not for ever: after
    /// ten seconds this fails with [`io::ErrorKind::WouldBlock`].
    pub fn lock(&mut self) -> io::Result<LockedLines<'_>> {
        self.lock_with_tries(LOCK_TRIES)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "runs on a thread for blocking work, without a clock"
    )]
    fn lock_with_tries(&mut self, tries: usize) -> io::Result<LockedLines<'_>> {
        for _ in 0..tries {
            match self.file.file().try_lock() {
                Ok(()) => return Ok(LockedLines { lines: self }),
                Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
                Err(std::fs::TryLockError::Error(error)) => return Err(error),
            }
        }
        let message = format!("{} is locked by another process", self.path.display());
        Err(io::Error::new(io::ErrorKind::WouldBlock, message))
    }
}

/// A file of whole lines that no other process writes to.
#[derive(Debug)]
pub struct LockedLines<'a> {
    lines: &'a mut LineFile,
}

impl LockedLines<'_> {
    /// Returns the whole lines that were appended since the last look.
    pub fn read_new(&mut self) -> io::Result<Vec<u8>> {
        self.lines.read_new()
    }

    /// Returns the bytes behind the last whole line.
    pub fn torn(&mut self) -> io::Result<Vec<u8>> {
        self.lines.torn()
    }

    /// Returns the number of bytes of the whole lines that were read.
    pub fn read_to(&self) -> u64 {
        self.lines.read_to
    }

    /// Returns whether the path still names this file, which may have changed while the lock was waited for.
    pub fn is_current(&self) -> bool {
        self.lines.is_current()
    }

    /// Cuts off what was torn, keeps the file under another name that nothing else has, and puts `text` in its place.
    /// A reader finds the one or the other, and a crash leaves the one or the other.
    pub fn replace(&mut self, kept_as: &Path, text: &str) -> io::Result<()> {
        let LineFile { path, file, read_to, .. } = &*self.lines;
        file.set_len(*read_to)?;
        file.sync_all()?;
        match fs_err::hard_link(path, kept_as) {
            // A crash came between the two names.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && names(kept_as, file) => {}
            linked => linked?,
        }
        if let Some(directory) = path.parent() {
            sync_directory(directory)?;
        }
        atomic_file::write(path, text)
    }

    /// Appends whole lines, behind all that were read: when this returns, no crash takes them back.
    pub fn append(&mut self, text: &str) -> io::Result<()> {
        self.lines.seek_to_end_of_lines()?;
        let LineFile { file, read_to, .. } = &mut *self.lines;
        file.set_len(*read_to)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        *read_to += text.len() as u64;
        Ok(())
    }
}

impl Drop for LockedLines<'_> {
    fn drop(&mut self) {
        // The file stays open; where this fails, the lock ends with the process.
        let _ = self.lines.file.file().unlock();
    }
}

/// Returns whether a path names an open file.
fn names(path: &Path, file: &fs_err::File) -> bool {
    match (file.metadata(), fs_err::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => identity(&open) == identity(&named),
        _ => false,
    }
}

fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// A journal begins anew after a mebibyte; an audit log of a million actions has less.
const LONGEST: u64 = 512 << 20;
/// Ten seconds: longer than any append takes, shorter than a lease lasts.
const LOCK_TRIES: usize = 500;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_file_cuts_what_was_torn_before_it_appends() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("below").join("lines");
        let whole = "one\ntw\u{fc}\nthree\n";
        for cut in 0..=whole.len() {
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, &whole.as_bytes()[..cut]).unwrap();
            let mut lines = LineFile::create(&path).unwrap();
            let kept = lines.read_new().unwrap();
            assert!(whole.as_bytes().starts_with(&kept));
            assert_eq!(
                [kept.as_slice(), &lines.torn().unwrap()].concat(),
                &whole.as_bytes()[..cut]
            );
            lines.lock().unwrap().append("next\n").unwrap();
            assert_eq!(fs_err::read(&path).unwrap(), [kept.as_slice(), b"next\n"].concat());
            assert_eq!(lines.read_new().unwrap(), b"");
        }
    }

    #[test]
    fn line_file_reads_only_what_is_new() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        assert!(LineFile::open(&path).unwrap().is_none());
        let mut writer = LineFile::create(&path).unwrap();
        let mut reader = LineFile::open(&path).unwrap().unwrap();
        for text in ["one\n", "two\nthree\n"] {
            writer.lock().unwrap().append(text).unwrap();
            assert_eq!(reader.read_new().unwrap(), text.as_bytes());
        }
        reader.make_writable().unwrap();
        reader.lock().unwrap().append("four\n").unwrap();
        assert_eq!(writer.read_new().unwrap(), b"four\n");
    }

    #[test]
    fn line_file_that_was_shortened_is_neither_read_nor_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        fs_err::write(&path, "one\ntwo\n").unwrap();
        let mut lines = LineFile::create(&path).unwrap();
        assert_eq!(lines.read_new().unwrap(), b"one\ntwo\n");
        fs_err::write(&path, "one\n").unwrap();
        let refused = lines.read_new().unwrap_err();
        assert!(refused.to_string().contains("was shortened"), "{refused}");
        assert!(lines.torn().is_err());
        assert!(lines.lock().unwrap().append("three\n").is_err());
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "one\n");
    }

    #[test]
    fn line_file_is_private_to_its_owner() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        drop(LineFile::create(&path).unwrap());
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn line_file_follows_no_symbolic_link_and_opens_no_directory() {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        fs_err::write(&target, "text\n").unwrap();
        fs_err::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(LineFile::open(&link).is_err());
        assert!(LineFile::create(&link).is_err());
        assert!(LineFile::open(directory.path()).is_err());
        assert_eq!(fs_err::read_to_string(&target).unwrap(), "text\n");
    }

    #[test]
    fn line_file_waits_for_no_fifo_and_reads_nothing_endless() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert!(LineFile::open(&path).is_err());
        assert!(LineFile::create(&path).is_err());
        fs_err::remove_file(&path).unwrap();
        // Sparse: it takes no room.
        fs_err::File::create(&path).unwrap().set_len(5 << 30).unwrap();
        let refused = LineFile::open(&path).unwrap().unwrap().read_new().unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn line_file_notices_that_its_path_names_another_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        let lines = LineFile::create(&path).unwrap();
        assert!(lines.is_current());
        fs_err::remove_file(&path).unwrap();
        assert!(!lines.is_current());
        fs_err::write(&path, "").unwrap();
        assert!(!lines.is_current());
    }

    #[test]
    fn line_file_lock_that_another_holds_is_not_waited_for_for_ever() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("lines");
        let mut holder = LineFile::create(&path).expect("a file");
        let mut other = LineFile::create(&path).expect("the same file");
        let mut held = holder.lock().expect("a lock");
        held.append("one\n").expect("a line");
        let refused = other.lock_with_tries(3).expect_err("a lock that is held");
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        let message = format!("{} is locked by another process", path.display());
        assert_eq!(refused.to_string(), message);
        // Reading needs no lock.
        assert_eq!(other.read_new().expect("lines"), b"one\n");
        drop(held);
        other.lock_with_tries(3).expect("a lock that is free").append("two\n").expect("a line");
        assert_eq!(fs_err::read_to_string(&path).expect("lines"), "one\ntwo\n");
    }

    #[test]
    fn line_file_lock_keeps_another_writer_out_until_it_is_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lines");
        let (mut one, mut two) =
            (LineFile::create(&path).unwrap(), LineFile::create(&path).unwrap());
        std::thread::scope(|scope| {
            let mut locked = one.lock().unwrap();
            let other = scope.spawn(|| {
                let mut locked = two.lock().unwrap();
                let seen = locked.read_new().unwrap();
                locked.append("two\n").unwrap();
                seen
            });
            locked.append("one\n").unwrap();
            drop(locked);
            assert_eq!(other.join().unwrap(), b"one\n");
        });
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "one\ntwo\n");
    }
}
