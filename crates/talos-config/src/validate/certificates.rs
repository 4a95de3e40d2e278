//! Whether texts are keys and certificates. They are taken apart, but nothing is computed with them.

use super::cursor::Cursor;
use super::go_compat::quoted;
use crate::pki::reader::{BIT_STRING, INTEGER, OCTET_STRING, Reader, SEQUENCE};
use crate::pki::{Pem, blocks};

/// A certificate with its key, as PEM. `load` takes both apart.
pub(super) fn check_pair(pair: Cursor<'_>, load: bool) -> Result<(), String> {
    let (certificate, key) = (pair.at("cert").text(), pair.at("key").text());
    if certificate.is_empty() {
        return Err("certificate is required".to_owned());
    }
    if key.is_empty() {
        return Err("key is required".to_owned());
    }
    check_pem(certificate, Some("CERTIFICATE"))
        .map_err(|reason| format!("certificate: {reason}"))?;
    check_pem(key, None).map_err(|reason| format!("key: {reason}"))?;
    if load {
        check_certificate(certificate)
            .map_err(|reason| format!("certificate is invalid: {reason}"))?;
        check_key(key).map_err(|reason| format!("key is invalid: {reason}"))?;
    }
    Ok(())
}

/// PEM blocks, all of one label if there is one to have.
pub(super) fn check_pem(text: &str, label: Option<&str>) -> Result<(), String> {
    let mut any = false;
    for block in blocks(text) {
        any = true;
        if let Some(label) = label.filter(|label| *label != block.label) {
            let (found, label) = (quoted(&block.label), quoted(label));
            return Err(format!("unexpected PEM block type {found}, expected one of [{label}]"));
        }
    }
    if any { Ok(()) } else { Err("no PEM blocks found".to_owned()) }
}

/// Whether there is a certificate among the PEM blocks of a text.
pub(super) fn has_certificate(text: &str) -> bool {
    blocks(text).any(|block| block.label == "CERTIFICATE" && is_certificate(&block.bytes))
}

fn check_certificate(text: &str) -> Result<(), String> {
    let block = first(text)?;
    if is_certificate(&block.bytes) {
        Ok(())
    } else {
        Err("failed to parse certificate: x509: malformed certificate".to_owned())
    }
}

/// A key that a service account's tokens can be signed with.
pub(super) fn check_signing_key(text: &str) -> Result<(), String> {
    let label = first(text)?.label;
    check_key(text).map_err(|reason| {
        // The two readers of keys that Talos has differ in a colon.
        if reason.starts_with("unsupported") {
            format!("unsupported key type {}", quoted(&label))
        } else {
            reason
        }
    })
}

fn check_key(text: &str) -> Result<(), String> {
    let block = first(text)?;
    let (fine, what) = match block.label.as_str() {
        "RSA PRIVATE KEY" => (is_pkcs1(&block.bytes), "RSA key"),
        "ED25519 PRIVATE KEY" => (is_pkcs8(&block.bytes), "Ed25519 key"),
        "EC PRIVATE KEY" => (is_sec1(&block.bytes), "ECDSA key"),
        "PRIVATE KEY" => (is_pkcs8(&block.bytes), "key"),
        other => return Err(format!("unsupported key type: {}", quoted(other))),
    };
    if fine { Ok(()) } else { Err(format!("failed to parse {what}: malformed")) }
}

fn first(text: &str) -> Result<Pem, String> {
    blocks(text).next().ok_or_else(|| "failed to parse PEM block".to_owned())
}

/// A body of at least six fields, an algorithm and a signature.
fn is_certificate(bytes: &[u8]) -> bool {
    let inside = || {
        let mut rules = Reader(bytes);
        let mut certificate = Reader(rules.expect(SEQUENCE)?);
        let mut body = Reader(certificate.expect(SEQUENCE)?);
        certificate.expect(SEQUENCE)?;
        certificate.expect(BIT_STRING)?;
        let mut fields = 0;
        while body.next().is_some() {
            fields += 1;
        }
        (rules.0.is_empty() && fields >= 6).then_some(())
    };
    inside().is_some()
}

/// A version and the eight numbers of an RSA key.
fn is_pkcs1(bytes: &[u8]) -> bool {
    let Some(content) = Reader(bytes).expect(SEQUENCE) else { return false };
    let mut fields = Reader(content);
    (0..9).all(|_| fields.expect(INTEGER).is_some())
}

/// A version and a secret of some bytes.
fn is_sec1(bytes: &[u8]) -> bool {
    let inside = || {
        let mut fields = Reader(Reader(bytes).expect(SEQUENCE)?);
        fields.expect(INTEGER)?;
        fields.expect(OCTET_STRING)
    };
    inside().is_some()
}

/// A version, an algorithm and a key in a form of its own.
fn is_pkcs8(bytes: &[u8]) -> bool {
    let inside = || {
        let mut fields = Reader(Reader(bytes).expect(SEQUENCE)?);
        fields.expect(INTEGER)?;
        fields.expect(SEQUENCE)?;
        fields.expect(OCTET_STRING)
    };
    inside().is_some()
}
