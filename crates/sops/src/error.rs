//! Errors of encrypted files, keys and rules. None of them contains a secret.

use std::borrow::Cow;
use std::fmt;

use talos_config::{Coded, codes};

/// A reason why a file was not decrypted or encrypted. No output has been returned by then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The text is invalid in its format.
    #[error("{problem}")]
    Syntax {
        /// The problem.
        problem: String,
        /// The line, if it is known.
        line: Option<u32>,
    },
    /// The text has no document.
    #[error("there is nothing to encrypt")]
    Empty,
    /// The text has no metadata.
    #[error("the file is not encrypted: it has no `sops` metadata")]
    NotEncrypted,
    /// The text has metadata already.
    #[error("the file has a top-level `sops` entry, as an encrypted file has")]
    AlreadyEncrypted,
    /// The metadata is invalid.
    #[error("the `sops` metadata cannot be read: {0}")]
    Metadata(String),
    /// The file has recipients of unsupported kinds only.
    #[error("the file is encrypted for unsupported kinds of key: {}", .0.join(", "))]
    KeyKind(Vec<String>),
    /// No identity opens the data key.
    #[error("no age identity decrypts the file{}", findings(.sources_tried))]
    NoKey {
        /// The recipients of the file.
        recipients: Vec<String>,
        /// The sources in which identities were looked for.
        sources_tried: Vec<KeySourceTried>,
    },
    /// A value cannot be decrypted or encrypted.
    #[error("{location}: {problem}")]
    Value {
        /// The value.
        location: ValueLocation,
        /// The problem.
        problem: &'static str,
    },
    /// The values are not those that were encrypted together.
    #[error("{0}")]
    Mac(&'static str),
    /// An invalid recipient.
    #[error("recipient {number} is not an age recipient: {problem}")]
    Recipient {
        /// The position in the list, counted from one.
        number: usize,
        /// The problem.
        problem: &'static str,
    },
    /// `.sops.yaml` is invalid.
    #[error("{problem}")]
    Rules {
        /// The problem.
        problem: String,
        /// The line, if it is known.
        line: Option<u32>,
    },
    /// `.sops.yaml` has nothing to say about the file.
    #[error("no creation rule matches {0}")]
    NoRule(String),
}

/// One source of identities, and why it did not help.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeySourceTried {
    /// The name of a variable or a path.
    pub source: String,
    /// The finding, without any key material.
    pub finding: String,
}

/// The location of a value in a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ValueLocation {
    /// The path of keys, with positions in lists: `certs.etcd.crt`, `nodes[0].token`.
    pub path: String,
    /// The line, if it is known.
    pub line: Option<u32>,
}

impl Coded for Error {
    codes! {
        Self::Syntax { .. } => "sops.syntax", Permanent;
        Self::Empty => "sops.empty", Permanent;
        Self::NotEncrypted => "sops.not-encrypted", Permanent;
        Self::AlreadyEncrypted => "sops.already-encrypted", Permanent;
        Self::Metadata(_) => "sops.metadata", Permanent;
        Self::KeyKind(_) => "sops.key-kind", Permanent;
        Self::NoKey { .. } => "sops.no-key", NeedsPerson;
        Self::Value { .. } => "sops.value", Permanent;
        Self::Mac(_) => "sops.mac", Permanent;
        Self::Recipient { .. } => "sops.recipient", Permanent;
        Self::Rules { .. } => "sops.rules", Permanent;
        Self::NoRule(_) => "sops.no-rule", Permanent;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::AlreadyEncrypted => "if it is not encrypted, rename that entry",
            Self::KeyKind(_) => "use the `sops` program; Ichor supports age keys only (`age1…`)",
            Self::NoKey { recipients, .. } => {
                return Some(Cow::Owned(format!(
                    "set the identity of {} in SOPS_AGE_KEY or SOPS_AGE_KEY_FILE",
                    recipients.join(" or ")
                )));
            }
            Self::Mac(_) => "the file was changed by hand: restore it from version control",
            Self::NoRule(_) => "a rule without `path_regex` matches every path",
            Self::Recipient { .. } => "an age recipient begins with `age1` and has 62 characters",
            Self::Syntax { .. }
            | Self::Empty
            | Self::NotEncrypted
            | Self::Metadata(_)
            | Self::Value { .. }
            | Self::Rules { .. } => return None,
        };
        Some(Cow::Borrowed(hint))
    }
}

impl Error {
    /// Returns the line of the error, if known.
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::Syntax { line, .. } | Self::Rules { line, .. } => *line,
            Self::Value { location, .. } => location.line,
            _ => None,
        }
    }
}

impl ValueLocation {
    /// Creates a location from a path, shortened to fit a screen, and a line, zero if unknown.
    pub(crate) fn new(path: &str, line: u32) -> Self {
        let path = path.chars().take(200).collect();
        Self { path, line: (line > 0).then_some(line) }
    }
}

impl fmt::Display for ValueLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.path.as_str(), self.line) {
            ("", None) => f.write_str("a value"),
            ("", Some(line)) => write!(f, "line {line}"),
            (path, _) => f.write_str(path),
        }
    }
}

fn findings(sources: &[KeySourceTried]) -> String {
    let found = sources.iter().flat_map(|tried| ["; ", &tried.source, ": ", &tried.finding]);
    found.collect()
}
