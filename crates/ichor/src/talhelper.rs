//! The personality `talhelper`: `ichor talhelper …`, or the program under that name.
//!
//! Arguments, outputs, file modes and exit codes are those of talhelper 3.1.15, so that scripts go on working;
//! help texts are ours. What is different on purpose is in `docs/reference/talhelper.md`.

mod args;
pub(crate) mod diff;
mod gencommand;
mod genconfig;
mod gensecret;
mod genurl;
pub(crate) mod gitignore;
mod system_host;
mod validate;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write;

use talconfig::{Environment, Finding, Talconfig};
use talos_config::Coded;

use crate::printer::Printer;
use crate::{Error, ExitStatus};

pub(crate) use args::{ENV_FILES, SECRET_FILES, command};
pub(crate) use system_host::SystemHost;

use args::{Command, Parsed};

/// Runs one command line, the program's name left out.
pub(crate) fn run(
    arguments: &[OsString],
    variables: &[(String, String)],
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let environment: Environment = variables.iter().cloned().collect();
    match args::parse(arguments) {
        Parsed::Text(text) => printer.verbatim(&text),
        Parsed::Wrong(message) => {
            fatal(printer, &message, None);
            Ok(ExitStatus::Failed)
        }
        Parsed::Command { command, debug } => {
            let host = SystemHost::new(debug, &environment);
            let mut session = Session { host: &host, environment, printer };
            let done = session.command(command);
            host.tell(session.printer);
            match done {
                Ok(()) => Ok(ExitStatus::Done),
                Err(TalhelperError::AlreadyReported) => Ok(ExitStatus::Failed),
                Err(TalhelperError::Output(error)) => Err(error),
                Err(TalhelperError::Fatal { message, hint }) => {
                    let hint = hint.map(|hint| host.redact(&hint));
                    fatal(session.printer, &host.redact(&message), hint.as_deref());
                    Ok(ExitStatus::Failed)
                }
            }
        }
    }
}

/// Checks that a command line can be typed, the program's name left out.
pub(crate) fn check(arguments: &[OsString]) -> Result<(), String> {
    match args::parse(arguments) {
        Parsed::Text(_) | Parsed::Command { .. } => Ok(()),
        Parsed::Wrong(message) => Err(message),
    }
}

/// Reasons why a talhelper command failed.
enum TalhelperError {
    /// The error was printed already.
    AlreadyReported,
    Fatal {
        message: String,
        hint: Option<String>,
    },
    Output(Error),
}

impl TalhelperError {
    fn new(message: impl Into<String>) -> Self {
        Self::Fatal { message: message.into(), hint: None }
    }

    /// An error of a talconfig, with what was attempted in front.
    fn of(attempt: &str, error: &talconfig::Error) -> Self {
        let hint = error.hint().map(Cow::into_owned);
        Self::Fatal { message: format!("{attempt}{error}"), hint }
    }
}

impl From<Error> for TalhelperError {
    fn from(error: Error) -> Self {
        Self::Output(error)
    }
}

/// State shared by all commands.
struct Session<'a> {
    host: &'a SystemHost,
    environment: Environment,
    printer: &'a mut Printer,
}

impl Session<'_> {
    fn command(&mut self, command: Command) -> Result<(), TalhelperError> {
        match command {
            Command::Genconfig(args) => genconfig::run(self, &args),
            Command::Gensecret { from } => gensecret::run(self, from.as_deref()),
            Command::Gencommand { verb, common, offline } => {
                gencommand::run(self, verb, &common, offline)
            }
            Command::GenurlInstaller(args) => genurl::installer(self, &args),
            Command::GenurlImage(args) => genurl::image(self, &args),
            Command::ValidateTalconfig { file, env_files, no_substitute } => {
                validate::talconfig(self, &file, &env_files, no_substitute)
            }
            Command::ValidateNodeconfig { files, mode } => {
                validate::nodeconfig(self, &files, &mode)
            }
            Command::Genschema { file } => genconfig::schema(&file),
        }
    }

    fn say(&mut self, line: &str) -> Result<(), TalhelperError> {
        self.printer.plain(&format!("{line}\n"))?;
        Ok(())
    }

    /// Reads and checks a talconfig, and prints its errors; warnings only on request.
    fn load(
        &mut self,
        file: &str,
        env_files: &[String],
        warnings: bool,
    ) -> Result<Talconfig, TalhelperError> {
        let loaded = Talconfig::load(file, env_files, &mut self.environment, self.host);
        match loaded {
            Ok(talconfig) => {
                if warnings && !talconfig.warnings.is_empty() {
                    self.findings(ISSUES, &talconfig.warnings, true)?;
                }
                Ok(talconfig)
            }
            Err(error) => {
                if let talconfig::Error::Invalid(findings) = &error {
                    self.findings(ISSUES, findings, warnings)?;
                }
                Err(TalhelperError::of("failed to parse config file: ", &error))
            }
        }
    }

    /// Prints findings, grouped by field.
    fn findings(
        &mut self,
        head: &str,
        findings: &[Finding],
        warnings: bool,
    ) -> Result<(), TalhelperError> {
        let shown = |finding: &&Finding| warnings || !finding.is_warning;
        let mut fields: Vec<&str> =
            findings.iter().filter(shown).map(|finding| &*finding.field).collect();
        fields.sort_unstable();
        fields.dedup();
        let mut text = format!("{RED}{head}\n{RESET}");
        for field in fields {
            // Writing to a string cannot fail.
            let _ = write!(text, "{YELLOW}field: {field:?}\n{RESET}");
            let of_field: Vec<&Finding> =
                findings.iter().filter(shown).filter(|finding| finding.field == field).collect();
            // What is wrong comes before what is only questionable.
            for is_warning in [false, true] {
                for finding in of_field.iter().filter(|finding| finding.is_warning == is_warning) {
                    for message in &finding.messages {
                        let mark = if is_warning { "WARNING: " } else { "" };
                        let _ = writeln!(text, "  * {mark}{message}");
                    }
                }
            }
        }
        self.printer.text(&self.host.redact(text.trim_end_matches('\n')))?;
        Ok(())
    }
}

fn fatal(printer: &mut Printer, message: &str, hint: Option<&str>) {
    // What ends its line itself needs no other end.
    let message = message.strip_suffix('\n').unwrap_or(message);
    printer.note(&format!("{} {message}", system_host::time_stamp()));
    if let Some(hint) = hint {
        printer.note(&format!("hint: {}", hint.replace('\n', " ")));
    }
}

const ISSUES: &str = "There are issues with your Talhelper config file:";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const RESET: &str = "\u{1b}[0m";
