//! The only place that writes to stdout and stderr.
//!
//! Data goes to stdout in the form that was asked for; everything meant for a person goes to stderr.
//! Colours appear on terminals only, and never when `NO_COLOR` is set.

use std::error::Error as _;
use std::fmt::{Display, Write as _};
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use serde::Serialize;

use crate::args::Output;
use crate::{Error, ExitStatus};

#[derive(Debug)]
pub(crate) struct Printer {
    stdout: anstream::AutoStream<std::io::Stdout>,
    stderr: anstream::AutoStream<std::io::Stderr>,
}

impl Printer {
    pub(crate) fn new() -> Self {
        Self { stdout: anstream::stdout(), stderr: anstream::stderr() }
    }

    /// Shows a value as the table that it displays itself as, or as the data that it is.
    pub(crate) fn value<T: Display + Serialize>(
        &mut self,
        value: &T,
        output: Output,
    ) -> Result<ExitStatus, Error> {
        match output {
            Output::Table => self.text(value),
            Output::Json => {
                self.text(&serde_json::to_string_pretty(value).map_err(std::io::Error::from)?)
            }
            Output::Yaml => self
                .text(&serde_saphyr::to_string(value).map_err(std::io::Error::other)?.trim_end()),
        }
    }

    /// Writes text to stdout, ended by one line break.
    pub(crate) fn text(&mut self, text: &dyn Display) -> Result<ExitStatus, Error> {
        writeln!(self.stdout, "{text}")?;
        self.stdout.flush()?;
        Ok(ExitStatus::Done)
    }

    /// Writes text to stdout as it is.
    pub(crate) fn exactly(&mut self, text: &str) -> Result<ExitStatus, Error> {
        // Past the layer that takes colours out: this is data, whatever it contains.
        let mut stdout = self.stdout.as_inner();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        Ok(ExitStatus::Done)
    }

    /// Tells a person what was done.
    pub(crate) fn note(&mut self, text: &str) {
        // Nobody is left to tell when stderr is gone.
        let _ = writeln!(self.stderr, "{text}");
    }

    /// Tells a person what went wrong and what to do, and gives the status to end with.
    pub(crate) fn error(&mut self, error: &Error) -> ExitStatus {
        let status = error.status();
        if status == ExitStatus::Done {
            return status;
        }
        let mut message = format!("{ERROR}error[{}]{ERROR:#}: {error}", error.code());
        let mut source = error.source();
        while let Some(cause) = source {
            let _ = write!(message, ": {cause}");
            source = cause.source();
        }
        if let Some(hint) = error.hint() {
            let _ = write!(message, "\n\n{HINT}hint{HINT:#}: {hint}");
        }
        // Nobody is left to tell when stderr is gone; the status still says that it failed.
        let _ = writeln!(self.stderr, "{message}");
        status
    }
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();
