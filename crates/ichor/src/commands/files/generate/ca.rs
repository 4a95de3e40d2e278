//! `ichor gen ca`: a certificate authority.

use super::certificate_files::{named, new_authority, new_key, pair};
use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::settings::GenCa;
use crate::{Error, ExitStatus, entropy};

pub(in crate::commands) fn run(
    settings: &GenCa,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let GenCa { organization, lifetime, rsa, overwrite } = settings;
    let key = if *rsa { entropy::rsa_key()? } else { new_key()? };
    let authority = new_authority(key, organization, &[], *lifetime)?;
    let mut outputs = pair(organization, &authority);
    outputs.push(OutputFile::shared(named(organization, "sha256"), authority.fingerprint()));
    files::write_all(&outputs, *overwrite, printer)
}
