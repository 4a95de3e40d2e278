//! Texts with rules, each as a type of its own that cannot be built wrong.

use std::str::FromStr;

/// A text with rules: what it is called, what it looks like, and how it is read.
pub trait TextFormat: FromStr<Err = InvalidText> {
    /// The noun for such a text, with its article: `a cluster name`.
    const WHAT: &'static str;
    /// The rule, for people.
    const RULE: &'static str;
    /// The same as a regular expression of JSON Schema.
    const PATTERN: &'static str;
}

/// A text that breaks the rule of its format.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{text:?} is not {what}: {rule}")]
pub struct InvalidText {
    /// The text, cut where it would fill a screen.
    pub text: String,
    /// The noun for the expected text, with its article.
    pub what: &'static str,
    /// The rule that the text breaks.
    pub rule: &'static str,
}

impl InvalidText {
    /// Describes a text that `T` does not accept.
    pub fn new<T: TextFormat>(text: &str) -> Self {
        Self { text: text.chars().take(80).collect(), what: T::WHAT, rule: T::RULE }
    }
}
