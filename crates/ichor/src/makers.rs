//! The clock and the dice behind new secrets, and the one kind of key that the libraries do not make.

use talos_config::pki::rsa_pem;
use talos_config::{Makers, Secret};

use crate::Error;

/// Runs something that makes secrets.
pub(crate) fn with<T>(make: impl FnOnce(&mut Makers<'_>) -> T) -> Result<T, Error> {
    let mut failed = None;
    let mut random = |bytes: &mut [u8]| {
        if let Err(error) = getrandom::fill(bytes) {
            failed = Some(error.to_string());
        }
    };
    let mut rsa_failed = false;
    let mut rsa = || {
        let key = aws_lc_rs::rsa::KeyPair::generate(aws_lc_rs::rsa::KeySize::Rsa4096);
        let bytes = key.ok().and_then(|key| {
            let document =
                aws_lc_rs::encoding::AsDer::<aws_lc_rs::encoding::Pkcs8V1Der<'_>>::as_der(&key)
                    .ok()?;
            rsa_pem(document.as_ref())
        });
        rsa_failed |= bytes.is_none();
        bytes.unwrap_or_else(|| Secret::new(String::new()))
    };
    let made = make(&mut Makers { now: now(), random: &mut random, rsa: &mut rsa });
    if rsa_failed {
        failed = Some("no RSA key could be made".to_owned());
    }
    failed.map_or(Ok(made), |reason| Err(Error::NoSecrets(reason)))
}

#[expect(clippy::disallowed_methods, reason = "the one clock of commands that have no engine")]
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
