//! New secrets for a new cluster.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Bundle;
use crate::Secret;
use crate::contract::Contract;
use crate::pki::{Authority, Key, NewAuthority, Validity};
use crate::value::{Data, Value};

/// Where new secrets come from: nothing in this crate has a clock or dice of its own.
pub struct SecretSource<'a> {
    /// Seconds since 1970; all authorities begin then.
    pub now: i64,
    /// Fills bytes that nobody can guess.
    pub random: &'a mut dyn FnMut(&mut [u8]),
    /// Makes an RSA key of 4096 bits, as a PEM text under the label `RSA PRIVATE KEY`.
    pub rsa: &'a mut dyn FnMut() -> Secret<String>,
}

impl Bundle {
    /// Makes all secrets of a cluster, of the kinds that the contract wants.
    pub fn generate(contract: Contract, source: &mut SecretSource<'_>) -> Self {
        let etcd = source.authority(Some("etcd"));
        let kubernetes = source.authority(Some("kubernetes"));
        let aggregator = source.authority(None);
        let service_account =
            if contract.since(7) { (source.rsa)() } else { source.p256().encode() };
        let talos = {
            let key = Key::ed25519(source.bytes());
            source.sign_itself(key, Some("talos"))
        };
        let bootstrap = source.token();
        let encryption =
            if contract.since(3) { "secretboxencryptionsecret" } else { "aescbcencryptionsecret" };
        let encryption = (encryption, text(&source.base64()));
        let trustd = source.token();
        let cluster = [("id", text(&source.base64())), ("secret", text(&source.base64()))];
        let service_account = object([("key", text(&STANDARD.encode(service_account.expose())))]);
        Self::from([
            ("cluster", object(cluster)),
            ("secrets", object([("bootstraptoken", text(&bootstrap)), encryption])),
            ("trustdinfo", object([("token", text(&trustd))])),
            (
                "certs",
                object([
                    ("etcd", pair(&etcd)),
                    ("k8s", pair(&kubernetes)),
                    ("k8saggregator", pair(&aggregator)),
                    ("k8sserviceaccount", service_account),
                    ("os", pair(&talos)),
                ]),
            ),
        ])
    }
}

impl SecretSource<'_> {
    /// A key of the kind that an authority has itself.
    pub(super) fn key_beside(&mut self, authority: &Authority) -> Key {
        if authority.is_ed25519() { Key::ed25519(self.bytes()) } else { self.p256() }
    }

    /// Bytes that nobody can guess.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.random)(&mut bytes);
        bytes
    }

    fn base64(&mut self) -> String {
        STANDARD.encode(self.bytes::<32>())
    }

    /// Six and sixteen characters with a dot between them, as Kubernetes wants tokens.
    fn token(&mut self) -> String {
        let mut characters = |count: usize| {
            let mut word = String::new();
            while word.len() < count {
                let [byte] = self.bytes::<1>();
                // The largest multiple of the alphabet's length: beyond it some letters were likelier.
                if usize::from(byte) < 256 / TOKEN_ALPHABET.len() * TOKEN_ALPHABET.len() {
                    word.push(char::from(TOKEN_ALPHABET[usize::from(byte) % TOKEN_ALPHABET.len()]));
                }
            }
            word
        };
        format!("{}.{}", characters(6), characters(16))
    }

    fn p256(&mut self) -> Key {
        // All but one in 2^32 draws are keys.
        loop {
            if let Some(key) = Key::p256(self.bytes()) {
                return key;
            }
        }
    }

    fn authority(&mut self, organization: Option<&str>) -> Authority {
        let key = self.p256();
        self.sign_itself(key, organization)
    }

    fn sign_itself(&mut self, key: Key, organization: Option<&str>) -> Authority {
        let validity = self.validity(AUTHORITY_LIFETIME);
        Authority::new(
            key,
            &NewAuthority { organization, addresses: &[], validity, id: self.bytes() },
        )
    }

    /// From now on, for so many seconds.
    pub fn validity(&mut self, lifetime: i64) -> Validity {
        Validity { not_before: self.now, not_after: self.now + lifetime, serial: self.bytes() }
    }
}

fn pair(authority: &Authority) -> Value {
    object([
        ("crt", text(&STANDARD.encode(authority.certificate().encode()))),
        ("key", text(&STANDARD.encode(authority.key().expose()))),
    ])
}

fn object(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::new(Data::Map(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

fn text(text: &str) -> Value {
    Value::from(text)
}

const TOKEN_ALPHABET: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// Ten years of 365 days, in seconds.
const AUTHORITY_LIFETIME: i64 = 87_600 * 3_600;
