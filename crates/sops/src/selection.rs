//! Selection of the values that are encrypted.

use std::fmt;

use regex_lite::{Regex, RegexBuilder};

/// The rule that chooses values, by the keys above them or by the comments before them.
#[derive(Clone, Debug)]
pub enum Selection {
    /// All but those under a key with this ending.
    UnencryptedSuffix(String),
    /// Only those under a key with this suffix.
    EncryptedSuffix(String),
    /// All but those under a key that matches.
    UnencryptedRegex(Pattern),
    /// Only those under a key that matches.
    EncryptedRegex(Pattern),
    /// All but those with a comment that matches before them.
    UnencryptedCommentRegex(Pattern),
    /// Only those after a comment that matches.
    EncryptedCommentRegex(Pattern),
}

/// A regular expression that was compiled.
#[derive(Clone)]
pub struct Pattern(Regex);

impl Selection {
    /// Returns the key of the setting in metadata and creation rules, and its text.
    pub fn setting(&self) -> (&'static str, &str) {
        match self {
            Self::UnencryptedSuffix(suffix) => ("unencrypted_suffix", suffix),
            Self::EncryptedSuffix(suffix) => ("encrypted_suffix", suffix),
            Self::UnencryptedRegex(pattern) => ("unencrypted_regex", pattern.as_str()),
            Self::EncryptedRegex(pattern) => ("encrypted_regex", pattern.as_str()),
            Self::UnencryptedCommentRegex(pattern) => {
                ("unencrypted_comment_regex", pattern.as_str())
            }
            Self::EncryptedCommentRegex(pattern) => ("encrypted_comment_regex", pattern.as_str()),
        }
    }

    /// Reads the one setting among those that a text has; without any, the usual one holds.
    pub(crate) fn read<'a>(setting: impl Fn(&str) -> Option<&'a str>) -> Result<Self, String> {
        let mut given = Self::SETTINGS.iter().filter_map(|name| {
            setting(name).filter(|text| !text.is_empty()).map(|text| (*name, text))
        });
        let Some((name, text)) = given.next() else { return Ok(Self::default()) };
        if let Some((second, _)) = given.next() {
            return Err(format!("only one of {name} and {second} can hold"));
        }
        let pattern = || {
            Pattern::new(text)
                .ok_or_else(|| format!("{name} is not a supported regular expression"))
        };
        Ok(match name {
            "unencrypted_suffix" => Self::UnencryptedSuffix(text.to_owned()),
            "encrypted_suffix" => Self::EncryptedSuffix(text.to_owned()),
            "unencrypted_regex" => Self::UnencryptedRegex(pattern()?),
            "encrypted_regex" => Self::EncryptedRegex(pattern()?),
            "unencrypted_comment_regex" => Self::UnencryptedCommentRegex(pattern()?),
            _ => Self::EncryptedCommentRegex(pattern()?),
        })
    }

    /// Returns true if the selection names this key.
    pub(crate) fn matches_key(&self, key: &str) -> bool {
        match self {
            Self::UnencryptedSuffix(suffix) | Self::EncryptedSuffix(suffix) => {
                key.ends_with(suffix)
            }
            Self::UnencryptedRegex(pattern) | Self::EncryptedRegex(pattern) => pattern.matches(key),
            Self::UnencryptedCommentRegex(_) | Self::EncryptedCommentRegex(_) => false,
        }
    }

    /// Returns true if the selection matches this comment, and so the value after it.
    pub(crate) fn matches_comment(&self, text: &str) -> bool {
        match self {
            Self::UnencryptedCommentRegex(pattern) | Self::EncryptedCommentRegex(pattern) => {
                pattern.matches(text)
            }
            _ => false,
        }
    }

    /// Returns true if matches are encrypted, and false if they are left readable.
    pub(crate) fn encrypts_matches(&self) -> bool {
        match self {
            Self::UnencryptedSuffix(_)
            | Self::UnencryptedRegex(_)
            | Self::UnencryptedCommentRegex(_) => false,
            Self::EncryptedSuffix(_) | Self::EncryptedRegex(_) | Self::EncryptedCommentRegex(_) => {
                true
            }
        }
    }

    pub(crate) const SETTINGS: &[&str] = &[
        "unencrypted_suffix",
        "encrypted_suffix",
        "unencrypted_regex",
        "encrypted_regex",
        "unencrypted_comment_regex",
        "encrypted_comment_regex",
    ];
}

impl Default for Selection {
    fn default() -> Self {
        Self::UnencryptedSuffix("_unencrypted".to_owned())
    }
}

impl Pattern {
    /// Compiles an expression, which may match anywhere in a text. `None`: it is none that we know.
    pub fn new(text: &str) -> Option<Self> {
        RegexBuilder::new(text).size_limit(LARGEST).build().ok().map(Self)
    }

    /// Returns the expression as it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns true if it matches anywhere in the text.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// In bytes, once compiled: the time that a match takes grows with it, and it may come from a stranger's
/// file.
const LARGEST: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &'static str)]) -> Result<Selection, String> {
        Selection::read(|wanted| {
            settings.iter().find(|(name, _)| *name == wanted).map(|(_, text)| *text)
        })
    }

    #[test]
    fn one_setting_holds_and_the_usual_one_without_any() {
        assert_eq!(read(&[]).unwrap().setting(), ("unencrypted_suffix", "_unencrypted"));
        assert_eq!(read(&[("encrypted_suffix", "")]).unwrap().setting().0, "unencrypted_suffix");
        for name in Selection::SETTINGS {
            assert_eq!(read(&[(name, "^a$")]).unwrap().setting(), (*name, "^a$"));
        }
        let two = read(&[("encrypted_regex", "a"), ("encrypted_suffix", "b")]).unwrap_err();
        assert_eq!(two, "only one of encrypted_suffix and encrypted_regex can hold");
        assert!(read(&[("encrypted_regex", "(")]).is_err());
    }
}
