//! What is known about releases of Talos, kept beyond one run of the program.

use std::path::{Path, PathBuf};

use talconfig::Versions;

use crate::{Error, files};

/// What was kept; nothing when there is nothing, or nothing that can be read.
pub(crate) fn kept(cache: &Path) -> Option<Versions> {
    Versions::with_refreshed(&fs_err::read_to_string(file(cache)).ok()?)
}

/// Keeps what was learned, and says where.
pub(crate) fn keep(versions: &Versions, cache: &Path) -> Result<PathBuf, Error> {
    let file = file(cache);
    files::update(&file, &versions.refreshed())?;
    Ok(file)
}

fn file(cache: &Path) -> PathBuf {
    cache.join("talos-releases.json")
}
