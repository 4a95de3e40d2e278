//! SOPS files with age keys: decryption, encryption and creation rules.
//!
//! An encrypted text goes in with [`Identities`] and comes out as plain text ([`decrypt`],
//! [`decrypt_with_values`]); a plain text goes in with a [`Rule`], the time and randomness and
//! comes out encrypted ([`encrypt`]); a `.sops.yaml` gives the rule of a path ([`CreationRules`]).
//! Files are compatible with the `sops` program in both directions.
//!
//! Always holds: the crate has no clock, no randomness, no files, no network and no environment; no
//! input makes it panic; plain text leaves it as a [`Secret`], and no error contains a part of it,
//! of a key or of a MAC; a text whose MAC does not match is never returned.

mod age;
mod cipher;
mod crypt;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod identities;
mod metadata;
mod rules;
mod selection;
mod shamir;
mod store;
mod time;
mod tree;

use talos_config::{Confidential, Secret};

pub use age::{Recipient, generate_key};
pub use error::{Error, KeySourceTried, ValueLocation};
pub use identities::Identities;
pub use rules::{CreationRules, Layout, Rule};
pub use selection::{Pattern, Selection};
pub use store::Format;
pub use time::Timestamp;

use metadata::Metadata;

/// A source of randomness: a function that fills the given buffer.
///
/// It must be cryptographically secure, since keys and nonces are made of it; in a test it may be
/// constant.
pub type Random<'a> = &'a mut dyn FnMut(&mut [u8]);

/// Returns true if the text has the metadata of an encrypted file. Text that cannot be read has
/// none.
pub fn is_encrypted(text: &str, format: Format) -> bool {
    // Metadata counts in the first document only.
    let first = format.read(text).ok().and_then(|documents| documents.into_iter().next());
    first.is_some_and(|document| format.has_metadata(&document))
}

/// An encrypted text, opened.
pub struct Decrypted {
    /// The plain text.
    pub text: Secret<String>,
    /// The values that were encrypted: a file may have others beside them.
    pub values: Confidential,
}

/// Makes plain text of an encrypted one, after its MAC has been checked.
pub fn decrypt(
    text: &str,
    format: Format,
    identities: &Identities,
) -> Result<Secret<String>, Error> {
    decrypt_with_values(text, format, identities).map(|decrypted| decrypted.text)
}

/// Decrypts a text and also returns the values that were encrypted.
pub fn decrypt_with_values(
    text: &str,
    format: Format,
    identities: &Identities,
) -> Result<Decrypted, Error> {
    let mut documents = format.read(text)?;
    let metadata = Metadata::read(&format.take_metadata(&mut documents)?)?;
    let data_key = metadata.data_key(identities)?;
    let values = crypt::decrypt(&mut documents, &metadata, &data_key)?;
    let text = format.write(&documents, Layout::default()).map(Secret::new)?;
    Ok(Decrypted { text, values })
}

/// Encrypts a text for the recipients of a rule, under a data key of its own.
///
/// The same input, time and randomness give the same bytes. The order of keys and comments are
/// kept; blank lines, quotes and anchors are not.
pub fn encrypt(
    text: &str,
    format: Format,
    rule: &Rule,
    timestamp: &Timestamp,
    random: Random<'_>,
) -> Result<String, Error> {
    let mut documents = format.read(text)?;
    if documents.is_empty() {
        return Err(Error::Empty);
    }
    if documents.iter().any(|document| format.has_metadata(document)) {
        return Err(Error::AlreadyEncrypted);
    }
    let metadata = crypt::encrypt(&mut documents, rule, timestamp, random)?;
    format.put_metadata(&mut documents, &metadata);
    format.write(&documents, rule.layout)
}
