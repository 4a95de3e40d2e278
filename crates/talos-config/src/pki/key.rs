//! Private keys: Ed25519 for Talos, ECDSA P-256 for Kubernetes and etcd, RSA for those who want it.

use std::sync::Arc;

use ed25519_dalek::Signer as _;
use p256::elliptic_curve::sec1::ToSec1Point as _;

use super::der::{self, Reader};
use super::{Pem, PkiError};
use crate::Secret;

/// A key that certificates are signed with.
#[derive(Clone)]
pub enum Key {
    /// The kind that the Talos API uses.
    Ed25519(Box<ed25519_dalek::SigningKey>),
    /// The kind that Kubernetes and etcd use.
    P256(p256::ecdsa::SigningKey),
    /// The kind that some users want for authorities. It is made and used outside of this crate.
    Rsa(RsaKey),
}

/// An RSA key whose computations are made outside of this crate.
#[derive(Clone)]
pub struct RsaKey {
    /// The key's PEM text.
    pub pem: Secret<String>,
    /// The public half, as certificates hold it.
    pub public_key: Vec<u8>,
    /// Signs a message, hashed with SHA-512.
    pub sign: Arc<Sign>,
}

/// Signs a message.
pub type Sign = dyn Fn(&[u8]) -> Vec<u8> + Send + Sync;

impl Key {
    /// Returns an Ed25519 key from its 32 secret bytes.
    pub fn ed25519(secret: [u8; 32]) -> Self {
        Self::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(&secret)))
    }

    /// Returns a P-256 key from its 32 secret bytes; `None` for the few that are not a key. Draw again then.
    pub fn p256(secret: [u8; 32]) -> Option<Self> {
        p256::ecdsa::SigningKey::from_slice(&secret).ok().map(Self::P256)
    }

    /// Reads a key under any of the labels that are in use.
    pub fn parse(text: &str) -> Result<Self, PkiError> {
        let pem = Pem::parse(text)?;
        let malformed = PkiError::Malformed("private key");
        match pem.label.as_str() {
            "EC PRIVATE KEY" => Self::from_sec1(&pem.bytes).ok_or(malformed),
            // The first label is Talos' own; both hold the same.
            "ED25519 PRIVATE KEY" | "PRIVATE KEY" => Self::from_pkcs8(&pem.bytes).ok_or(malformed),
            _ => Err(PkiError::UnsupportedKey(pem.label)),
        }
    }

    /// Returns the text under the label that Talos uses for this kind of key.
    pub fn encode(&self) -> Secret<String> {
        let pem = match self {
            Self::Rsa(key) => return key.pem.clone(),
            Self::Ed25519(key) => {
                let inner = der::value(der::OCTET_STRING, &key.to_bytes());
                let algorithm = der::sequence(&[der::value(der::OBJECT_ID, ED25519)]);
                let bytes = der::sequence(&[
                    der::unsigned(&[0]),
                    algorithm,
                    der::value(der::OCTET_STRING, &inner),
                ]);
                Pem { label: "ED25519 PRIVATE KEY".to_owned(), bytes }
            }
            Self::P256(key) => {
                let curve = der::value(CONTEXT_0, &der::value(der::OBJECT_ID, PRIME256V1));
                let public = der::value(CONTEXT_1, &der::bits(&self.public_bytes()));
                let bytes = der::sequence(&[
                    der::unsigned(&[1]),
                    der::value(der::OCTET_STRING, &key.to_bytes()),
                    curve,
                    public,
                ]);
                Pem { label: "EC PRIVATE KEY".to_owned(), bytes }
            }
        };
        Secret::new(pem.encode())
    }

    /// Returns the public half, as certificates hold it.
    pub(super) fn public_key(&self) -> Vec<u8> {
        let algorithm = match self {
            Self::Rsa(key) => return key.public_key.clone(),
            Self::Ed25519(_) => der::sequence(&[der::value(der::OBJECT_ID, ED25519)]),
            Self::P256(_) => der::sequence(&[
                der::value(der::OBJECT_ID, EC_PUBLIC_KEY),
                der::value(der::OBJECT_ID, PRIME256V1),
            ]),
        };
        der::sequence(&[algorithm, der::bits(&self.public_bytes())])
    }

    /// Returns the name of the signature that this key makes.
    pub(super) fn signature_algorithm(&self) -> Vec<u8> {
        let name = |name| der::value(der::OBJECT_ID, name);
        match self {
            Self::Ed25519(_) => der::sequence(&[name(ED25519)]),
            Self::P256(_) => der::sequence(&[name(ECDSA_WITH_SHA256)]),
            Self::Rsa(_) => der::sequence(&[name(SHA512_WITH_RSA), der::value(der::NULL, &[])]),
        }
    }

    /// Signs; the same message gives the same signature.
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Rsa(key) => (key.sign)(message),
            Self::Ed25519(key) => key.sign(message).to_bytes().to_vec(),
            Self::P256(key) => {
                let signature: p256::ecdsa::DerSignature = key.sign(message);
                signature.as_bytes().to_vec()
            }
        }
    }

    fn public_bytes(&self) -> Vec<u8> {
        match self {
            Self::Rsa(key) => key.public_key.clone(),
            Self::Ed25519(key) => key.verifying_key().to_bytes().to_vec(),
            Self::P256(key) => {
                key.verifying_key().as_affine().to_sec1_point(false).as_bytes().to_vec()
            }
        }
    }

    fn from_sec1(bytes: &[u8]) -> Option<Self> {
        let mut fields = Reader(Reader(bytes).expect(der::SEQUENCE)?);
        fields.expect(der::INTEGER)?;
        Self::p256(fields.expect(der::OCTET_STRING)?.try_into().ok()?)
    }

    fn from_pkcs8(bytes: &[u8]) -> Option<Self> {
        let mut fields = Reader(Reader(bytes).expect(der::SEQUENCE)?);
        fields.expect(der::INTEGER)?;
        let mut algorithm = Reader(fields.expect(der::SEQUENCE)?);
        let inner = fields.expect(der::OCTET_STRING)?;
        match algorithm.expect(der::OBJECT_ID)? {
            ED25519 => {
                let secret = Reader(inner).expect(der::OCTET_STRING)?;
                Some(Self::ed25519(secret.try_into().ok()?))
            }
            EC_PUBLIC_KEY => Self::from_sec1(inner),
            _ => None,
        }
    }
}

/// Returns an RSA key that others made, in the form that service accounts have it: PKCS#1 instead of PKCS#8.
/// `None` when the bytes are not such a key.
pub fn rsa_pem(pkcs8: &[u8]) -> Option<Secret<String>> {
    let mut fields = Reader(Reader(pkcs8).expect(der::SEQUENCE)?);
    fields.expect(der::INTEGER)?;
    fields.expect(der::SEQUENCE)?;
    let bytes = fields.expect(der::OCTET_STRING)?.to_vec();
    Some(Secret::new(Pem { label: "RSA PRIVATE KEY".to_owned(), bytes }.encode()))
}

/// 1.3.101.112
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// 1.2.840.10045.2.1
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
/// 1.2.840.10045.3.1.7
const PRIME256V1: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// 1.2.840.10045.4.3.2
const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
/// 1.2.840.113549.1.1.13
const SHA512_WITH_RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0d];
const CONTEXT_0: u8 = 0xa0;
const CONTEXT_1: u8 = 0xa1;
