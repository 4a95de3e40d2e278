//! Commands that create the directory of a cluster.

mod import;
mod init;
mod init_talconfig;

use crate::printer::Printer;
use crate::settings::{Import, Init};
use crate::{Error, ExitStatus, runtime};

pub(super) fn init(settings: &Init, printer: &mut Printer) -> Result<ExitStatus, Error> {
    if settings.talhelper {
        init_talconfig::run(settings, printer)
    } else {
        init::run(settings, printer)
    }
}

pub(super) fn import(settings: &Import, printer: &mut Printer) -> Result<ExitStatus, Error> {
    runtime::run(import::run(settings, printer))
}
