//! Certificates: authorities, and what they sign.

use std::net::IpAddr;

use sha2::{Digest, Sha256};

use super::der::{self, Reader};
use super::{Key, Pem, PkiError, pem};
use crate::{Secret, hex};

/// The subject of a certificate.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Subject {
    /// For Talos, the roles; for Kubernetes, the groups.
    pub organizations: Vec<String>,
    /// For Kubernetes, the user.
    pub common_name: Option<String>,
}

/// The usage of a client's certificate, besides signing in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Usage {
    /// Signatures only, as for Talos.
    Signature,
    /// Also the encryption of keys, as for Kubernetes.
    SignatureAndEncipherment,
}

/// From when until when something is valid, and the number that tells it from all others.
#[derive(Clone, Copy, Debug)]
pub struct Validity {
    /// Seconds since 1970.
    pub not_before: i64,
    /// Seconds since 1970.
    pub not_after: i64,
    /// A number that no other certificate of the authority has.
    pub serial: [u8; 16],
}

/// A certificate to be signed for a client.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The subject.
    pub subject: Subject,
    /// The usage.
    pub usage: Usage,
    /// The validity.
    pub validity: Validity,
}

/// An authority to be made.
#[derive(Clone, Debug)]
pub struct NewAuthority<'a> {
    /// All its name; the authority of aggregated APIs has none.
    pub organization: Option<&'a str>,
    /// Addresses that it speaks for itself.
    pub addresses: &'a [IpAddr],
    /// The validity.
    pub validity: Validity,
    /// The identifier by which certificates refer to it.
    pub id: [u8; 20],
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
    pub fn new(key: Key, new: &NewAuthority<'_>) -> Self {
        let organizations = new.organization.map(str::to_owned).into_iter().collect();
        let name = Subject { organizations, common_name: None }.encode();
        let mut extensions = vec![
            extension(KEY_USAGE, true, &[der::BIT_STRING, 2, 2, 0x84]),
            extension(EXTENDED_KEY_USAGE, false, &usages(&[SERVER_AUTH, CLIENT_AUTH])),
            extension(BASIC_CONSTRAINTS, true, &der::value(der::SEQUENCE, &[0x01, 0x01, 0xff])),
            extension(SUBJECT_KEY_ID, false, &der::value(der::OCTET_STRING, &new.id)),
        ];
        if !new.addresses.is_empty() {
            extensions.push(extension(ALTERNATIVE_NAMES, false, &addresses(new.addresses)));
        }
        let certificate = sign(&key, &name, &name, &key.public_key(), new.validity, &extensions);
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
        let fields = RequestFields {
            subject: &leaf.subject.encode(),
            public_key: &key.public_key(),
            names: None,
        };
        self.sign_fields(&fields, leaf.usage, &[CLIENT_AUTH], leaf.validity)
    }

    /// Signs a request, for a client.
    pub fn sign_request(
        &self,
        request: &Request,
        validity: Validity,
    ) -> Result<Certificate, PkiError> {
        let fields = request.fields().ok_or(PkiError::Malformed("certificate request"))?;
        self.sign_fields(&fields, Usage::Signature, &[CLIENT_AUTH], validity)
    }

    /// Signs what a machine asked for: it is called, and calls other machines.
    pub fn sign_machine(
        &self,
        request: &Request,
        validity: Validity,
    ) -> Result<Certificate, PkiError> {
        let fields = request.fields().ok_or(PkiError::Malformed("certificate request"))?;
        self.sign_fields(&fields, Usage::Signature, &[SERVER_AUTH, CLIENT_AUTH], validity)
    }

    fn sign_fields(
        &self,
        asked: &RequestFields<'_>,
        usage: Usage,
        purposes: &[&[u8]],
        validity: Validity,
    ) -> Result<Certificate, PkiError> {
        let fields = self.certificate.fields().ok_or(PkiError::Malformed("certificate"))?;
        let usage: &[u8] = match usage {
            Usage::Signature => &[der::BIT_STRING, 2, 7, 0x80],
            Usage::SignatureAndEncipherment => &[der::BIT_STRING, 2, 5, 0xa0],
        };
        let mut extensions = vec![
            extension(KEY_USAGE, true, usage),
            extension(EXTENDED_KEY_USAGE, false, &usages(purposes)),
        ];
        if let Some(id) = fields.key_id {
            let reference = der::sequence(&[der::value(CONTEXT_0_PRIMITIVE, id)]);
            extensions.push(extension(AUTHORITY_KEY_ID, false, &reference));
        }
        extensions.extend(asked.names.map(|names| extension(ALTERNATIVE_NAMES, false, names)));
        let (subject, public_key) = (asked.subject, asked.public_key);
        Ok(sign(&self.key, fields.subject, subject, public_key, validity, &extensions))
    }

    /// Returns the certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Returns the key's PEM text.
    pub fn key(&self) -> Secret<String> {
        self.key.encode()
    }

    /// Returns the hash of its public key, by which clients can tell it without having met it.
    pub fn fingerprint(&self) -> String {
        format!("sha256:{}", hex(&Sha256::digest(self.key.public_key())))
    }

    /// Returns whether it is an authority of Talos' kind, so that its clients have keys of that kind too.
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

    /// Returns the PEM text.
    pub fn encode(&self) -> String {
        Pem { label: "CERTIFICATE".to_owned(), bytes: self.0.clone() }.encode()
    }

    /// Returns every certificate of a PEM text, in its order; what is none is passed over.
    pub fn all(text: &str) -> impl Iterator<Item = Self> {
        let blocks = pem::blocks(text).filter(|block| block.label == "CERTIFICATE");
        blocks.filter_map(|block| Self::from_der(block.bytes))
    }

    /// Returns a certificate as connections show it.
    pub fn from_der(bytes: Vec<u8>) -> Option<Self> {
        Some(Self(bytes)).filter(|certificate| certificate.fields().is_some())
    }

    /// Returns its subject; empty where that cannot be read.
    pub fn subject(&self) -> Subject {
        let subject = self.fields().and_then(|fields| Subject::decode(fields.subject));
        subject.unwrap_or_default()
    }

    /// Until when it is valid, in seconds since 1970, where that can be told.
    pub fn not_after(&self) -> Option<i64> {
        self.fields().and_then(|fields| fields.not_after)
    }

    /// From when until when it is valid, where both can be told.
    pub fn validity(&self) -> Option<(i64, i64)> {
        self.fields().and_then(|fields| Some((fields.not_before?, fields.not_after?)))
    }

    /// Checks that it is valid at a time.
    pub(crate) fn check_time(&self, now: i64) -> Result<(), PkiError> {
        match self.not_after() {
            Some(end) if end < now => Err(PkiError::Expired(der::spelled_date(end))),
            _ => Ok(()),
        }
    }

    fn fields(&self) -> Option<Fields<'_>> {
        let mut certificate = Reader(Reader(&self.0).expect(der::SEQUENCE)?);
        let mut body = Reader(certificate.expect(der::SEQUENCE)?);
        body.expect(CONTEXT_0)?;
        body.expect(der::INTEGER)?;
        body.expect(der::SEQUENCE)?;
        body.expect(der::SEQUENCE)?;
        let mut validity = Reader(body.expect(der::SEQUENCE)?);
        let mut time = || validity.next().and_then(|(tag, content, _)| der::seconds(tag, content));
        let (not_before, not_after) = (time(), time());
        let (_, _, subject) = body.next()?;
        let (_, _, public_key) = body.next()?;
        let mut key_id = None;
        while let Some((tag, content, _)) = body.next() {
            if tag != CONTEXT_3 {
                continue;
            }
            let id = find_extension(Reader(content).expect(der::SEQUENCE)?, SUBJECT_KEY_ID);
            key_id = id.and_then(|id| Reader(id).expect(der::OCTET_STRING));
        }
        Some(Fields { not_before, not_after, subject, public_key, key_id })
    }
}

