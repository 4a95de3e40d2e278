//! The catalog of Talos releases: the built-in one, with a cached update.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use talconfig::ReleaseCatalog;
use talos_config::suggest;

use crate::{Error, files};

/// Loads the built-in catalog, updated from the cache if that is readable.
pub(crate) fn load(cache: Option<&Path>) -> Cow<'static, ReleaseCatalog> {
    let kept = cache.and_then(|cache| fs_err::read_to_string(file(cache)).ok());
    let kept = kept.and_then(|text| ReleaseCatalog::with_refreshed(&text));
    kept.map_or(Cow::Borrowed(ReleaseCatalog::built_in()), Cow::Owned)
}

/// Rejects extensions that a release does not have; `file` names them. Returns a warning if the release is unknown.
pub(crate) fn check_extensions(
    names: &[String],
    versions: &ReleaseCatalog,
    version: &str,
    file: &str,
) -> Result<Option<String>, Error> {
    let Some(known) = versions.extensions(version) else {
        return Ok(Some(format!(
            "warning: the extensions of {version} are unknown: `ichor extensions {version} --refresh` queries the factory"
        )));
    };
    let Some(name) = names.iter().find(|name| !known.contains(name)) else { return Ok(None) };
    let near = suggest(name, known.iter().map(String::as_str));
    let hint = near.map_or_else(
        || format!("`ichor extensions {version}` lists its extensions"),
        |near| format!("did you mean {near:?}?"),
    );
    Err(Error::Config {
        message: format!("{file}: {version} has no extension {name:?}"),
        hint: Some(hint),
        code: "schematic.extension",
    })
}

/// Keeps what was learned, and says where.
pub(crate) fn save(versions: &ReleaseCatalog, cache: &Path) -> Result<PathBuf, Error> {
    let file = file(cache);
    files::update(&file, &versions.refreshed())?;
    Ok(file)
}

fn file(cache: &Path) -> PathBuf {
    cache.join("talos-releases.json")
}
