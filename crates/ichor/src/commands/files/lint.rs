//! `ichor lint`: what silently goes wrong in the files of a cluster.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use talconfig::lint::{Diagnostic, Files, Level, check_native, check_talconfig};

use crate::args::OutputFormat;
use crate::directory::{self, ClusterDirectory, DirectoryKind};
use crate::printer::Printer;
use crate::settings::Lint;
use crate::sources::SourceMap;
use crate::talhelper::{ENV_FILES, SECRET_FILES, SystemHost};
use crate::{Error, ExitStatus};

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
    let diagnostics = if kind == DirectoryKind::Talconfig {
        files.env_files = named(&settings.env_files, &ENV_FILES);
        files.secret_files = named(&settings.secret_files, &SECRET_FILES);
        check_talconfig(&files, &environment, &host).map_err(|error| Error::Spec {
            message: host.redact(&error.to_string()),
            hint: error.hint().map(|hint| host.redact(hint)),
            code: error.code(),
        })?
    } else {
        files.secret_files = named(&settings.secret_files, &["secrets.yaml", "secrets.sops.yaml"]);
        let mut sources = SourceMap::with_keys(&location.keys);
        let (spec, _) = directory::native_spec(Path::new(&files.cluster), &mut sources)?;
        check_native(&files, &spec, &environment, &host)
    };
    let diagnostics: Vec<Diagnostic> = diagnostics
        .into_iter()
        .map(|diagnostic| Diagnostic {
            message: host.redact(&diagnostic.message),
            hint: host.redact(&diagnostic.hint),
            ..diagnostic
        })
        .collect();
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.level == Level::Error).count();
    let warnings = diagnostics.len() - errors;
    if settings.output != OutputFormat::Table || !diagnostics.is_empty() {
        printer.value(&Report(diagnostics.iter().map(Line::new).collect()), settings.output)?;
    }
    if settings.output == OutputFormat::Table {
        printer.note(&format!("{}: {}", files.cluster, counted(errors, warnings)));
    }
    let failed = errors > 0 || settings.strict && warnings > 0;
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

fn counted(errors: usize, warnings: usize) -> String {
    let count = |number: usize, what: &str| match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    };
    match (errors, warnings) {
        (0, 0) => "nothing found".to_owned(),
        (errors, 0) => count(errors, "error"),
        (0, warnings) => count(warnings, "warning"),
        (errors, warnings) => {
            format!("{}, {}", count(errors, "error"), count(warnings, "warning"))
        }
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Report<'a>(Vec<Line<'a>>);

#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    level: &'static str,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    message: &'a str,
    hint: &'a str,
}

impl<'a> Line<'a> {
    fn new(diagnostic: &'a Diagnostic) -> Self {
        let Diagnostic { location, level, code, field, message, hint } = diagnostic;
        let within = |number: u32| Some(number).filter(|_| location.line > 0);
        Self {
            file: &location.file,
            line: within(location.line),
            column: within(location.column),
            level: level.name(),
            code,
            field: field.as_ref().map(|(field, _)| field.as_str()),
            kind: field.as_ref().map(|(_, kind)| *kind),
            message,
            hint,
        }
    }
}

/// `file:1:2: error[lint.unknown-key]: …`, and below it what to do.
impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(line.file)?;
            if let (Some(line), Some(column)) = (line.line, line.column) {
                write!(f, ":{line}:{column}")?;
            }
            write!(f, ": {}[{}]: {}\n  hint: {}", line.level, line.code, line.message, line.hint)?;
        }
        Ok(())
    }
}
