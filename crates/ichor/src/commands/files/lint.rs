//! `ichor lint`: what silently goes wrong in the files of a cluster.

use std::path::Path;

use talconfig::lint::{Files, check_native, check_talconfig};
use talos_config::{Diagnostic, Level};

use super::report::{Findings, counted};
use crate::args::OutputFormat;
use crate::diagnostics;
use crate::directory::{self, ClusterDirectory, DirectoryKind};
use crate::json_schema::{JsonSchema as _, SchemaOf};
use crate::printer::Printer;
use crate::settings::Lint;
use crate::sources::SourceMap;
use crate::talhelper::{ENV_FILES, SECRET_FILES, SystemHost};
use crate::{Error, ExitStatus};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = Findings::json_schema;

pub(in crate::commands) fn run(
    settings: &Lint,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let location = &settings.location;
    let ClusterDirectory { file, kind, .. } = directory::find(location.directory.as_deref())?;
    let folder = folder(&file, location.directory.as_deref())?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let named = |given: &[String], names: &[&str]| match given {
        [] => names.iter().map(|name| format!("{folder}{name}")).collect(),
        given => given.to_vec(),
    };
    let mut files = Files { cluster: format!("{folder}{name}"), ..Files::default() };
    list(&format!("{folder}patches"), &mut files.patches)?;
    let environment = location.environment();
    let host = SystemHost::of_directory(location);
    let found = if kind == DirectoryKind::Talconfig {
        files.env_files = named(&settings.env_files, &ENV_FILES);
        files.secret_files = named(&settings.secret_files, &SECRET_FILES);
        check_talconfig(&files, &environment, &host).map_err(|error| {
            diagnostics::coded(&error, error.to_string()).map_text(|text| host.redact(text))
        })?
    } else {
        files.secret_files = named(&settings.secret_files, &["secrets.yaml", "secrets.sops.yaml"]);
        let mut sources = SourceMap::with_keys(&location.keys);
        let (spec, _) = directory::native_spec(Path::new(&files.cluster), &mut sources)?;
        check_native(&files, &spec, &environment, &host)
    };
    let found: Vec<Diagnostic> =
        found.into_iter().map(|found| found.map_text(|text| host.redact(text))).collect();
    if settings.output != OutputFormat::Table || !found.is_empty() {
        printer.value(&Findings::new(&found), settings.output)?;
    }
    if settings.output == OutputFormat::Table {
        printer.note(&format!("{}: {}", files.cluster, counted(&found)));
    }
    let failed = found.iter().any(|found| settings.strict || found.level == Level::Error);
    Ok(if failed { ExitStatus::Failed } else { ExitStatus::Done })
}

/// The folder of the file, as what stands before names of files: as short as the user wrote it where that is possible.
fn folder(file: &Path, directory: Option<&Path>) -> Result<String, Error> {
    let here = fs_err::canonicalize(directory.unwrap_or(Path::new("."))).map_err(Error::Input)?;
    let folder = file.parent().unwrap_or(&here);
    let folder = match folder.strip_prefix(&here) {
        Ok(below) => directory.unwrap_or(Path::new("")).join(below),
        Err(_) => folder.to_owned(),
    };
    let folder = folder.display().to_string();
    let end = if folder.is_empty() || folder.ends_with('/') { "" } else { "/" };
    Ok(format!("{folder}{end}"))
}

/// Lists the files below a folder that could be patches; none if it does not exist.
fn list(folder: &str, files: &mut Vec<String>) -> Result<(), Error> {
    if !Path::new(folder).is_dir() {
        return Ok(());
    }
    for entry in fs_err::read_dir(folder).map_err(Error::Input)? {
        let entry = entry.map_err(Error::Input)?;
        let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let suffix = Path::new(&path).extension().and_then(|suffix| suffix.to_str());
        // A link may lead back up.
        if entry.file_type().map_err(Error::Input)?.is_dir() {
            list(&path, files)?;
        } else if matches!(suffix, Some("yaml" | "yml" | "json")) {
            files.push(path);
        }
    }
    Ok(())
}
