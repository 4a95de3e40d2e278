//! `ichor gen key`: a private key.

use super::certificate_files::{named, new_key};
use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::settings::GenKey;
use crate::{Error, ExitStatus};

pub(in crate::commands) fn run(
    settings: &GenKey,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let GenKey { name, overwrite } = settings;
    let outputs = [OutputFile::secret(named(name, "key"), new_key()?.encode().into_exposed())];
    files::write_all(&outputs, *overwrite, printer)
}
