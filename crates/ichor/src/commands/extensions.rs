//! `ichor extensions`: which system extensions a release of Talos has.

use std::fmt;

use serde::Serialize;

use crate::json_schema::{JsonSchema as _, SchemaOf};
use crate::printer::Printer;
use crate::{Error, ExitStatus, release_catalog, settings};

pub(super) fn run(
    settings: &settings::Extensions,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let cache = settings.cache.as_deref();
    let version = talconfig::tag(&settings.version);
    let mut versions = release_catalog::load(cache).into_owned();
    if settings.refresh {
        // What cannot be kept is not asked for.
        let cache = cache.ok_or(Error::NoHome {
            what: "the list of releases",
            hint: "set HOME, or XDG_CACHE_HOME",
        })?;
        let release = settings.client.release(&settings.factory, &version).map_err(|reason| {
            Error::Factory { attempt: format!("query release {version}"), reason }
        })?;
        versions.add(&version, release);
        let file = release_catalog::save(&versions, cache)?;
        printer.note(&format!("kept in {}", file.display()));
    }
    let names = versions.extensions(&version).ok_or_else(|| {
        let is_patch =
            |known: &&str| known.strip_prefix(&*version).is_some_and(|rest| rest.starts_with('.'));
        let near: Vec<&str> = versions.releases().filter(is_patch).collect();
        Error::Usage {
            message: format!("the extensions of {version} are unknown"),
            hint: match near.as_slice() {
                [] => "--refresh queries the image factory".to_owned(),
                near => format!("pass one of {}", near.join(", ")),
            },
        }
    })?;
    printer.value(&Extensions(names), settings.output)
}

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = <Vec<String>>::json_schema;

#[derive(Serialize)]
#[serde(transparent)]
struct Extensions(Vec<String>);

impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}
