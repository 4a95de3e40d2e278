//! age: keys of kind X25519, and the small files that hold a data key for one of them.
//!
//! A secret of at most one chunk goes in with a recipient and comes out as an armored age file, and back
//! with the identity of that recipient. Other kinds of stanza are stepped over.

mod bech32;
mod file;

use std::fmt;

use talos_config::Secret;
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

use crate::Random;
use crate::error::Error;

pub(crate) use file::{decrypt, encrypt};

/// A recipient that a file is encrypted for: an age public key of kind X25519, `age1…`.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Recipient {
    text: String,
    point: [u8; 32],
}

/// Generates a key: the text of a key file as `age-keygen` writes it, without its date, and the recipient.
pub fn generate_key(random: Random<'_>) -> (Secret<String>, Recipient) {
    let mut key = [0; 32];
    random(&mut key);
    let point = Identity(key).point();
    let recipient = Recipient { text: bech32::encode("age", &point), point };
    let key = bech32::encode("AGE-SECRET-KEY-", &key).to_ascii_uppercase();
    (Secret::new(format!("# public key: {recipient}\n{key}\n")), recipient)
}

/// A private key. It has no `Debug` and is shown nowhere.
#[derive(Clone)]
pub(crate) struct Identity([u8; 32]);

impl Recipient {
    /// Reads one recipient.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_list(text).and_then(|mut recipients| match recipients.len() {
            1 => Ok(recipients.remove(0)),
            _ => Err(Error::Recipient { number: 1, problem: "one is wanted" }),
        })
    }

    /// Reads recipients with commas between them, as in `SOPS_AGE_RECIPIENTS`.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Error> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.enumerate().map(|(index, word)| Self::read(word, index + 1)).collect()
    }

    /// Returns the recipient as it is written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn read(text: &str, number: usize) -> Result<Self, Error> {
        if let Some(kind) = other_kind(text) {
            return Err(Error::KeyKind(vec![kind.to_owned()]));
        }
        let point =
            bech32::decode("age", text).map_err(|problem| Error::Recipient { number, problem })?;
        Ok(Self { text: text.to_owned(), point })
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Identity {
    /// Parses `AGE-SECRET-KEY-1…`. An error repeats no part of the key.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        bech32::decode("AGE-SECRET-KEY-", text).map(Self)
    }

    /// Returns the public key as a point.
    fn point(&self) -> [u8; 32] {
        x25519(self.0, X25519_BASEPOINT_BYTES)
    }
}

/// Returns the kind of a recipient that is known but not supported.
pub(crate) fn other_kind(recipient: &str) -> Option<&'static str> {
    if recipient.starts_with("ssh-") {
        Some("age with an SSH key")
    } else if recipient.starts_with("age1pq1") {
        Some("age, post-quantum")
    } else if recipient.starts_with("age1") && recipient.matches('1').count() > 1 {
        // The bech32 alphabet has no `1`, so the part before the last one names a plugin.
        Some("age with a plugin")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use talos_config::Coded;

    use super::*;

    const RECIPIENT: &str = "age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj";

    #[test]
    fn an_identity_and_its_recipient_belong_together() {
        // A pair that many tests of age use: thirty-two times the same byte.
        let identity = Identity::parse(
            "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX",
        )
        .unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(identity.0, [0x42; 32]);
        let text = bech32::encode("age", &identity.point());
        assert_eq!(text, RECIPIENT);
        assert_eq!(Recipient::parse(&text).unwrap().point, identity.point());
    }

    #[test]
    fn a_generated_key_is_read_and_belongs_to_its_recipient() {
        let (text, recipient) = generate_key(&mut |bytes| bytes.fill(0x42));
        assert_eq!(recipient.as_str(), RECIPIENT);
        let key = text.expose().lines().nth(1).unwrap();
        let identity = Identity::parse(key).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(identity.point(), recipient.point);
        let mut identities = crate::Identities::default();
        identities.add("age.key", text.expose());
        assert!(!identities.is_empty());
    }

    #[test]
    fn what_is_no_recipient_is_refused_without_repeating_it() {
        for text in
            ["", "age1", "age1abc", "AGE1QQ", "x", "age1é", ",,", "age1qqqqqqqqqqqqqqqqqqqqqqqq"]
        {
            let error = Recipient::parse(text).unwrap_err();
            assert_eq!(error.code(), "sops.recipient", "{text}");
            assert!(text.len() < 4 || !error.to_string().contains(text));
        }
        for text in ["ssh-ed25519 AAAA", "age1pq1qq", "age1yubikey1qq"] {
            assert_eq!(Recipient::parse(text).unwrap_err().code(), "sops.key-kind");
        }
    }
}
