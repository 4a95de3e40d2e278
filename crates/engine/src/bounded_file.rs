//! Reads of files that a directory or the environment brings: they may be anything.
//!
//! Always holds: only regular files are read, so that a FIFO or a device is refused and not waited for; no more is kept
//! than the bound.

use std::io::{self, Read};
use std::path::Path;

use fs_err::os::unix::fs::OpenOptionsExt;

/// The longest file that is read whole. Configuration is refused beyond it, too.
pub const LONGEST: u64 = 16 << 20;

/// Reads a text.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    let file = open(path)?;
    let size = file.metadata()?.len();
    let mut text = String::new();
    // What it is may grow meanwhile.
    if size <= LONGEST {
        file.take(LONGEST + 1).read_to_string(&mut text)?;
    }
    if size.max(text.len() as u64) > LONGEST {
        let message = format!("{} has more than {} MiB", path.display(), LONGEST >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

/// Opens a file to read it, unless reading could wait or never end.
pub fn open(path: &Path) -> io::Result<fs_err::File> {
    let mut options = fs_err::OpenOptions::new();
    let file = options.read(true).custom_flags(nix::libc::O_NONBLOCK).open(path)?;
    // The first read of a directory says what it is.
    if !file.metadata()?.is_dir() {
        check(&file, path)?;
    }
    Ok(file)
}

/// Refuses what is not a regular file.
pub(crate) fn check(file: &fs_err::File, path: &Path) -> io::Result<()> {
    if file.metadata()?.is_file() {
        return Ok(());
    }
    let message = format!("{} is not a file", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_file_refuses_what_is_too_long_before_it_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        fs_err::write(&path, "text").unwrap();
        assert_eq!(read_to_string(&path).unwrap(), "text");
        // Sparse: it takes no room.
        fs_err::File::create(&path).unwrap().set_len(5 << 30).unwrap();
        let error = read_to_string(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().ends_with("text has more than 16 MiB"), "{error}");
    }

    #[test]
    fn bounded_file_waits_for_no_fifo_and_reads_no_device() {
        let directory = tempfile::tempdir().unwrap();
        let fifo = directory.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        for path in [fifo.as_path(), Path::new("/dev/zero")] {
            let error = read_to_string(path).unwrap_err();
            assert!(error.to_string().ends_with(" is not a file"), "{error}");
        }
        let error = read_to_string(directory.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory, "{error}");
    }
}
