//! Commands that start the directory of a cluster.

mod import;
mod init;
mod init_talconfig;

use crate::args::start::{ImportArgs, InitArgs};
use crate::printer::Printer;
use crate::settings::UserEnvironment;
use crate::{Error, ExitStatus, runtime};

pub(super) fn init(
    args: &InitArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let keys = &environment.location.keys;
    if args.talhelper {
        init_talconfig::run(args, keys, printer)
    } else {
        init::run(args, keys, printer)
    }
}

pub(super) fn import(
    args: &ImportArgs,
    environment: &UserEnvironment,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    runtime::run(import::run(args, environment, printer))
}
