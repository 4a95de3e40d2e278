//! What can be wrong with an encrypted file, its keys or its rules, said without any secret.

use std::fmt;

/// Why a file was not decrypted or encrypted. Nothing has been given out by then.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The text is not what its format asks for.
    #[error("{problem}")]
    Syntax {
        /// What is wrong.
        problem: String,
        /// The line, where it is known.
        line: Option<u32>,
    },
    /// There is no document in the text.
    #[error("there is nothing to encrypt")]
    Empty,
    /// There is no metadata in the text.
    #[error("the file is not encrypted: it has no `sops` metadata")]
    NotEncrypted,
    /// There is metadata already.
    #[error("the file has a top-level `sops` entry, as an encrypted file has")]
    AlreadyEncrypted,
    /// The metadata cannot be meant.
    #[error("the `sops` metadata cannot be read: {0}")]
    Metadata(String),
    /// Only keys that are none of ours could help.
    #[error("the file is for keys of another kind: {}", .0.join(", "))]
    KeyKind(Vec<String>),
    /// No identity opens the data key.
    #[error("no age identity opens the file{}", findings(.sources_tried))]
    NoKey {
        /// Whom the file is for.
        recipients: Vec<String>,
        /// Where identities were looked for.
        sources_tried: Vec<KeySourceTried>,
    },
    /// A value cannot be decrypted or encrypted.
    #[error("{location}: {problem}")]
    Value {
        /// Which one.
        location: ValueLocation,
        /// What is wrong.
        problem: &'static str,
    },
    /// The values are not those that were encrypted together.
    #[error("{0}")]
    Mac(&'static str),
    /// A recipient that is none.
    #[error("recipient {number} is no age recipient: {problem}")]
    Recipient {
        /// Which one of the list, counted from one.
        number: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// `.sops.yaml` cannot be meant.
    #[error("{problem}")]
    Rules {
        /// What is wrong.
        problem: String,
        /// The line, where it is known.
        line: Option<u32>,
    },
    /// `.sops.yaml` has nothing to say about the file.
    #[error("no creation rule matches {0}")]
    NoRule(String),
}

/// One source of identities, and why it did not help.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KeySourceTried {
    /// Its name: a variable, a path.
    pub source: String,
    /// What was found, without any of it.
    pub finding: String,
}

/// Which value of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ValueLocation {
    /// Its keys, with the positions in lists: `certs.etcd.crt`, `nodes[0].token`.
    pub path: String,
    /// The line, where it is known.
    pub line: Option<u32>,
}

impl Error {
    /// Every code, each with an entry in the reference of errors.
    pub const CODES: &[&str] = &[
        "sops.already-encrypted",
        "sops.empty",
        "sops.key-kind",
        "sops.mac",
        "sops.metadata",
        "sops.no-key",
        "sops.no-rule",
        "sops.not-encrypted",
        "sops.recipient",
        "sops.rules",
        "sops.syntax",
        "sops.value",
    ];

    /// The name of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Syntax { .. } => "sops.syntax",
            Self::Empty => "sops.empty",
            Self::NotEncrypted => "sops.not-encrypted",
            Self::AlreadyEncrypted => "sops.already-encrypted",
            Self::Metadata(_) => "sops.metadata",
            Self::KeyKind(_) => "sops.key-kind",
            Self::NoKey { .. } => "sops.no-key",
            Self::Value { .. } => "sops.value",
            Self::Mac(_) => "sops.mac",
            Self::Recipient { .. } => "sops.recipient",
            Self::Rules { .. } => "sops.rules",
            Self::NoRule(_) => "sops.no-rule",
        }
    }

    /// The line that the error speaks of.
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::Syntax { line, .. } | Self::Rules { line, .. } => *line,
            Self::Value { location, .. } => location.line,
            _ => None,
        }
    }

    /// What would be right, where that can be told.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::AlreadyEncrypted => "if it is not encrypted, rename that entry",
            Self::KeyKind(_) => "the `sops` program can do it; we do age keys (`age1…`)",
            Self::NoKey { recipients, .. } => {
                return Some(format!(
                    "give the identity of {} in SOPS_AGE_KEY or SOPS_AGE_KEY_FILE",
                    recipients.join(" or ")
                ));
            }
            Self::Mac(_) => "somebody changed the file by hand; take it from the version control",
            Self::NoRule(_) => "a rule without `path_regex` matches every path",
            Self::Recipient { .. } => "an age recipient begins with `age1` and has 62 characters",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl ValueLocation {
    /// A place by its keys, cut where they would fill a screen, and its line, zero when it is not known.
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
