//! Keys and certificates as Talos makes them: the same fields, in the same order, under the same labels.
//!
//! Nothing here looks at a clock or draws a random number: time, serial numbers and key material are
//! arguments, and for given ones the bytes are fixed.

#[cfg(feature = "pki")]
mod certificate;
#[cfg(feature = "pki")]
mod der;
#[cfg(feature = "pki")]
mod key;
mod pem;
pub(crate) mod reader;

#[cfg(feature = "pki")]
pub use certificate::{
    Authority, Certificate, Leaf, NewAuthority, Request, Subject, Usage, Validity,
};
#[cfg(feature = "pki")]
pub use key::{Key, RsaKey, Sign, rsa_pem};
pub use pem::Pem;
pub use pem::blocks;

/// The error of reading a key or certificate, or of using it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PkiError {
    /// There is no PEM block.
    #[error("failed to parse PEM block")]
    NoPem,
    /// A key that we cannot sign with.
    #[error("unsupported key type: {0:?}")]
    UnsupportedKey(String),
    /// The block holds something else than its label says.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// A certificate whose time is over.
    #[error("the certificate expired on {0}")]
    Expired(String),
    /// A key that belongs to another certificate.
    #[error("the key does not belong to the certificate")]
    KeyMismatch,
}
