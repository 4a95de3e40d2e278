//! `ichor gen keypair`: a certificate that signs itself.

use super::certificate_files::{new_authority, new_key, pair};
use crate::printer::Printer;
use crate::settings::GenKeypair;
use crate::{Error, ExitStatus, files};

pub(in crate::commands) fn run(
    settings: &GenKeypair,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let GenKeypair { organization, address, lifetime, overwrite } = settings;
    let authority = new_authority(new_key()?, organization, address.as_slice(), *lifetime)?;
    let outputs = pair(organization, &authority);
    files::write_all(&outputs, *overwrite, printer)
}
