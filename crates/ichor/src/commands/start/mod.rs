//! Commands that start the directory of a cluster.

mod import;
mod init;
mod init_talconfig;

use crate::args::{Import, Init};
use crate::printer::Printer;
use crate::settings::Surroundings;
use crate::{Error, ExitStatus, runtime};

pub(super) fn init(
    args: &Init,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let keys = &surroundings.place.keys;
    if args.talhelper {
        init_talconfig::run(args, keys, printer)
    } else {
        init::run(args, keys, printer)
    }
}

pub(super) fn import(
    args: &Import,
    surroundings: &Surroundings,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    runtime::run(import::run(args, surroundings, printer))
}
