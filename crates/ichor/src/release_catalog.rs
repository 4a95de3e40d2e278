//! What is known about releases of Talos, kept beyond one run of the program.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use talconfig::ReleaseCatalog;
use talos_config::suggest;

use crate::{Error, files};

/// What is known: what was built in, with what was kept where that can be read.
pub(crate) fn load(cache: Option<&Path>) -> Cow<'static, ReleaseCatalog> {
    let kept = cache.and_then(|cache| fs_err::read_to_string(file(cache)).ok());
    let kept = kept.and_then(|text| ReleaseCatalog::with_refreshed(&text));
    kept.map_or(Cow::Borrowed(ReleaseCatalog::built_in()), Cow::Owned)
}

/// Refuses extensions that a release does not have; `file` names them. Gives a warning when nobody knows what it has.
pub(crate) fn check_extensions(
    names: &[String],
    versions: &ReleaseCatalog,
    version: &str,
    file: &str,
) -> Result<Option<String>, Error> {
    let Some(known) = versions.extensions(version) else {
        return Ok(Some(format!(
            "warning: the extensions of {version} are not known: `ichor extensions {version} --refresh` asks the factory"
        )));
    };
    let Some(name) = names.iter().find(|name| !known.contains(name)) else { return Ok(None) };
    let near = suggest(name, known.iter().map(String::as_str));
    let hint = near.map_or_else(
        || format!("`ichor extensions {version}` shows those that there are"),
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
