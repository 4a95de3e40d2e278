//! The command: arguments → settings → command → exit status.
//!
//! [`args`] says what may be typed, [`settings`] what was meant, [`commands`] does it, and an
//! [`ExitStatus`] says how it went. Only [`printer`] writes to stdout and stderr: data to the first,
//! everything else to the second.

pub mod args;
mod audit;
mod clock;
mod commands;
mod credentials;
mod directory;
mod entropy;
mod error;
mod exit;
mod factory;
mod files;
mod live_cluster;
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

pub use commands::{NodeActionError, RefusalReport};
pub use error::Error;
pub use exit::ExitStatus;

use args::ParsedLine;
use printer::Printer;
use settings::Settings;

/// Runs one command line, from the program's name to the status it ends with.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitStatus {
    let mut printer = Printer::new();
    let outcome = match args::parse(arguments) {
        Ok(ParsedLine::Command(args)) => {
            Settings::resolve(*args).and_then(|settings| commands::run(&settings, &mut printer))
        }
        Ok(ParsedLine::Answer(answer)) => printer.text(&answer.trim_end()),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(status) => status,
        Err(error) => printer.error(&error),
    }
}
