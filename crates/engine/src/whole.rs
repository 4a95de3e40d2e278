//! Files that are there wholly or not at all, whatever ends the process.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file that only its owner may read, over one that is there.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".ichor-").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}
