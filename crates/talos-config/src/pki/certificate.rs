//! Certificates: authorities, and what they sign.

use super::der::{self, Reader};
use super::{Key, Pem, PkiError};
use crate::Secret;

/// Whom a certificate is for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Subject {
    /// For Talos, the roles; for Kubernetes, the groups.
    pub organizations: Vec<String>,
    /// For Kubernetes, the user.
    pub common_name: Option<String>,
}

/// What a client's certificate may be used for, besides signing in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Usage {
    /// Signatures only, as for Talos.
    Signature,
    /// Also the encryption of keys, as for Kubernetes.
    SignatureAndEncipherment,
}

/// A certificate to be signed for a client.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Whom it is for.
    pub subject: Subject,
    /// What it may be used for.
    pub usage: Usage,
    /// From when on it is valid, in seconds since 1970.
    pub not_before: i64,
    /// Until when.
    pub not_after: i64,
    /// A number that no other certificate of the authority has.
    pub serial: [u8; 16],
}

/// A certificate.
#[derive(Clone, Eq, PartialEq)]
pub struct Certificate(Vec<u8>);

/// A certificate that signs others, and its key.
#[derive(Clone)]
pub struct Authority {
    certificate: Certificate,
    key: Key,
}

impl Authority {
    /// Makes an authority that signs itself.
    ///
    /// `organization` is all its name; the authority of aggregated APIs has none. `id` is what
    /// certificates refer to it by.
    pub fn new(
        key: Key,
        organization: Option<&str>,
        not_before: i64,
        not_after: i64,
        serial: [u8; 16],
        id: [u8; 20],
    ) -> Self {
        let organizations = organization.map(str::to_owned).into_iter().collect();
        let name = Subject { organizations, common_name: None }.encode();
        let extensions = [
            extension(KEY_USAGE, true, &[der::BIT_STRING, 2, 2, 0x84]),
            extension(EXTENDED_KEY_USAGE, false, &usages(&[SERVER_AUTH, CLIENT_AUTH])),
            extension(BASIC_CONSTRAINTS, true, &der::value(der::SEQUENCE, &[0x01, 0x01, 0xff])),
            extension(SUBJECT_KEY_ID, false, &der::value(der::OCTET_STRING, &id)),
        ];
        let validity = (not_before, not_after);
        let certificate =
            sign(&key, &name, &name, &key.public_key(), validity, serial, &extensions);
        Self { certificate, key }
    }

    /// Takes an authority from its two PEM texts.
    pub fn parse(certificate: &str, key: &str) -> Result<Self, PkiError> {
        let key = Key::parse(key)?;
        let certificate = Certificate::parse(certificate)?;
        let fields = certificate.fields().ok_or(PkiError::Malformed("certificate"))?;
        if fields.public_key != key.public_key() {
            return Err(PkiError::KeyMismatch);
        }
        Ok(Self { certificate, key })
    }

    /// Signs a certificate for a client's key.
    pub fn sign(&self, leaf: &Leaf, key: &Key) -> Result<Certificate, PkiError> {
        let fields = self.certificate.fields().ok_or(PkiError::Malformed("certificate"))?;
        let usage: &[u8] = match leaf.usage {
            Usage::Signature => &[der::BIT_STRING, 2, 7, 0x80],
            Usage::SignatureAndEncipherment => &[der::BIT_STRING, 2, 5, 0xa0],
        };
        let mut extensions = vec![
            extension(KEY_USAGE, true, usage),
            extension(EXTENDED_KEY_USAGE, false, &usages(&[CLIENT_AUTH])),
        ];
        if let Some(id) = fields.key_id {
            let reference = der::sequence(&[der::value(CONTEXT_0_PRIMITIVE, id)]);
            extensions.push(extension(AUTHORITY_KEY_ID, false, &reference));
        }
        let subject = leaf.subject.encode();
        let validity = (leaf.not_before, leaf.not_after);
        Ok(sign(
            &self.key,
            fields.subject,
            &subject,
            &key.public_key(),
            validity,
            leaf.serial,
            &extensions,
        ))
    }

    /// The certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The key's PEM text.
    pub fn key(&self) -> Secret<String> {
        self.key.encode()
    }

    /// Whether it is an authority of Talos' kind, so that its clients have keys of that kind too.
    pub fn is_ed25519(&self) -> bool {
        matches!(self.key, Key::Ed25519(_))
    }
}

impl Certificate {
    /// Reads the first certificate of a PEM text.
    pub fn parse(text: &str) -> Result<Self, PkiError> {
        let pem = Pem::parse(text)?;
        let certificate = Self(pem.bytes);
        if pem.label != "CERTIFICATE" || certificate.fields().is_none() {
            return Err(PkiError::Malformed("certificate"));
        }
        Ok(certificate)
    }

    /// The PEM text.
    pub fn encode(&self) -> String {
        Pem { label: "CERTIFICATE".to_owned(), bytes: self.0.clone() }.encode()
    }