/// The fields of a certificate that signing in its name needs.
struct Fields<'a> {
    /// From when until when it is valid, in seconds since 1970, where that can be told.
    not_before: Option<i64>,
    not_after: Option<i64>,
    subject: &'a [u8],
    public_key: &'a [u8],
    key_id: Option<&'a [u8]>,
}

/// A request for a certificate, signed with the key that it is for.
#[derive(Clone, Eq, PartialEq)]
pub struct Request(Vec<u8>);

impl Request {
    /// Asks for a certificate for a subject that has these addresses.
    pub fn new(key: &Key, subject: &Subject, ip_addresses: &[IpAddr]) -> Self {
        let names = der::sequence(&[extension(ALTERNATIVE_NAMES, false, &addresses(ip_addresses))]);
        let wanted = der::sequence(&[
            der::value(der::OBJECT_ID, EXTENSION_REQUEST),
            der::value(der::SET, &names),
        ]);
        let body = der::sequence(&[
            der::unsigned(&[0]),
            subject.encode(),
            key.public_key(),
            der::value(CONTEXT_0, &wanted),
        ]);
        let signature = der::bits(&key.sign(&body));
        Self(der::sequence(&[body, key.signature_algorithm(), signature]))
    }

    /// Reads the first request of a PEM text.
    pub fn parse(text: &str) -> Result<Self, PkiError> {
        let pem = Pem::parse(text)?;
        let request = Self(pem.bytes);
        if pem.label != REQUEST_LABEL || request.fields().is_none() {
            return Err(PkiError::Malformed("certificate request"));
        }
        Ok(request)
    }

