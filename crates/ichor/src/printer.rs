//! The only place that writes to stdout and stderr.
//!
//! Data goes to stdout in the requested format; messages go to stderr.
//! Colours appear on terminals only, and never when `NO_COLOR` is set.

use std::fmt::{Display, Write as _};
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::mpsc;
use std::thread;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use talos_config::Coded;

use crate::args::OutputFormat;
use crate::diagnostics::located;
use crate::error::with_causes;
use crate::table::{visible, visible_json, visible_lines, visible_styled};
use crate::{Error, ExitStatus};

pub(crate) struct Printer {
    stdout: Box<dyn Stream>,
    stderr: Box<dyn Stream>,
    answers: Box<dyn Answers>,
    /// Number of lines at the end of stderr that the next output replaces.
    replaceable_lines: usize,
    verbosity: Verbosity,
    /// The width of the terminal that stdout is.
    columns: Option<usize>,
}

/// How much is printed beside data, questions and errors.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Verbosity {
    Quiet,
    #[default]
    Normal,
    /// Log lines come in between, so that no line is replaced.
    Logging,
}

impl Printer {
    /// Tables on a terminal are cut to `columns`, or else to the width of the terminal.
    pub(crate) fn new(columns: Option<usize>) -> Self {
        let stdout = anstream::stdout();
        let columns = stdout.is_terminal().then(|| {
            let size = terminal_size::terminal_size_of(stdout.as_inner());
            columns.or_else(|| size.map(|(width, _)| width.0.into()))
        });
        let (stderr, stdin) = (anstream::stderr(), std::io::stdin());
        let printer = Self::with_streams(Box::new(stdout), Box::new(stderr), Box::new(stdin));
        Self { columns: columns.flatten(), ..printer }
    }

    pub(crate) fn with_streams(
        stdout: Box<dyn Stream>,
        stderr: Box<dyn Stream>,
        answers: Box<dyn Answers>,
    ) -> Self {
        let verbosity = Verbosity::default();
        Self { stdout, stderr, answers, replaceable_lines: 0, verbosity, columns: None }
    }

    pub(crate) fn set_verbosity(&mut self, verbosity: Verbosity) {
        self.verbosity = verbosity;
    }

    /// Shows a value as the table that it displays itself as, or as the data that it is.
    pub(crate) fn value<T: Display + Serialize>(
        &mut self,
        value: &T,
        output: OutputFormat,
    ) -> Result<ExitStatus, Error> {
        match output {
            OutputFormat::Table => self.display(value),
            OutputFormat::Json | OutputFormat::Yaml => self.data(value, output),
        }
    }

    /// Gives a value to programs. People get nothing.
    pub(crate) fn data(
        &mut self,
        value: &impl Serialize,
        output: OutputFormat,
    ) -> Result<ExitStatus, Error> {
        match output {
            OutputFormat::Table => Ok(ExitStatus::Done),
            OutputFormat::Json => {
                let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
                self.text(&visible_json(&text))
            }
            OutputFormat::Yaml => self
                .text(&serde_saphyr::to_string(value).map_err(std::io::Error::other)?.trim_end()),
        }
    }

    /// Shows one of many values that come one after the other: as a line of JSON, or as an element of one long YAML list.
    pub(crate) fn item(
        &mut self,
        value: &impl Serialize,
        output: OutputFormat,
    ) -> Result<ExitStatus, Error> {
        match output {
            OutputFormat::Yaml => self.text(
                &serde_saphyr::to_string(&[value]).map_err(std::io::Error::other)?.trim_end(),
            ),
            OutputFormat::Table | OutputFormat::Json => {
                let text = serde_json::to_string(value).map_err(std::io::Error::from)?;
                self.text(&visible_json(&text))
            }
        }
    }

    /// Shows text for people: tables as wide as the terminal, and nothing that moves its cursor.
    pub(crate) fn display(&mut self, text: &dyn Display) -> Result<ExitStatus, Error> {
        let text = match self.columns {
            Some(columns) => format!("{text:columns$}"),
            None => text.to_string(),
        };
        self.text(&visible_styled(&text))
    }

    /// Writes text as it is, but to a terminal nothing that moves its cursor.
    pub(crate) fn plain(&mut self, text: &str) -> Result<ExitStatus, Error> {
        if self.stdout.is_terminal() {
            write!(self.stdout, "{}", visible_styled(text))?;
            self.stdout.flush()?;
            return Ok(ExitStatus::Done);
        }
        self.verbatim(text)
    }

