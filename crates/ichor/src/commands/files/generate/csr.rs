//! `ichor gen csr`: a request for a certificate.

use talos_config::pki::{Key, Request, Subject};

use super::certificate_files::read;
use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::settings::GenCsr;
use crate::{Error, ExitStatus};

pub(in crate::commands) fn run(
    settings: &GenCsr,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let GenCsr { key, address, roles, overwrite } = settings;
    let parsed = Key::parse(&read(key)?)?;
    let subject = Subject { organizations: roles.clone(), common_name: None };
    let request = Request::new(&parsed, &subject, &[*address]);
    let outputs = [OutputFile::shared(key.with_extension("csr"), request.encode())];
    files::write_all(&outputs, *overwrite, printer)
}
