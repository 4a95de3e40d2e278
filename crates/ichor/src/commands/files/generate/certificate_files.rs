//! Single keys and certificates, and the files that they are kept in.

use std::path::{Path, PathBuf};

use talos_config::pki::{Authority, Key, NewAuthority};

use crate::files::OutputFile;
use crate::settings::Input;
use crate::sources::SourceMap;
use crate::{Error, entropy};

pub(super) fn new_key() -> Result<Key, Error> {
    entropy::with_secret_source(|makers| Key::ed25519(makers.bytes()))
}

pub(super) fn new_authority(
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

pub(super) fn pair(name: &str, authority: &Authority) -> Vec<OutputFile> {
    vec![
        OutputFile::shared(named(name, "crt"), authority.certificate().encode()),
        OutputFile::secret(named(name, "key"), authority.key().into_exposed()),
    ]
}

/// The name with an extension behind it, also where the name has dots of its own.
pub(super) fn named(name: &str, extension: &str) -> PathBuf {
    PathBuf::from(format!("{name}.{extension}"))
}

pub(super) fn read(path: &Path) -> Result<String, Error> {
    SourceMap::default().read(&Input::File(path.to_owned())).map(|(text, _)| text)
}
