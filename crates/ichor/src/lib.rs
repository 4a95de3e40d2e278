//! The command: arguments → settings → command → exit status.
//!
//! [`args`] parses the command line, [`settings`] resolves it with the environment, [`commands`] runs it, and an
//! [`ExitStatus`] is the result. Only [`printer`] writes to stdout and stderr: data to the first, everything else to
//! the second.

pub mod args;
mod audit;
mod clock;
mod commands;
mod credentials;
mod diagnostics;
mod directory;
mod entropy;
mod error;
mod exit;
mod factory;
mod files;
mod json_schema;
mod live_cluster;
mod logging;
mod nodes;
mod printer;
mod release_catalog;
mod runtime;
mod settings;
mod sops_files;
mod sources;
mod table;
mod talhelper;
mod talosconfig;
mod timestamp;

use std::ffi::OsString;

pub use commands::{NodeActionError, RefusalReport, schemas};
pub use diagnostics::Diagnostics;
pub use error::Error;
pub use exit::ExitStatus;

use args::{Args, ParsedLine};
use printer::{Printer, Verbosity};
use settings::Settings;

/// Runs one command line, from the program's name to the status it ends with.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let mut printer = Printer::new(settings::columns());
    let outcome = match args::parse(arguments) {
        Ok(ParsedLine::Command(args)) => command(*args, &mut printer),
        Ok(ParsedLine::Answer(answer)) => printer.text(&answer.trim_end()),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => printer.error(&error),
    }
}

fn command(args: Args, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let logs = logging::start(args.log, settings::log_filter().as_deref())?;
    printer.set_verbosity(match (args.log.quiet, logs) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Logging,
        (false, false) => Verbosity::Normal,
    });
    commands::run(&Settings::resolve(args)?, printer)
}
