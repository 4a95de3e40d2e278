//! `ichor gen ca|key|csr|crt|keypair`: single keys and certificates, written as files of their owner.

use std::path::{Path, PathBuf};

use talos_config::pki::{Authority, Key, NewAuthority, Request, Subject};

use crate::printer::Printer;
use crate::settings::{GenCertificate, Input};
use crate::sources::SourceMap;
use crate::{Error, ExitStatus, entropy, files};

pub(in crate::commands) fn run(
    what: &GenCertificate,
    overwrite: bool,
    printer: &mut Printer,
) -> Result<ExitStatus, Error> {
    let outputs = match what {
        GenCertificate::Authority { organization, lifetime, rsa } => {
            let key = if *rsa { entropy::rsa_key()? } else { new_key()? };
            let authority = authority(key, organization, &[], *lifetime)?;
            let mut outputs = pair(organization, &authority);
            outputs.push((file(organization, "sha256"), authority.fingerprint()));
            outputs
        }
        GenCertificate::KeyPair { organization, address, lifetime } => {
            let authority = authority(new_key()?, organization, address.as_slice(), *lifetime)?;
            pair(organization, &authority)
        }
        GenCertificate::Key { name } => {
            vec![(file(name, "key"), new_key()?.encode().into_exposed())]
        }
        GenCertificate::Request { key: path, address, roles } => {
            let key = Key::parse(&read(path)?)?;
            let subject = Subject { organizations: roles.clone(), common_name: None };
            let request = Request::new(&key, &subject, &[*address]);
            vec![(path.with_extension("csr"), request.encode())]
        }
        GenCertificate::Signed { name, authority, request, lifetime } => {
            let of_authority =
                |extension: &str| read(&file(&authority.to_string_lossy(), extension));
            let authority = Authority::parse(&of_authority("crt")?, &of_authority("key")?)?;
            let request = Request::parse(&read(request)?)?;
            let signed = entropy::with_secret_source(|makers| {
                let validity = makers.validity(*lifetime);
                authority.sign_request(&request, validity)
            })?;
            vec![(file(name, "crt"), signed?.encode())]
        }
    };
    files::write_all(&outputs, overwrite, printer)
}

fn new_key() -> Result<Key, Error> {
    entropy::with_secret_source(|makers| Key::ed25519(makers.bytes()))
}

fn authority(
    key: Key,
    organization: &str,
    addresses: &[std::net::IpAddr],
    lifetime: i64,
) -> Result<Authority, Error> {
    entropy::with_secret_source(|makers| {
        let (validity, id) = (makers.validity(lifetime), makers.bytes());
        Authority::new(
            key,
            &NewAuthority { organization: Some(organization), addresses, validity, id },
        )
    })
}

fn pair(name: &str, authority: &Authority) -> Vec<(PathBuf, String)> {
    vec![
        (file(name, "crt"), authority.certificate().encode()),
        (file(name, "key"), authority.key().into_exposed()),
    ]
}

/// The name with an extension behind it, also where the name has dots of its own.
fn file(name: &str, extension: &str) -> PathBuf {
    PathBuf::from(format!("{name}.{extension}"))
}

fn read(path: &Path) -> Result<String, Error> {
    SourceMap::default().read(&Input::File(path.to_owned())).map(|(text, _)| text)
}
