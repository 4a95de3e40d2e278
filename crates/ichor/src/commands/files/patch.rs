//! `ichor patch`: patches applied to machine configuration.

use std::path::{Path, PathBuf};

use talconfig::migrate::{Converted, Moved, NotMoved, convert};
use talos_config::yaml::Dialect;
use talos_config::{Contract, Patch, Patched, SourceId};

use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::settings::{self, Input, Target};
use crate::sources::SourceMap;
use crate::table::visible;
use crate::{Error, ExitStatus};

pub(in crate::commands) fn run(
    settings: &settings::Patch,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let settings::Patch { files, patches, layout, target, dialect } = settings;
    let dialect = *dialect;
    let mut sources = SourceMap::default();
    let patches = read_patches(patches, &mut sources)?;
    let mut results = Vec::new();
    for input in files {
        let (text, source) = sources.read(input)?;
        let mut state = apply_all(Patched::new(text, source), source, &patches, dialect, &sources)?;
        if let Some(contract) = layout {
            state = laid_out(state, *contract, source, &sources, printer)?;
        }
        results.push((input, state.encode(dialect).into_exposed()));
    }
    match target {
        Target::Stdout => {
            let several = results.len() > 1;
            for (index, (input, text)) in results.iter().enumerate() {
                if several && index > 0 {
                    printer.verbatim("---\n")?;
                }
                // A configuration has documents of its own: `---` alone would not show where the next one begins.
                if several {
                    printer
                        .verbatim(&format!("# {}\n", visible(&name(input).to_string_lossy())))?;
                }
                printer.verbatim(text)?;
            }
        }
        Target::Path { path, overwrite } => {
            let several = results.len() > 1;
            if several && path.exists() && !path.is_dir() {
                return Err(Error::NotAFile(path.clone()));
            }
            let files: Vec<OutputFile> = results
                .into_iter()
                .map(|(input, text)| OutputFile::secret(destination(path, input, several), text))
                .collect();
            if let Some(twice) =
                files.iter().enumerate().find_map(|(at, OutputFile { path, .. })| {
                    files[..at].iter().any(|other| other.path == *path).then_some(path)
                })
            {
                return Err(Error::SameFile(twice.clone()));
            }
            if several || names_directory(path) {
                fs_err::create_dir_all(path).map_err(Error::Output)?;
            }
            files::write_all(&files, *overwrite, printer)?;
        }
    }
    Ok(ExitStatus::Done)
}

/// Converts to the layout of another release; reports moved and unmoved fields.
fn laid_out(
    state: Patched,
    contract: Contract,
    source: SourceId,
    sources: &SourceMap,
    printer: &mut Printer,
) -> Result<Patched, Error> {
    let converted = state.into_config().and_then(|config| convert(&config, contract));
    let Converted { config, moved, not_moved } =
        converted.map_err(|error| sources.locate(&error, source))?;
    let name = sources.name(source);
    for Moved { from, to } in moved {
        printer.note(&format!("{name}: {from} moved to {to}"));
    }
    for NotMoved { path, reason } in not_moved {
        printer.note(&format!("{name}: {path} not moved: {reason}"));
    }
    Ok(config.into())
}

/// Applies patches in their order; an error names the patch that does not fit.
pub(in crate::commands) fn apply_all(
    mut state: Patched,
    config: SourceId,
    patches: &[(Patch, SourceId)],
    dialect: Dialect,
    sources: &SourceMap,
) -> Result<Patched, Error> {
    for (patch, source) in patches {
        state = state.apply(patch, dialect).map_err(|error| {
            // What is empty is the configuration; an empty patch does not get this far.
            let about = if matches!(error, talos_config::Error::Empty) { config } else { *source };
            sources.locate(&error, about)
        })?;
    }
    Ok(state)
}

/// Reads patches in their order.
pub(in crate::commands) fn read_patches(
    inputs: &[Input],
    sources: &mut SourceMap,
) -> Result<Vec<(Patch, SourceId)>, Error> {
    let mut patches = Vec::new();
    for input in inputs {
        patches.push(sources.parse(input, Patch::parse)?);
    }
    Ok(patches)
}

fn names_directory(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with('/')
}

/// One result goes to the path that was given, or into it when it is a directory.
fn destination(path: &Path, input: &Input, several: bool) -> PathBuf {
    if !several && !path.is_dir() && !names_directory(path) {
        return path.to_owned();
    }
    path.join(name(input).file_name().unwrap_or_default())
}

fn name(input: &Input) -> PathBuf {
    match input {
        Input::File(file) => file.clone(),
        Input::FileOrText(_) | Input::Stdin | Input::Inline(_) => "stdin.yaml".into(),
    }
}
