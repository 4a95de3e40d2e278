//! The age file: armor, header, payload.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use chacha20poly1305::aead::{Aead, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

use super::{Identity, Recipient};
use crate::Random;

/// Encrypts a data key, or a part of one, for a recipient. `None`: the recipient is a point to which
/// nothing can be kept secret.
pub(crate) fn encrypt(secret: &[u8], recipient: &Recipient, random: Random<'_>) -> Option<String> {
    let (mut file_key, mut ephemeral, mut nonce) = ([0; 16], [0; 32], [0; 16]);
    random(&mut file_key);
    random(&mut ephemeral);
    random(&mut nonce);
    let share = x25519(ephemeral, X25519_BASEPOINT_BYTES);
    let wrap = wrap_key(x25519(ephemeral, recipient.point), &share, &recipient.point)?;
    let body = stream(&wrap, [0; 12]).encrypt(&file_key)?;
    let header = format!(
        "{VERSION}\n-> X25519 {}\n{}\n---",
        STANDARD_NO_PAD.encode(share),
        STANDARD_NO_PAD.encode(body)
    );
    let code = header_code(&file_key, &header)?.finalize().into_bytes();
    let header = format!("{header} {}\n", STANDARD_NO_PAD.encode(code));

    let payload = stream(&derive(&nonce, &file_key, b"payload")?, LAST_CHUNK).encrypt(secret)?;
    Some(armor(&[header.as_bytes(), &nonce, &payload].concat()))
}

/// Decrypts with the first identity that matches; `Ok(None)` if there is none.
pub(crate) fn decrypt(
    text: &str,
    identities: &[Identity],
) -> Result<Option<Vec<u8>>, &'static str> {
    let bytes = dearmor(text)?;
    let header = Header::parse(&bytes)?;
    let file_key = header
        .stanzas
        .iter()
        .find_map(|stanza| identities.iter().find_map(|identity| stanza.decrypt(identity)));
    let Some(file_key) = file_key else { return Ok(None) };
    let code = header_code(&file_key, header.covered).ok_or(BROKEN)?;
    code.verify_slice(&header.code).map_err(|_| "the header of the age file was changed")?;

    let (nonce, chunk) = header.payload.split_at_checked(16).ok_or(BROKEN)?;
    let key = derive(nonce, &file_key, b"payload").ok_or(BROKEN)?;
    stream(&key, LAST_CHUNK)
        .decrypt(chunk)
        .map(Some)
        .ok_or("the payload of the age file was changed")
}

struct Header<'a> {
    stanzas: Vec<Stanza>,
    /// Everything up to and including the three dashes, which the MAC covers.
    covered: &'a str,
    code: Vec<u8>,
    payload: &'a [u8],
}

/// The file key, wrapped for one recipient.
struct Stanza {
    share: [u8; 32],
    body: [u8; 32],
}

impl<'a> Header<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, &'static str> {
        let end = bytes.windows(4).position(|four| four == b"\n---").ok_or(BROKEN)?;
        let covered = std::str::from_utf8(&bytes[..end + 4]).map_err(|_| BROKEN)?;
        let rest = &bytes[end + 4..];
        let line_end = rest.iter().position(|&byte| byte == b'\n').ok_or(BROKEN)?;
        let code = rest[..line_end].strip_prefix(b" ").ok_or(BROKEN)?;
        let code = STANDARD_NO_PAD.decode(code).map_err(|_| BROKEN)?;

        let mut lines = covered[..end].split('\n');
        if lines.next() != Some(VERSION) {
            return Err("the age file has another version than 1");
        }
        let mut stanzas = Vec::new();
        let mut first = lines.next();
        while let Some(line) = first {
            let arguments = line.strip_prefix("-> ").ok_or(BROKEN)?;
            // A body ends with a line that is not full.
            let mut body = String::new();
            for line in lines.by_ref() {
                body.push_str(line);
                if line.len() < COLUMNS {
                    break;
                }
            }
            stanzas.extend(Stanza::parse(arguments, &body));
            first = lines.next();
        }
        Ok(Self { stanzas, covered, code, payload: &rest[line_end + 1..] })
    }
}

impl Stanza {
    /// Reads an X25519 stanza; stanzas of other types are skipped.
    fn parse(arguments: &str, body: &str) -> Option<Self> {
        let share = STANDARD_NO_PAD.decode(arguments.strip_prefix("X25519 ")?).ok()?;
        let body = STANDARD_NO_PAD.decode(body).ok()?;
        Some(Self { share: share.try_into().ok()?, body: body.try_into().ok()? })
    }

    fn decrypt(&self, identity: &Identity) -> Option<Vec<u8>> {
        let wrap = wrap_key(x25519(identity.0, self.share), &self.share, &identity.point())?;
        stream(&wrap, [0; 12]).decrypt(&self.body)
    }
}

/// One use of the cipher: a key with its only nonce.
struct Stream {
    cipher: ChaCha20Poly1305,
    nonce: Nonce,
}

