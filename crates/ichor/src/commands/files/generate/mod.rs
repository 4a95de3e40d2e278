//! `ichor gen`: secrets, configuration and credentials of a new cluster.

pub(in crate::commands) mod age_key;
pub(in crate::commands) mod ca;
mod certificate_files;
pub(in crate::commands) mod config;
pub(in crate::commands) mod crt;
pub(in crate::commands) mod csr;
mod entry_list;
pub(in crate::commands) mod key;
pub(in crate::commands) mod keypair;
pub(in crate::commands) mod kubeconfig;
pub(in crate::commands) mod machine;
pub(in crate::commands) mod machines;
pub(in crate::commands) mod schematic;
pub(in crate::commands) mod secrets;
pub(in crate::commands) mod talconfig;
pub(in crate::commands) mod talosconfig;

use std::path::{Path, PathBuf};

use talos_config::{Bundle, Config};

use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::settings::{Input, Target};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, clock};

/// Reads secrets and refuses those that a cluster cannot be made of.
pub(crate) fn read_bundle(input: &Input, sources: &mut SourceMap) -> Result<Bundle, Error> {
    let (text, source) = sources.read(input)?;
    let bundle = Bundle::parse(&text, source).map_err(|error| sources.locate(&error, source))?;
    let mut problems = bundle.problems();
    if problems.is_empty() {
        problems = bundle.unusable_authorities(clock::now());
    }
    match problems {
        problems if problems.is_empty() => Ok(bundle),
        problems => Err(Error::Secrets {
            file: sources.name(source).to_owned(),
            problems,
            is_config: Config::parse(&text, source).is_ok(),
        }),
    }
}

/// Writes the outputs: one to stdout or to the path, several into it.
fn write(
    outputs: Vec<(PathBuf, String)>,
    target: &Target,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let Target::Path { path, overwrite } = target else {
        return outputs.iter().try_fold(ExitStatus::Done, |_, (_, text)| printer.verbatim(text));
    };
    let into = outputs.len() > 1 || path.is_dir();
    if into && path.exists() && !path.is_dir() {
        return Err(Error::NotAFile(path.clone()));
    }
    let place = |name: &Path| if into { path.join(name) } else { path.clone() };
    let outputs = outputs.into_iter().map(|(name, text)| OutputFile::secret(place(&name), text));
    let outputs: Vec<OutputFile> = outputs.collect();
    if into {
        files::write_tree(&outputs, *overwrite, printer)
    } else {
        files::write_all(&outputs, *overwrite, printer)
    }
}

/// Replaces the hint of an existing file, where overwriting would lose more than a file.
fn with_hint(error: Error, hint: &'static str) -> Error {
    match error {
        Error::Exists { path, .. } => Error::Exists { path, hint },
        other => other,
    }
}