    /// Returns the PEM text.
    pub fn encode(&self) -> String {
        Pem { label: REQUEST_LABEL.to_owned(), bytes: self.0.clone() }.encode()
    }

    fn fields(&self) -> Option<RequestFields<'_>> {
        let mut request = Reader(Reader(&self.0).expect(der::SEQUENCE)?);
        let mut body = Reader(request.expect(der::SEQUENCE)?);
        body.expect(der::INTEGER)?;
        let (_, _, subject) = body.next()?;
        let (_, _, public_key) = body.next()?;
        let mut names = None;
        if let Some(attributes) = body.expect(CONTEXT_0) {
            let mut attributes = Reader(attributes);
            while let Some(attribute) = attributes.expect(der::SEQUENCE) {
                let mut attribute = Reader(attribute);
                if attribute.expect(der::OBJECT_ID)? == EXTENSION_REQUEST {
                    let extensions = Reader(attribute.expect(der::SET)?).expect(der::SEQUENCE)?;
                    names = find_extension(extensions, ALTERNATIVE_NAMES);
                }
            }
        }
        Some(RequestFields { subject, public_key, names })
    }
}

/// The fields of a request.
struct RequestFields<'a> {
    subject: &'a [u8],
    public_key: &'a [u8],
    names: Option<&'a [u8]>,
}

/// Returns the content of an extension among others.
fn find_extension<'a>(extensions: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut extensions = Reader(extensions);
    while let Some(extension) = extensions.expect(der::SEQUENCE) {
        let mut extension = Reader(extension);
        let is_wanted = extension.expect(der::OBJECT_ID)? == name;
        let (mut tag, mut content, _) = extension.next()?;
        // A mark that it is critical may stand before the content.
        if tag != der::OCTET_STRING {
            (tag, content, _) = extension.next()?;
        }
        if is_wanted && tag == der::OCTET_STRING {
            return Some(content);
        }
    }
    None
}

/// Addresses as alternative names.
fn addresses(addresses: &[IpAddr]) -> Vec<u8> {
    let names = addresses.iter().map(|address| match address {
        IpAddr::V4(address) => der::value(IP_ADDRESS_NAME, &address.octets()),
        IpAddr::V6(address) => der::value(IP_ADDRESS_NAME, &address.octets()),
    });
    der::sequence(&names.collect::<Vec<_>>())
}

