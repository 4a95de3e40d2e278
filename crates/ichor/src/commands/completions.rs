//! `ichor completions`: a script for the user's shell.

use clap_complete::Shell;

use crate::args;
use crate::printer::Printer;
use crate::{Error, ExitStatus};

pub(super) fn run(shell: Shell, printer: &mut Printer) -> Result<ExitStatus, Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut args::command(), "ichor", &mut script);
    printer.text(&String::from_utf8_lossy(&script).trim_end())
}
