//! What a caller does about an error.

use std::fmt;

/// What can be done about an error: the same for every error of a code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ErrorKind {
    /// It stays, however often it is tried: the input must change.
    Permanent,
    /// It may be gone at the next try.
    Retryable,
    /// Somebody has to look and decide.
    NeedsPerson,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Permanent => "permanent",
            Self::Retryable => "retryable",
            Self::NeedsPerson => "needs a person",
        })
    }
}
