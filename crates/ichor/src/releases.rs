//! What is known about releases of Talos, kept beyond one run of the program.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use talconfig::Versions;

use crate::{Error, files};

/// What is known: what was built in, with what was kept where that can be read.
pub(crate) fn known(cache: &Path) -> Cow<'static, Versions> {
    let kept = fs_err::read_to_string(file(cache)).ok();
    let kept = kept.and_then(|text| Versions::with_refreshed(&text));
    kept.map_or(Cow::Borrowed(Versions::built_in()), Cow::Owned)
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
