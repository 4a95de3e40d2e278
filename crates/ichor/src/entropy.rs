//! Randomness for new secrets, and the one kind of key that the libraries do not make.

use std::sync::Arc;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA512};
use talos_config::pki::{Key, RsaKey, rsa_pem};
use talos_config::{Secret, SecretSource};

use crate::{Error, clock};

/// Runs something that makes secrets.
pub(crate) fn with_secret_source<T>(
    make: impl FnOnce(&mut SecretSource<'_>) -> T,
) -> Result<T, Error> {
    let mut failed = None;
    let mut random = |bytes: &mut [u8]| {
        if let Err(error) = getrandom::fill(bytes) {
            failed = Some(error.to_string());
        }
    };
    let mut rsa_failed = false;
    let mut rsa = || {
        let pem = KeyPair::generate(KeySize::Rsa4096).ok().and_then(|key| pem(&key));
        rsa_failed |= pem.is_none();
        pem.unwrap_or_else(|| Secret::new(String::new()))
    };
    let made = make(&mut SecretSource { now: clock::now(), random: &mut random, rsa: &mut rsa });
    if rsa_failed {
        failed = Some("no RSA key could be made".to_owned());
    }
    failed.map_or(Ok(made), |reason| Err(Error::NoSecrets(reason)))
}

/// A new RSA key to sign with.
pub(crate) fn rsa_key() -> Result<Key, Error> {
    let make = || {
        let key = KeyPair::generate(KeySize::Rsa4096).ok()?;
        let document: PublicKeyX509Der<'_> = key.public_key().as_der().ok()?;
        let public_key = document.as_ref().to_vec();
        // Whoever can sign once can sign again.
        signature(&key, b"")?;
        let pem = pem(&key)?;
        let sign = Arc::new(move |message: &[u8]| signature(&key, message).unwrap_or_default());
        Some(Key::Rsa(RsaKey { pem, public_key, sign }))
    };
    make().ok_or_else(|| Error::NoSecrets("no RSA key could be made".to_owned()))
}

fn signature(key: &KeyPair, message: &[u8]) -> Option<Vec<u8>> {
    let mut signature = vec![0; key.public_modulus_len()];
    let random = aws_lc_rs::rand::SystemRandom::new();
    key.sign(&RSA_PKCS1_SHA512, &random, message, &mut signature).ok()?;
    Some(signature)
}

fn pem(key: &KeyPair) -> Option<Secret<String>> {
    let document: Pkcs8V1Der<'_> = key.as_der().ok()?;
    rsa_pem(document.as_ref())
}
