//! `ichor validate`: whether configuration makes sense, before a machine is asked.

use std::fmt;

use plan::RenderError;
use serde::Serialize;
use talos_config::{Config, Diagnostic, FileLocation, Level, Location, Mode, Validation};

use super::report::{Findings, colored};
use crate::args::OutputFormat;
use crate::directory::{self, OpenedDirectory};
use crate::json_schema::{JsonSchema, SchemaOf, schema};
use crate::printer::Printer;
use crate::settings::{ClusterLocation, Input};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, runtime};

/// Schema of what is printed.
pub(in crate::commands) const SCHEMA: SchemaOf = Vec::<Judged<'_>>::json_schema;

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
        reports.push(match sources.parse(file, Config::parse) {
            Ok((config, source)) => {
                let subject = Subject::File(sources.name(source).to_owned());
                Report::new(subject, &config.validate(mode, strict), |at| sources.place(at))
            }
            Err(Error::Diagnosed(wrong)) => {
                let subject = Subject::File(sources.name(talos_config::SourceId(1)).to_owned());
                Report { subject, findings: wrong.into_list() }
            }
            Err(error) => return Err(error),
        });
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
        let file = directory::find(location.directory.as_deref())?.file;
        let subject = Subject::File(file.display().to_string());
        let mut directory = match OpenedDirectory::open(location).await {
            Ok(directory) => directory,
            // What no file can be blamed for is no finding, but a program that reads the report gets one.
            Err(Error::Diagnosed(wrong))
                if output != OutputFormat::Table || wrong.list()[0].location.is_some() =>
            {
                let report = Report { subject, findings: wrong.into_list() };
                return conclude(&[report], mode, output, printer);
            }
            Err(error) => return Err(error),
        };
        directory.cluster.mode = mode;
        let cluster = &directory.cluster;
        let mut renderer = cluster.renderer();
        let mut reports = Vec::new();
        if !directory.warnings.is_empty() {
            let level = if strict { Level::Error } else { Level::Warning };
            let warnings = directory.warnings.into_iter();
            let findings = warnings.map(|warning| Diagnostic { level, ..warning }).collect();
            reports.push(Report { subject, findings });
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
            reports.push(Report::new(subject, &validation, place));
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
    let list: Vec<Judged<'_>> = reports.iter().map(|report| report.judged(mode)).collect();
    printer.value(&Reports(&list), output)?;
    let invalid: Vec<&Report> = reports.iter().filter(|report| !report.is_valid()).collect();
    if invalid.is_empty() {
        return Ok(ExitStatus::Done);
    }
    if output != OutputFormat::Table {
        return Ok(ExitStatus::BadInput);
    }
    Err(Error::Invalid {
        files: invalid.iter().map(|report| report.subject.to_string()).collect(),
        errors: invalid.iter().map(|report| report.of_level(Level::Error).count()).sum(),
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
    let reports = modes.iter().map(|mode| {
        let subject = Subject::File(name.to_owned());
        let validation = config.validate(*mode, false);
        (mode, Report::new(subject, &validation, |at| sources.place(at)))
    });
    // If it is valid in no mode, the findings of the first one are printed.
    let best = reports.reduce(
        |best, next| {
            if !best.1.is_valid() && next.1.is_valid() { next } else { best }
        },
    );
    let Some((mode, report)) = best else { return Ok(()) };
    if !report.findings.is_empty() {
        printer.finding(&Findings::new(&report.findings));
    }
    if report.is_valid() {
        return Ok(());
    }
    Err(Error::Invalid {
        files: vec![name.to_owned()],
        errors: report.of_level(Level::Error).count(),
        mode: mode.name(),
    })
}

/// What was found in one configuration.
struct Report {
    subject: Subject,
    findings: Vec<Diagnostic>,
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

impl Report {
    /// Errors come last, where they are seen.
    fn new(
        subject: Subject,
        validation: &Validation,
        place: impl Fn(Location) -> Option<FileLocation>,
    ) -> Self {
        let found = |level: Level, findings: &[talos_config::Finding]| {
            let findings = findings.iter().map(|finding| {
                let problem = finding.problem.clone().in_file(&place);
                Diagnostic { level, message: finding.message(), ..problem }
            });
            findings.collect::<Vec<_>>()
        };
        let mut findings = found(Level::Warning, &validation.warnings);
        findings.extend(found(Level::Error, &validation.errors));
        Self { subject, findings }
    }

    fn is_valid(&self) -> bool {
        self.of_level(Level::Error).next().is_none()
    }

    fn of_level(&self, level: Level) -> impl Iterator<Item = &Diagnostic> {
        self.findings.iter().filter(move |finding| finding.level == level)
    }

    fn judged(&self, mode: Mode) -> Judged<'_> {
        Judged {
            subject: &self.subject,
            mode: mode.name(),
            valid: self.is_valid(),
            errors: Findings::new(self.of_level(Level::Error)),
            warnings: Findings::new(self.of_level(Level::Warning)),
            findings: &self.findings,
        }
    }
}

/// A report as data.
#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    subject: &'a Subject,
    mode: &'static str,
    valid: bool,
    errors: Findings<'a>,
    warnings: Findings<'a>,
    #[serde(skip)]
    findings: &'a [Diagnostic],
}

schema!(
    Judged<'_>,
    plain { mode, valid, errors, warnings }
    flatten { subject }
    skip { findings }
);

impl JsonSchema for &Subject {
    fn json_schema() -> serde_json::Value {
        let name = String::json_schema();
        serde_json::json!({"properties": {"file": name, "machine": name}})
    }
}

#[derive(Serialize)]
#[serde(transparent)]
struct Reports<'a>(&'a [Judged<'a>]);

/// Every finding, then a line for each configuration that is valid: none where the files that they come from are not.
impl fmt::Display for Reports<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        for Judged { subject, findings, .. } in self.0 {
            lines.extend(findings.iter().map(|finding| match subject {
                Subject::File(_) => colored(finding),
                Subject::Machine(name) => {
                    let message = format!("{name}: {}", finding.message);
                    colored(&Diagnostic { message, ..finding.clone() })
                }
            }));
        }
        let is_machine = |judged: &Judged<'_>| matches!(judged.subject, Subject::Machine(_));
        let of_directory = self.0.iter().any(is_machine);
        let files_are_valid = self.0.iter().all(|judged| judged.valid || is_machine(judged));
        let valid = self.0.iter().filter(|judged| {
            judged.valid && (!of_directory || is_machine(judged) && files_are_valid)
        });
        lines.extend(
            valid.map(|judged| format!("{} is valid for {} mode", judged.subject, judged.mode)),
        );
        f.write_str(&lines.join("\n"))
    }
}