impl Subject {
    /// Reads what [`encode`](Self::encode) wrote, or another did; names of other kinds are passed over.
    fn decode(name: &[u8]) -> Option<Self> {
        let mut subject = Self::default();
        let mut parts = Reader(Reader(name).expect(der::SEQUENCE)?);
        while let Some(part) = parts.expect(der::SET) {
            let mut attributes = Reader(part);
            while let Some(attribute) = attributes.expect(der::SEQUENCE) {
                let mut attribute = Reader(attribute);
                let kind = attribute.expect(der::OBJECT_ID)?;
                let (_, text, _) = attribute.next()?;
                let text = String::from_utf8_lossy(text).into_owned();
                match kind {
                    ORGANIZATION => subject.organizations.push(text),
                    COMMON_NAME => subject.common_name = Some(text),
                    _ => {}
                }
            }
        }
        Some(subject)
    }

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
    validity: Validity,
    extensions: &[Vec<u8>],
) -> Certificate {
    let body = der::sequence(&[
        // Version 3 is written as 2.
        der::value(CONTEXT_0, &der::unsigned(&[2])),
        der::unsigned(&validity.serial),
        key.signature_algorithm(),
        issuer.to_vec(),
        der::sequence(&[der::time(validity.not_before), der::time(validity.not_after)]),
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
/// 2.5.29.17
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
/// 1.2.840.113549.1.9.14
const EXTENSION_REQUEST: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x0e];
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
const IP_ADDRESS_NAME: u8 = 0x87;
const REQUEST_LABEL: &str = "CERTIFICATE REQUEST";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_tells_whom_it_is_for() {
        let authority = authority(Key::p256([7; 32]).unwrap());
        let text = format!("{0}garbage\n{0}", authority.certificate().encode());
        let found: Vec<Certificate> = Certificate::all(&text).collect();
        assert_eq!(found.len(), 2);
        assert!(found[1] == *authority.certificate());
        let subject = Subject {
            // In the order of their bytes.
            organizations: vec!["ü".to_owned(), "os:admin".to_owned()],
            common_name: Some("somebody".to_owned()),
        };
        assert_eq!(Subject::decode(&subject.encode()), Some(subject));
    }

    #[test]
    fn the_same_input_gives_the_same_certificate() {
        let make = || authority(Key::p256([7; 32]).unwrap());
        assert!(make().certificate() == make().certificate());
    }

    #[test]
    fn an_authority_is_read_back_and_signs() {
        let made = authority(Key::ed25519([3; 32]));
        let read = Authority::parse(&made.certificate().encode(), made.key().expose()).unwrap();
        let subject = Subject { organizations: vec!["os:admin".to_owned()], common_name: None };
        let leaf = Leaf { subject, usage: Usage::Signature, validity: VALIDITY };
        let certificate = read.sign(&leaf, &Key::ed25519([5; 32])).unwrap();
        assert!(Certificate::parse(&certificate.encode()).is_ok());
    }

    #[test]
    fn what_is_asked_for_is_what_is_signed() {
        let key = Key::ed25519([5; 32]);
        let subject = Subject { organizations: vec!["os:reader".to_owned()], common_name: None };
        let request = Request::new(&key, &subject, &["10.0.0.1".parse().unwrap()]);
        let request = Request::parse(&request.encode()).unwrap();
        let signed = authority(Key::ed25519([3; 32])).sign_request(&request, VALIDITY).unwrap();
        let fields = signed.fields().unwrap();
        assert_eq!(fields.subject, subject.encode());
        assert_eq!(fields.public_key, key.public_key());
    }

    #[test]
    fn a_key_of_somebody_else_is_refused() {
        let made = authority(Key::ed25519([3; 32]));
        let other = Key::ed25519([4; 32]).encode();
        let refused = Authority::parse(&made.certificate().encode(), other.expose()).err();
        assert_eq!(refused, Some(PkiError::KeyMismatch));
    }

    const VALIDITY: Validity =
        Validity { not_before: 1_763_242_000, not_after: 1_763_242_010, serial: [9; 16] };

    fn authority(key: Key) -> Authority {
        let new = NewAuthority {
            organization: Some("talos"),
            addresses: &[],
            validity: VALIDITY,
            id: [2; 20],
        };
        Authority::new(key, &new)
    }
}
