//! `ichor gen crt`: a certificate that an authority signs.

use talos_config::pki::{Authority, Request};

use super::certificate_files::{named, read};
use crate::files::{self, OutputFile};
use crate::printer::Printer;
use crate::settings::GenCrt;
use crate::{Error, ExitStatus, entropy};

pub(in crate::commands) fn run(
    settings: &GenCrt,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let GenCrt { name, authority, request, lifetime, overwrite } = settings;
    let of_authority = |extension: &str| read(&named(&authority.to_string_lossy(), extension));
    let authority = Authority::parse(&of_authority("crt")?, &of_authority("key")?)?;
    let request = Request::parse(&read(request)?)?;
    let signed = entropy::with_secret_source(|makers| {
        let validity = makers.validity(*lifetime);
        authority.sign_request(&request, validity)
    })?;
    let outputs = [OutputFile::shared(named(name, "crt"), signed?.encode())];
    files::write_all(&outputs, *overwrite, printer)
}