    /// Writes text to stdout, ended by one line break.
    pub(crate) fn text(&mut self, text: &dyn Display) -> Result<ExitStatus, Error> {
        writeln!(self.stdout, "{text}")?;
        self.stdout.flush()?;
        Ok(ExitStatus::Done)
    }

    /// Writes text to stdout as it is.
    pub(crate) fn verbatim(&mut self, text: &str) -> Result<ExitStatus, Error> {
        self.bytes(text.as_bytes())
    }

    /// Writes bytes to stdout as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<ExitStatus, Error> {
        self.stdout.write_data(bytes)?;
        Ok(ExitStatus::Done)
    }

    /// Prints a finding, which has made visible what it repeats.
    pub(crate) fn finding(&mut self, finding: &dyn Display) {
        if self.verbosity != Verbosity::Quiet {
            self.finish();
            // stderr is closed: the finding is lost.
            let _ = writeln!(self.stderr, "{finding}");
        }
    }

    /// Prints a message.
    pub(crate) fn note(&mut self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.reason(text);
        }
    }

    /// Prints why a command does not end well, which is never left out.
    pub(crate) fn reason(&mut self, text: &str) {
        self.finish();
        // stderr is closed: the message is lost.
        let _ = writeln!(self.stderr, "{}", visible_lines(text));
    }

    /// Shows text that is shown again and again: on a terminal in place of what was there, elsewhere below it.
    pub(crate) fn screen(&mut self, table: &dyn Display) -> Result<(), Error> {
        if self.stdout.is_terminal() {
            // Line by line over the old ones: nothing flickers.
            let text =
                format!("{table:width$}", width = self.columns.unwrap_or(usize::from(u16::MAX)));
            let lines = visible_styled(text.trim_end()).replace('\n', "\x1b[K\n");
            write!(self.stdout, "\x1b[H{lines}\x1b[K\n\x1b[J")?;
            self.stdout.flush()?;
            return Ok(());
        }
        self.text(table).map(drop)
    }

    /// Returns whether data is shown on a terminal.
    pub(crate) fn shows_data(&self) -> bool {
        self.stdout.is_terminal()
    }

    /// Returns whether `view` and `progress` are shown on a terminal.
    pub(crate) fn is_watched(&self) -> bool {
        self.stderr.is_terminal() && self.verbosity == Verbosity::Normal
    }

    /// Shows how far something is that takes long: on a terminal in one line, which the next one replaces.
    pub(crate) fn progress(&mut self, text: &str) {
        self.view(&[text.to_owned()]);
    }

    /// Shows progress in several lines.
    pub(crate) fn view(&mut self, lines: &[String]) {
        if self.is_watched() && !lines.is_empty() {
            self.finish();
            let text = lines.join("\n");
            // A line that is too long is cut by the terminal, or going back over it would miss its beginning.
            let _ = write!(self.stderr, "\x1b[?7l{}\x1b[?7h", visible_lines(&text));
            let _ = self.stderr.flush();
            self.replaceable_lines = lines.len();
        }
    }

    /// Shows the step that something is at: on a terminal in place of the one before, elsewhere as a line of its own.
    pub(crate) fn step(&mut self, text: &str) {
        if self.is_watched() {
            self.progress(text);
        } else {
            self.note(text);
        }
    }

    /// Asks for confirmation, unless it is to be skipped. `action` reads as in "reboot 10.0.0.11".
    pub(crate) fn confirm(&mut self, action: &str, skip: bool) -> Result<(), Error> {
        if skip {
            return Ok(());
        }
        let answer = self.ask(action)?;
        confirmed(answer, action)
    }

    /// Asks for confirmation of what cannot be undone: the answer is a name.
    pub(crate) fn confirm_by_name(
        &mut self,
        action: &str,
        name: &str,
        skip: bool,
    ) -> Result<(), Error> {
        if skip {
            return Ok(());
        }
        let prompt = format!("{}\ntype {name} to confirm: ", visible_lines(action));
        let answer = self.prompt(&prompt)?;
        confirmed(answer.map(|answer| answer.trim() == name), action)
    }

    /// Asks a yes/no question whose default is no. `None` without a terminal.
    pub(crate) fn ask(&mut self, question: &str) -> Result<Option<bool>, Error> {
        let answer = self.prompt(&format!("{}? [y/N] ", visible_lines(question)))?;
        let is_yes = |answer: String| matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
        Ok(answer.map(is_yes))
    }

    /// Returns whether there is a terminal with somebody to ask.
    pub(crate) fn can_ask(&self) -> bool {
        self.answers.can_ask()
    }

    /// Asks for a line. `None` without a terminal.
    fn prompt(&mut self, prompt: &str) -> Result<Option<String>, Error> {
        if !self.can_ask() {
            return Ok(None);
        }
        self.finish();
        let _ = write!(self.stderr, "{prompt}");
        let _ = self.stderr.flush();
        self.answers.read().map(Some)
    }

    /// Prints an error with its hint, and returns the exit status.
    pub(crate) fn error(&mut self, error: &Error) -> ExitStatus {
        let status = error.status();
        if status == ExitStatus::Done {
            return status;
        }
        let line = |code: &str, text: &str| {
            format!("{ERROR}error[{code}]{ERROR:#}: {}", visible_lines(text))
        };
        let mut message = match error {
            Error::Refused(refused) => {
                let findings = refused.findings().map(|(rule, text)| line(rule, &text));
                let lines: Vec<String> = findings.chain([refused.effect().to_owned()]).collect();
                lines.join("\n")
            }
            // A decision, and no failure.
            Error::Declined(_) => visible_lines(&with_causes(error)).into_owned(),
            // The hint of one follows below, those of several stand beside them.
            Error::Diagnosed(several) if several.list().len() > 1 => {
                let lines = several.list().iter().map(|diagnostic| {
                    let hint = diagnostic.hint.as_deref();
                    let hint = hint.map_or_else(String::new, |hint| format!(" ({hint})"));
                    line(diagnostic.code, &format!("{}{hint}", located(diagnostic)))
                });
                lines.collect::<Vec<_>>().join("\n")
            }
            _ => line(error.code(), &with_causes(error)),
        };
        if let Some(hint) = error.hint() {
            let _ = write!(message, "\n\n{HINT}hint{HINT:#}: {}", visible_lines(&hint));
        }
        self.finish();
        // stderr is closed: the status still reports the failure.
        let _ = writeln!(self.stderr, "{message}");
        status
    }

    fn finish(&mut self) {
        match std::mem::take(&mut self.replaceable_lines) {
            0 => {}
            1 => drop(write!(self.stderr, "\r\x1b[K")),
            lines => drop(write!(self.stderr, "\r\x1b[{}A\x1b[J", lines - 1)),
        }
    }
}