    fn fields(&self) -> Option<Fields<'_>> {
        let mut certificate = Reader(Reader(&self.0).expect(der::SEQUENCE)?);
        let mut body = Reader(certificate.expect(der::SEQUENCE)?);
        body.expect(CONTEXT_0)?;
        body.expect(der::INTEGER)?;
        body.expect(der::SEQUENCE)?;
        body.expect(der::SEQUENCE)?;
        body.expect(der::SEQUENCE)?;
        let (_, _, subject) = body.next()?;
        let (_, _, public_key) = body.next()?;
        let mut key_id = None;
        while let Some((tag, content, _)) = body.next() {
            if tag != CONTEXT_3 {
                continue;
            }
            let mut extensions = Reader(Reader(content).expect(der::SEQUENCE)?);
            while let Some(extension) = extensions.expect(der::SEQUENCE) {
                let mut extension = Reader(extension);
                if extension.expect(der::OBJECT_ID)? == SUBJECT_KEY_ID {
                    key_id = Reader(extension.expect(der::OCTET_STRING)?).expect(der::OCTET_STRING);
                }
            }
        }
        Some(Fields { subject, public_key, key_id })
    }
}

/// What is needed of a certificate to sign in its name.
struct Fields<'a> {
    subject: &'a [u8],
    public_key: &'a [u8],
    key_id: Option<&'a [u8]>,
}

impl Subject {
    fn encode(&self) -> Vec<u8> {
        let mut parts = Vec::new();
        if !self.organizations.is_empty() {
            let mut names = self.organizations.clone();
            names.sort();
            parts.push(der::set_of(
                names.iter().map(|name| attribute(ORGANIZATION, name)).collect(),
            ));
        }
        if let Some(name) = &self.common_name {
            parts.push(der::set_of(vec![attribute(COMMON_NAME, name)]));
        }
        der::sequence(&parts)
    }
}

fn attribute(kind: &[u8], text: &str) -> Vec<u8> {
    let printable = |byte: u8| byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte);
    let tag = if text.bytes().all(printable) { der::PRINTABLE_STRING } else { der::UTF8_STRING };
    der::sequence(&[der::value(der::OBJECT_ID, kind), der::value(tag, text.as_bytes())])
}

fn usages(names: &[&[u8]]) -> Vec<u8> {
    der::sequence(&names.iter().map(|name| der::value(der::OBJECT_ID, name)).collect::<Vec<_>>())
}

fn extension(name: &[u8], critical: bool, content: &[u8]) -> Vec<u8> {
    let mut parts = vec![der::value(der::OBJECT_ID, name)];
    if critical {
        parts.push(vec![0x01, 0x01, 0xff]);
    }
    parts.push(der::value(der::OCTET_STRING, content));
    der::sequence(&parts)
}

fn sign(
    key: &Key,
    issuer: &[u8],
    subject: &[u8],
    public_key: &[u8],
    validity: (i64, i64),
    serial: [u8; 16],
    extensions: &[Vec<u8>],
) -> Certificate {
    let body = der::sequence(&[
        // Version 3 is written as 2.
        der::value(CONTEXT_0, &der::unsigned(&[2])),
        der::unsigned(&serial),
        key.signature_algorithm(),
        issuer.to_vec(),
        der::sequence(&[der::time(validity.0), der::time(validity.1)]),
        subject.to_vec(),
        public_key.to_vec(),
        der::value(CONTEXT_3, &der::sequence(extensions)),
    ]);
    let signature = der::bits(&key.sign(&body));
    Certificate(der::sequence(&[body, key.signature_algorithm(), signature]))
}

/// 2.5.29.15
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
/// 2.5.29.37
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// 2.5.29.19
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
/// 2.5.29.14
const SUBJECT_KEY_ID: &[u8] = &[0x55, 0x1d, 0x0e];
/// 2.5.29.35
const AUTHORITY_KEY_ID: &[u8] = &[0x55, 0x1d, 0x23];
/// 1.3.6.1.5.5.7.3.1
const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];
/// 1.3.6.1.5.5.7.3.2
const CLIENT_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02];
/// 2.5.4.10
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
/// 2.5.4.3
const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const CONTEXT_0: u8 = 0xa0;
const CONTEXT_0_PRIMITIVE: u8 = 0x80;
const CONTEXT_3: u8 = 0xa3;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_763_242_000;

    #[test]
    fn the_same_input_gives_the_same_certificate() {
        let make = || {
            let key = Key::p256([7; 32]).unwrap();
            Authority::new(key, Some("etcd"), NOW, NOW + 315_360_000, [1; 16], [2; 20])
        };
        assert!(make().certificate() == make().certificate());
    }

    #[test]
    fn an_authority_is_read_back_and_signs() {
        let made =
            Authority::new(Key::ed25519([3; 32]), Some("talos"), NOW, NOW + 10, [9; 16], [2; 20]);
        let read = Authority::parse(&made.certificate().encode(), made.key().expose()).unwrap();
        let subject = Subject { organizations: vec!["os:admin".to_owned()], common_name: None };
        let leaf = Leaf {
            subject,
            usage: Usage::Signature,
            not_before: NOW,
            not_after: NOW + 5,
            serial: [4; 16],
        };
        let certificate = read.sign(&leaf, &Key::ed25519([5; 32])).unwrap();
        assert!(Certificate::parse(&certificate.encode()).is_ok());
    }

    #[test]
    fn a_key_of_somebody_else_is_refused() {
        let made =
            Authority::new(Key::ed25519([3; 32]), Some("talos"), NOW, NOW + 10, [9; 16], [2; 20]);
        let other = Key::ed25519([4; 32]).encode();
        let refused = Authority::parse(&made.certificate().encode(), other.expose()).err();
        assert_eq!(refused, Some(PkiError::KeyMismatch));
    }
}
