//! Commands that look at machines: one file for each. They change nothing, so they are never asked about.

mod lines;
mod logs;
mod services;

use crate::args::Look;
use crate::machines;
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus};

pub(super) fn run(
    command: &Look,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    machines::run(async {
        match command {
            Look::Logs(args) => logs::run(args, surroundings, printer).await,
            Look::Services(args) => services::run(args, surroundings, printer).await,
        }
    })
}
