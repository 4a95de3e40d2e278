//! Files that commands write: all of them or none, and never over one that is there unasked.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Error;

/// Writes several files. Each is written beside its place first; only when all are there, and none
/// is in the way, are they moved to where they belong. They hold secrets: nobody else may read them.
pub(crate) fn write_all(files: &[(PathBuf, String)], overwrite: bool) -> Result<(), Error> {
    if !overwrite && let Some((path, _)) = files.iter().find(|(path, _)| path.exists()) {
        return Err(Error::Exists(path.clone()));
    }
    let mut staged = Vec::new();
    for (path, text) in files {
        staged.push((stage(path, text).map_err(Error::Output)?, path));
    }
    for (file, path) in staged {
        // Creating it anew closes the gap between the look above and now.
        let moved = if overwrite { file.persist(path) } else { file.persist_noclobber(path) };
        moved.map_err(|error| Error::Output(error.error))?;
    }
    Ok(())
}

fn stage(path: &Path, text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let directory =
        path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs_err::create_dir_all(directory)?;
    // Created readable by its owner only.
    let mut file = tempfile::Builder::new().prefix(".ichor-").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    Ok(file)
}
