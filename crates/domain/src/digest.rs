//! SHA-256 of plans; HMAC, under the key of the vault, of anything derived from secrets.

use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use talos_config::yaml::Dialect;
use talos_config::{Config, Secret};

use crate::names::{ClusterName, InvalidText, TextFormat, serialize_as_text};

/// Thirty-two bytes that stand for something.
#[derive(Clone, Copy, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of a text that is not a secret.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// Returns its beginning: enough to tell a few apart.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl TextFormat for Digest {
    const WHAT: &'static str = "a digest";
    const RULE: &'static str = "64 hexadecimal digits in lower case";
    const PATTERN: &'static str = "^[0-9a-f]{64}$";
}

impl FromStr for Digest {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        let parse = || {
            let mut bytes = [0; 32];
            let digits = Some(text.as_bytes()).filter(|digits| digits.len() == 64)?;
            for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
                *byte = digit(pair[0])? << 4 | digit(pair[1])?;
            }
            Some(Self(bytes))
        };
        parse().ok_or_else(|| InvalidText::new::<Self>(text))
    }
}

serialize_as_text!(Digest);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&talos_config::hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

/// The key of digests, from the vault of a cluster. Without it, a digest cannot be tested against guessed secrets.
#[derive(Clone)]
pub struct DigestKey(Secret<[u8; 32]>);

impl DigestKey {
    /// Takes the key that the vault keeps.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Secret::new(bytes))
    }

    /// Digests the content of a configuration; comments and quotes do not matter.
    pub fn config(&self, config: &Config) -> Digest {
        self.digest("config", config.encode(Dialect::V1_14).expose())
    }

    /// Identifies a cluster. Two that have one name still have two vaults, and a directory that was copied and
    /// renamed is not the original, whose machines a provider would list for it otherwise.
    pub fn cluster(&self, name: &ClusterName) -> Digest {
        self.digest("cluster", name.as_str())
    }

    /// `purpose` keeps digests of different things apart.
    fn digest(&self, purpose: &str, text: &str) -> Digest {
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(self.0.expose())
            .expect("HMAC takes a key of any length");
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(text.as_bytes());
        Digest(mac.finalize().into_bytes().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_as_it_is_read_and_depends_on_the_key() {
        let (home, copy) = ("home".parse().expect("a name"), "copy".parse().expect("a name"));
        let one = DigestKey::new([1; 32]).cluster(&home);
        assert_eq!(one.to_string().parse(), Ok(one));
        assert_ne!(one, DigestKey::new([2; 32]).cluster(&home));
        assert_ne!(one, DigestKey::new([1; 32]).cluster(&copy));
        assert!("00".parse::<Digest>().is_err());
        assert!("G".repeat(64).parse::<Digest>().is_err());
    }
}
