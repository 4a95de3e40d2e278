//! `ichor extensions`: which system extensions a release of Talos has.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use talconfig::Versions;

use crate::args;
use crate::factory::Factories;
use crate::printer::Printer;
use crate::{Error, ExitStatus, releases};

pub(super) fn run(
    args: &args::Extensions,
    factories: &Factories,
    cache: &Path,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let version = match args.version.as_str() {
        version if version.starts_with('v') => version.to_owned(),
        version => format!("v{version}"),
    };
    let kept = releases::kept(cache);
    let mut versions = kept.unwrap_or_else(|| Versions::built_in().clone());
    if args.refresh {
        let release = factories.release(&args.factory, &version).map_err(|reason| {
            Error::Factory { attempt: format!("learn what {version} has"), reason }
        })?;
        versions.add(&version, release);
        let file = releases::keep(&versions, cache)?;
        printer.note(&format!("kept in {}", file.display()));
    }
    let names = versions.extensions(&version).ok_or_else(|| Error::Usage {
        message: format!("the extensions of {version} are not known"),
        hint: "--refresh asks the image factory".to_owned(),
    })?;
    printer.value(&Extensions(names), args.shown.output)
}

#[derive(Serialize)]
#[serde(transparent)]
struct Extensions(Vec<String>);

impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}