impl Stream {
    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.cipher.encrypt(&self.nonce, plain).ok()
    }

    fn decrypt(&self, encrypted: &[u8]) -> Option<Vec<u8>> {
        self.cipher.decrypt(&self.nonce, encrypted).ok()
    }
}

fn stream(key: &[u8; 32], nonce: [u8; 12]) -> Stream {
    Stream { cipher: ChaCha20Poly1305::new(key.into()), nonce: nonce.into() }
}

/// Returns `None` for a point of low order, whose shared secret is public.
fn wrap_key(shared: [u8; 32], share: &[u8; 32], recipient: &[u8; 32]) -> Option<[u8; 32]> {
    if shared == [0; 32] {
        return None;
    }
    derive(&[*share, *recipient].concat(), &shared, b"age-encryption.org/v1/X25519")
}

fn derive(salt: &[u8], secret: &[u8], purpose: &[u8]) -> Option<[u8; 32]> {
    let mut key = [0; 32];
    Hkdf::<Sha256>::new(Some(salt), secret).expand(purpose, &mut key).ok()?;
    Some(key)
}

fn header_code(file_key: &[u8], covered: &str) -> Option<Hmac<Sha256>> {
    let mut code = Hmac::<Sha256>::new_from_slice(&derive(&[], file_key, b"header")?).ok()?;
    code.update(covered.as_bytes());
    Some(code)
}

fn armor(bytes: &[u8]) -> String {
    let encoded = STANDARD.encode(bytes);
    let mut text = format!("{BEGIN}\n");
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, after) = rest.split_at(rest.len().min(COLUMNS));
        text.push_str(line);
        text.push('\n');
        rest = after;
    }
    text + END + "\n"
}

fn dearmor(text: &str) -> Result<Vec<u8>, &'static str> {
    if text.len() > LONGEST {
        return Err("the age file is longer than one for a data key can be");
    }
    let inner = text.trim().strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
    let inner = inner.ok_or("it is not an armored age file")?;
    let encoded: String = inner.lines().map(str::trim).collect();
    STANDARD.decode(encoded).map_err(|_| "the armor of the age file is broken")
}

const VERSION: &str = "age-encryption.org/v1";
const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
const END: &str = "-----END AGE ENCRYPTED FILE-----";
const BROKEN: &str = "the age file is broken";

/// Characters in a full line of base64.
const COLUMNS: usize = 64;

/// The nonce of a payload's first chunk when it is also the last. One chunk is enough: it holds 64
/// KiB, and SOPS keeps a data key of 32 bytes, or a share of one, in an age file.
const LAST_CHUNK: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

/// In characters: room for some two hundred stanzas, where SOPS writes one.
const LONGEST: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use super::super::bech32;
    use super::*;

    fn pair(byte: u8) -> (Identity, Recipient) {
        let identity = Identity([byte; 32]);
        let recipient = Recipient::parse(&bech32::encode("age", &identity.point())).unwrap();
        (identity, recipient)
    }

    fn encrypted() -> (Identity, String) {
        let (identity, recipient) = pair(3);
        let text = encrypt(&[9; 32], &recipient, &mut |bytes| bytes.fill(5)).unwrap();
        (identity, text)
    }

    #[test]
    fn the_right_identity_opens_and_another_does_not() {
        let (identity, text) = encrypted();
        assert_eq!(decrypt(&text, &[pair(4).0, identity]).unwrap().unwrap(), [9; 32]);
        assert_eq!(decrypt(&text, &[pair(4).0]), Ok(None));
        assert_eq!(decrypt(&text, &[]), Ok(None));
    }

    #[test]
    fn no_changed_byte_goes_unnoticed() {
        let (identity, text) = encrypted();
        let bytes = dearmor(&text).unwrap();
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            let decrypted = decrypt(&armor(&changed), std::slice::from_ref(&identity));
            assert!(!matches!(decrypted, Ok(Some(_))), "byte {index}");
        }
        for length in 0..bytes.len() {
            let decrypted = decrypt(&armor(&bytes[..length]), std::slice::from_ref(&identity));
            assert!(!matches!(decrypted, Ok(Some(_))), "length {length}");
        }
    }

    #[test]
    fn stanzas_of_other_kinds_are_stepped_over() {
        let (identity, recipient) = pair(3);
        let text = encrypt(b"key", &recipient, &mut |bytes| bytes.fill(5)).unwrap();
        let bytes = dearmor(&text).unwrap();
        let split = VERSION.len() + 1;
        let other = format!("-> ssh-ed25519 x y\n{}\nAAAA\n-> empty\n\n", "A".repeat(64));
        let mixed = [&bytes[..split], other.as_bytes(), &bytes[split..]].concat();
        // The code of the header covers all stanzas, so this shows that ours was found.
        let decrypted = decrypt(&armor(&mixed), &[identity]);
        assert_eq!(decrypted, Err("the header of the age file was changed"));
    }

    #[test]
    fn a_recipient_of_low_order_is_refused() {
        let recipient = Recipient { text: String::new(), point: [0; 32] };
        assert_eq!(encrypt(b"key", &recipient, &mut |bytes| bytes.fill(5)), None);
    }
}
