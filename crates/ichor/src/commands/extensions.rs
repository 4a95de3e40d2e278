//! `ichor extensions`: which system extensions a release of Talos has.

use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::args;
use crate::factory::ImageFactoryClient;
use crate::printer::Printer;
use crate::{Error, ExitStatus, release_catalog};

pub(super) fn run(
    args: &args::ExtensionsArgs,
    factories: &ImageFactoryClient,
    cache: Option<&Path>,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let version = talconfig::tag(&args.version);
    let mut versions = release_catalog::load(cache).into_owned();
    if args.refresh {
        // What cannot be kept is not asked for.
        let cache = cache.ok_or(Error::NoHome {
            what: "the list of releases",
            hint: "set HOME, or XDG_CACHE_HOME",
        })?;
        let release = factories.release(&args.factory, &version).map_err(|reason| {
            Error::Factory { attempt: format!("learn what {version} has"), reason }
        })?;
        versions.add(&version, release);
        let file = release_catalog::save(&versions, cache)?;
        printer.note(&format!("kept in {}", file.display()));
    }
    let names = versions.extensions(&version).ok_or_else(|| Error::Usage {
        message: format!("the extensions of {version} are not known"),
        hint: "--refresh asks the image factory".to_owned(),
    })?;
    printer.value(&Extensions(names), args.output.format)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Extensions(Vec<String>);

impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}
