//! One file for each verb. A command takes settings, writes through the printer and gives a status.

mod completions;
mod version;

use crate::args::Command;
use crate::printer::Printer;
use crate::settings::Settings;
use crate::{Error, ExitStatus};

pub(crate) fn run(settings: &Settings, printer: &mut Printer) -> Result<ExitStatus, Error> {
    match settings.command {
        Command::Version => version::run(settings.output, printer),
        Command::Completions { shell } => completions::run(shell, printer),
    }
}
