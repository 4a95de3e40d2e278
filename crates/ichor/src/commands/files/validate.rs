//! `ichor validate`: whether configuration makes sense, before a machine is asked.

use std::fmt;

use plan::RenderError;
use serde::Serialize;
use talos_config::{Config, Location, Mode, Validation};

use crate::args::OutputFormat;
use crate::directory::{self, OpenedDirectory};
use crate::printer::Printer;
use crate::settings::{ClusterLocation, Input};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, runtime};

pub(in crate::commands) fn run(
    files: &[Input],
    mode: Mode,
    strict: bool,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut reports = Vec::new();
    for file in files {
        let mut sources = SourceMap::default();
        let report = match sources.parse(file, Config::parse) {
            Ok((config, source)) => {
                let name = sources.name(source).to_owned();
                let subject = Subject::File(name);
                Report::new(subject, mode, &config.validate(mode, strict), |at| sources.place(at))
            }
            // Among several files an unreadable one is reported like other findings.
            Err(error @ Error::Config { .. })
                if files.len() > 1 || output != OutputFormat::Table =>
            {
                Report::unreadable(sources.name(talos_config::SourceId(1)).to_owned(), mode, &error)
            }
            Err(error) => return Err(error),
        };
        reports.push(report);
    }
    conclude(&reports, mode, output, printer)
}

/// Checks the configuration of every machine of the cluster's directory.
pub(in crate::commands) fn directory(
    location: &ClusterLocation,
    mode: Mode,
    strict: bool,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    runtime::run(async {
        let mut directory = match OpenedDirectory::open(location).await {
            Ok(directory) => directory,
            // A program that reads the report gets one.
            Err(error @ Error::Spec { .. }) if output != OutputFormat::Table => {
                let file = directory::find(location.directory.as_deref())?.file;
                let report = Report::unreadable(file.display().to_string(), mode, &error);
                return conclude(&[report], mode, output, printer);
            }
            Err(error) => return Err(error),
        };
        directory.cluster.mode = mode;
        let cluster = &directory.cluster;
        let mut renderer = cluster.renderer();
        let mut reports = Vec::new();
        if strict && !directory.warnings.is_empty() {
            reports.push(Report::warned(
                directory.file.display().to_string(),
                mode,
                &directory.warnings,
            ));
        } else {
            directory.tell_warnings(printer);
        }
        for (machine, _) in cluster.spec.machines() {
            let validation = match renderer.config(&machine.name) {
                Ok(config) => config.validate(mode, strict),
                Err(RenderError::Invalid { findings, .. }) => {
                    Validation { errors: findings, warnings: Vec::new() }
                }
                Err(other) => return Err(Error::Engine(other.into())),
            };
            let subject = Subject::Machine(machine.name.to_string());
            let place = |origin| cluster.layers.location(origin);
            reports.push(Report::new(subject, mode, &validation, place));
        }
        conclude(&reports, mode, output, printer)
    })
}

/// Prints the findings, and returns the status.
fn conclude(
    reports: &[Report],
    mode: Mode,
    output: OutputFormat,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let invalid: Vec<&Report> = reports.iter().filter(|report| !report.valid).collect();
    let for_a_person = output == OutputFormat::Table;
    if for_a_person {
        for report in reports {
            for finding in report.warnings.iter().chain(&report.errors) {
                match &report.subject {
                    Subject::File(_) => printer.note(&finding.to_string()),
                    Subject::Machine(name) => printer.note(&format!("{name}: {finding}")),
                }
            }
        }
    }
    if !for_a_person || invalid.len() < reports.len() {
        printer.value(&Reports(reports), output)?;
    }
    if invalid.is_empty() {
        return Ok(ExitStatus::Done);
    }
    if !for_a_person {
        return Ok(ExitStatus::BadInput);
    }
    Err(Error::Invalid {
        files: invalid.iter().map(|report| report.subject.to_string()).collect(),
        errors: invalid.iter().map(|report| report.errors.len()).sum(),
        mode: mode.name(),
    })
}

/// Refuses a configuration that is valid in none of the modes, saying why, and warns about one that is valid.
pub(in crate::commands) fn in_any(
    name: &str,
    config: &Config,
    modes: &[Mode],
    sources: &SourceMap,
    printer: &mut Printer,
) -> Result<(), Error> {
    let reports = modes
        .iter()
        .map(|mode| (Subject::File(name.to_owned()), *mode, config.validate(*mode, false)))
        .map(|(subject, mode, found)| Report::new(subject, mode, &found, |at| sources.place(at)));
    // If it is valid in no mode, the findings of the first one are printed.
    let best = reports.reduce(|best, next| if !best.valid && next.valid { next } else { best });
    let Some(report) = best else { return Ok(()) };
    for finding in report.warnings.iter().chain(&report.errors) {
        printer.note(&finding.to_string());
    }
    if report.valid {
        return Ok(());
    }
    Err(Error::Invalid {
        files: vec![report.subject.to_string()],
        errors: report.errors.len(),
        mode: report.mode,
    })
}

#[derive(Serialize)]
#[serde(transparent)]
struct Reports<'a>(&'a [Report]);

/// A line for each file that is valid.
impl fmt::Display for Reports<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let valid = self.0.iter().filter(|report| report.valid);
        let lines =
            valid.map(|report| format!("{} is valid for {} mode", report.subject, report.mode));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// Findings of one configuration.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    subject: Subject,
    mode: &'static str,
    valid: bool,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
}

/// Whose configuration it is.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Subject {
    File(String),
    Machine(String),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::File(name) | Self::Machine(name)) = self;
        f.write_str(name)
    }
}

#[derive(Serialize)]
struct Finding {
    level: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

impl Report {
    fn new(
        subject: Subject,
        mode: Mode,
        validation: &Validation,
        place: impl Fn(Location) -> Option<String>,
    ) -> Self {
        let findings = |level: &'static str, findings: &[talos_config::Finding]| {
            let findings = findings.iter().map(|finding| Finding {
                level,
                code: finding.code,
                document: finding.document.clone(),
                message: finding.message.clone(),
                place: place(finding.origin),
            });
            findings.collect::<Vec<_>>()
        };
        Self {
            subject,
            mode: mode.name(),
            valid: validation.errors.is_empty(),
            errors: findings("error", &validation.errors),
            warnings: findings("warning", &validation.warnings),
        }
    }

    /// Reports a file that cannot be parsed.
    fn unreadable(file: String, mode: Mode, error: &Error) -> Self {
        Self::invalid(file, mode, [(Some(error.code()), error.to_string())])
    }

    /// With `--strict`: warnings count as errors.
    fn warned(file: String, mode: Mode, warnings: &[String]) -> Self {
        let wrong = |warning: &String| (None, warning.replacen("warning: ", "", 1));
        Self::invalid(file, mode, warnings.iter().map(wrong))
    }

    fn invalid(
        file: String,
        mode: Mode,
        findings: impl IntoIterator<Item = (Option<&'static str>, String)>,
    ) -> Self {
        let finding = |(code, message)| Finding {
            level: "error",
            code,
            document: None,
            message,
            place: None,
        };
        Self {
            subject: Subject::File(file),
            mode: mode.name(),
            valid: false,
            errors: findings.into_iter().map(finding).collect(),
            warnings: Vec::new(),
        }
    }
}

/// `file:1:2: warning[check.port]: LinkConfig/eth0: …`
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(self.level)?;
        if let Some(code) = self.code {
            write!(f, "[{code}]")?;
        }
        f.write_str(": ")?;
        if let Some(document) = &self.document {
            write!(f, "{document}: ")?;
        }
        f.write_str(self.message.trim_end())
    }
}
