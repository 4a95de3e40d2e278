//! The catalog of Talos releases: the built-in one, with a cached update.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use engine::atomic_file::Access;
use engine::bounded_file;
use talconfig::ReleaseCatalog;
use talos_config::{Diagnostic, FileLocation, suggest};

use crate::diagnostics::{EXTENSION, EXTENSIONS_UNKNOWN};
use crate::{Error, files};

/// Loads the built-in catalog, updated from the cache if that is readable.
pub(crate) fn load(cache: Option<&Path>) -> Cow<'static, ReleaseCatalog> {
    let kept = cache.and_then(|cache| bounded_file::read_to_string(&file(cache)).ok());
    let kept = kept.and_then(|text| ReleaseCatalog::with_refreshed(&text));
    kept.map_or(Cow::Borrowed(ReleaseCatalog::built_in()), Cow::Owned)
}

/// Rejects extensions that a release does not have; `file` names them. Returns a warning if the release is unknown.
pub(crate) fn check_extensions(
    names: &[String],
    versions: &ReleaseCatalog,
    version: &str,
    file: &str,
) -> Result<Option<Diagnostic>, Error> {
    let Some(known) = versions.extensions(version) else {
        let message = format!("the extensions of {version} are unknown");
        let hint = format!("`ichor extensions {version} --refresh` queries the factory");
        let warning = Diagnostic::warning(EXTENSIONS_UNKNOWN, message).with_hint(hint);
        return Ok(Some(warning.at(FileLocation::file(file))));
    };
    let Some(name) = names.iter().find(|name| !known.contains(name)) else { return Ok(None) };
    let near = suggest(name, known.iter().map(String::as_str));
    let hint = near.map_or_else(
        || format!("`ichor extensions {version}` lists its extensions"),
        |near| format!("did you mean {near:?}?"),
    );
    let wrong = Diagnostic::error(EXTENSION, format!("{version} has no extension {name:?}"));
    Err(wrong.at(FileLocation::file(file)).with_hint(hint).into())
}

/// Keeps what was learned, and says where.
pub(crate) fn save(versions: &ReleaseCatalog, cache: &Path) -> Result<PathBuf, Error> {
    let file = file(cache);
    fs_err::create_dir_all(cache)?;
    files::update(&file, &versions.refreshed(), Access::Shared)?;
    Ok(file)
}

fn file(cache: &Path) -> PathBuf {
    cache.join("talos-releases.json")
}
