//! One value, encrypted: `ENC[AES256_GCM,data:…,iv:…,tag:…,type:…]`.

use aes_gcm::aead::consts::U32;
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::aes::Aes256;
use aes_gcm::{AesGcm, Nonce};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::Random;

/// The key of one file. It has no `Debug`.
pub(crate) struct DataKey(AesGcm<Aes256, U32>);

/// An encrypted value that was decrypted.
pub(crate) struct Decrypted<'a> {
    pub(crate) plain: String,
    /// The name of its type.
    pub(crate) kind: &'a str,
}

impl DataKey {
    /// Creates a data key; `None` if the length is wrong.
    pub(crate) fn new(bytes: &[u8]) -> Option<Self> {
        AesGcm::new_from_slice(bytes).ok().map(Self)
    }

    /// Encrypts a text together with its additional data.
    pub(crate) fn encrypt(
        &self,
        plain: &str,
        kind: &str,
        additional_data: &str,
        random: Random<'_>,
    ) -> Result<String, &'static str> {
        let mut nonce = Nonce::<U32>::default();
        random(&mut nonce);
        let payload = Payload { msg: plain.as_bytes(), aad: additional_data.as_bytes() };
        let encrypted = self.0.encrypt(&nonce, payload).map_err(|_| "it is too long")?;
        let (data, tag) = encrypted.split_at(encrypted.len().saturating_sub(TAG_LENGTH));
        let [data, nonce, tag] = [data, &nonce, tag].map(|bytes| STANDARD.encode(bytes));
        Ok(format!("{BEGIN}{data},iv:{nonce},tag:{tag},type:{kind}]"))
    }

    /// Decrypts a value. An error repeats no part of it.
    pub(crate) fn decrypt<'a>(
        &self,
        text: &'a str,
        additional_data: &str,
    ) -> Result<Decrypted<'a>, &'static str> {
        let (data, nonce, tag, kind) =
            parts(text).ok_or("it is not in the format of an encrypted value")?;
        let bytes = |part: &str| STANDARD.decode(part).map_err(|_| "its base64 is broken");
        let nonce = bytes(nonce)?;
        let nonce =
            Nonce::<U32>::try_from(nonce.as_slice()).map_err(|_| "its iv has a wrong length")?;
        let encrypted = [bytes(data)?, bytes(tag)?].concat();
        let payload = Payload { msg: &encrypted, aad: additional_data.as_bytes() };
        let plain = self
            .0
            .decrypt(&nonce, payload)
            .map_err(|_| "it was changed, moved or encrypted under another key")?;
        let plain = String::from_utf8(plain).map_err(|_| "it is not UTF-8")?;
        Ok(Decrypted { plain, kind })
    }
}

fn parts(text: &str) -> Option<(&str, &str, &str, &str)> {
    let rest = text.strip_prefix(BEGIN)?.strip_suffix(']')?;
    let (data, rest) = rest.split_once(",iv:")?;
    let (nonce, rest) = rest.split_once(",tag:")?;
    let (tag, kind) = rest.split_once(",type:")?;
    Some((data, nonce, tag, kind))
}

const BEGIN: &str = "ENC[AES256_GCM,data:";

/// In bytes; the tag of GCM.
const TAG_LENGTH: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_bound_to_its_place_and_its_key() {
        let key = DataKey::new(&[1; 32]).unwrap();
        let encrypted = key.encrypt("plain", "str", "a:b:", &mut |bytes| bytes.fill(2)).unwrap();
        let decrypted =
            key.decrypt(&encrypted, "a:b:").unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!((decrypted.plain.as_str(), decrypted.kind), ("plain", "str"));
        assert!(key.decrypt(&encrypted, "a:c:").is_err());
        assert!(DataKey::new(&[2; 32]).unwrap().decrypt(&encrypted, "a:b:").is_err());
        assert!(DataKey::new(&[1; 31]).is_none());
    }

    #[test]
    fn what_is_no_value_is_refused_without_repeating_it() {
        let key = DataKey::new(&[1; 32]).unwrap();
        for text in [
            "plain",
            "ENC[]",
            "ENC[AES256_GCM,data:,iv:,tag:,type:str]",
            "ENC[AES256_GCM,data:*,iv:*,tag:*,type:str]",
            "ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]",
        ] {
            let problem = key.decrypt(text, "a:").err().unwrap();
            assert!(!problem.contains(text));
        }
    }
}
