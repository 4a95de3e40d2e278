//! `ichor validate`: whether configuration makes sense, before a machine is asked.

use std::fmt;

use serde::Serialize;
use talos_config::{Config, Mode};

use crate::args::Output;
use crate::printer::Printer;
use crate::settings::Input;
use crate::texts::Texts;
use crate::{Error, ExitStatus};

pub(super) fn run(
    files: &[Input],
    mode: Mode,
    strict: bool,
    output: Output,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let mut reports = Vec::new();
    for file in files {
        let mut texts = Texts::default();
        let report = match texts.parse(file, Config::parse) {
            Ok((config, source)) => {
                let name = texts.name(source).to_owned();
                Report::new(name, mode, &config.validate(mode, strict), &texts)
            }
            // What is no configuration is told like everything else that is wrong with one of several.
            Err(error @ Error::Config { .. }) if files.len() > 1 || output != Output::Table => {
                Report::unreadable(texts.name(talos_config::Source(1)).to_owned(), mode, &error)
            }
            Err(error) => return Err(error),
        };
        reports.push(report);
    }
    let invalid: Vec<&Report> = reports.iter().filter(|report| !report.valid).collect();
    let for_a_person = output == Output::Table;
    if for_a_person {
        let findings =
            reports.iter().flat_map(|report| report.warnings.iter().chain(&report.errors));
        findings.for_each(|finding| printer.note(&finding.to_string()));
    }
    if !for_a_person || invalid.len() < reports.len() {
        printer.value(&Reports(&reports), output)?;
    }
    if invalid.is_empty() {
        return Ok(ExitStatus::Done);
    }
    if !for_a_person {
        return Ok(ExitStatus::BadInput);
    }
    Err(Error::Invalid {
        files: invalid.iter().map(|report| report.file.clone()).collect(),
        errors: invalid.iter().map(|report| report.errors.len()).sum(),
        mode: mode.name(),
    })
}

/// Refuses a configuration that is valid in none of the modes, saying why, and warns about one that is valid.
pub(super) fn in_any(
    name: &str,
    config: &Config,
    modes: &[Mode],
    texts: &Texts,
    printer: &mut Printer,
) -> Result<(), Error> {
    let reports = modes
        .iter()
        .map(|mode| Report::new(name.to_owned(), *mode, &config.validate(*mode, false), texts));
    // Where it is valid in none, what is wrong in the first is told.
    let best = reports.reduce(|best, next| if !best.valid && next.valid { next } else { best });
    let Some(report) = best else { return Ok(()) };
    for finding in report.warnings.iter().chain(&report.errors) {
        printer.note(&finding.to_string());
    }
    if report.valid {
        return Ok(());
    }
    Err(Error::Invalid { files: vec![report.file], errors: report.errors.len(), mode: report.mode })
}

#[derive(Serialize)]
#[serde(transparent)]
struct Reports<'a>(&'a [Report]);

/// A line for each file that is valid.
impl fmt::Display for Reports<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let valid = self.0.iter().filter(|report| report.valid);
        let lines =
            valid.map(|report| format!("{} is valid for {} mode", report.file, report.mode));
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}

/// What was found in one file.
#[derive(Serialize)]
struct Report {
    file: String,
    mode: &'static str,
    valid: bool,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
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
    fn new(file: String, mode: Mode, validation: &talos_config::Validation, texts: &Texts) -> Self {
        let findings = |level: &'static str, findings: &[talos_config::Finding]| {
            let findings = findings.iter().map(|finding| Finding {
                level,
                code: finding.code,
                document: finding.document.clone(),
                message: finding.message.clone(),
                place: texts.place(finding.origin),
            });
            findings.collect::<Vec<_>>()
        };
        Self {
            file,
            mode: mode.name(),
            valid: validation.errors.is_empty(),
            errors: findings("error", &validation.errors),
            warnings: findings("warning", &validation.warnings),
        }
    }

    fn unreadable(file: String, mode: Mode, error: &Error) -> Self {
        let finding = Finding {
            level: "error",
            code: Some(error.code()),
            document: None,
            message: error.to_string(),
            place: None,
        };
        Self { file, mode: mode.name(), valid: false, errors: vec![finding], warnings: Vec::new() }
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