/// Where a printer writes to.
pub(crate) trait Stream: io::Write + Send {
    fn is_terminal(&self) -> bool;

    /// Writes bytes past the layer that takes colours out: they are data, whatever they contain.
    fn write_data(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Stream for AutoStream<io::Stdout> {
    fn is_terminal(&self) -> bool {
        self.as_inner().is_terminal()
    }

    fn write_data(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = self.as_inner();
        stdout.write_all(bytes)?;
        stdout.flush()
    }
}

impl Stream for AutoStream<io::Stderr> {
    fn is_terminal(&self) -> bool {
        self.as_inner().is_terminal()
    }

    fn write_data(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.as_inner().write_all(bytes)
    }
}

/// Where answers to questions come from.
pub(crate) trait Answers: Send {
    /// Returns whether there is somebody to ask.
    fn can_ask(&self) -> bool;

    /// Reads a line.
    fn read(&mut self) -> Result<String, Error>;
}

impl Answers for io::Stdin {
    fn can_ask(&self) -> bool {
        self.is_terminal()
    }

    fn read(&mut self) -> Result<String, Error> {
        read_answer()
    }
}

fn confirmed(answer: Option<bool>, action: &str) -> Result<(), Error> {
    match answer {
        None => Err(Error::Unasked(action.to_owned())),
        Some(false) => Err(Error::Declined(action.to_owned())),
        Some(true) => Ok(()),
    }
}

/// Writes a log line to stderr.
pub(crate) fn log(line: &str) {
    // stderr is closed: the line is lost.
    let _ = writeln!(anstream::stderr(), "{}", visible(line));
}

/// Reads a line from the terminal. Ctrl-C ends it as well: the caller may have replaced the default handler.
fn read_answer() -> Result<String, Error> {
    let (sender, heard) = mpsc::channel();
    let interrupted = sender.clone();
    thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        // The receiver is gone after an interruption.
        let _ = sender.send(read.map(|_| line).map_err(Error::Input));
    });
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        if runtime.is_ok_and(|runtime| runtime.block_on(tokio::signal::ctrl_c()).is_ok()) {
            let _ = interrupted.send(Err(Error::Interrupted));
        }
    });
    heard.recv().unwrap_or(Err(Error::Interrupted))
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
pub(crate) const HINT: Style = AnsiColor::Cyan.on_default().bold();
