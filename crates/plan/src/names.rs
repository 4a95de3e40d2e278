//! Texts with rules, each as a type of its own that cannot be built wrong.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A text with rules: what it is called, what it looks like, and how it is read.
pub trait Form: FromStr<Err = Malformed> {
    /// What such a text is, with its article: `a cluster name`.
    const WHAT: &'static str;
    /// What is allowed, for people.
    const RULE: &'static str;
    /// The same as a regular expression of JSON Schema.
    const PATTERN: &'static str;
}

/// Why a text is not what it should be.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{text:?} is not {what}: {rule}")]
pub struct Malformed {
    /// The text, cut where it would fill a screen.
    pub text: String,
    /// What it should have been.
    pub what: &'static str,
    /// What is allowed.
    pub rule: &'static str,
}

impl Malformed {
    /// A text that is not of a form.
    pub(crate) fn new<T: Form>(text: &str) -> Self {
        Self { text: text.chars().take(80).collect(), what: T::WHAT, rule: T::RULE }
    }
}

/// Makes a name of the letters that host names have.
macro_rules! name {
    ($(#[$docs:meta])* $name:ident, $what:literal) => {
        $(#[$docs])*
        #[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Form for $name {
            const WHAT: &'static str = $what;
            const RULE: &'static str = LABEL_RULE;
            const PATTERN: &'static str = LABEL_PATTERN;
        }

        impl FromStr for $name {
            type Err = Malformed;

            fn from_str(text: &str) -> Result<Self, Malformed> {
                if is_label(text) { Ok(Self(text.to_owned())) } else { Err(Malformed::new::<Self>(text)) }
            }
        }

        $crate::names::through_text!($name);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

/// Reads and writes a type in files as the text that it is.
macro_rules! through_text {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = $crate::names::Malformed;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}
pub(crate) use through_text;

name!(
    /// The name of a cluster.
    ClusterName,
    "a cluster name"
);
name!(
    /// The name of a machine: what a machine *is* in a spec, and its host name.
    MachineName,
    "a machine name"
);
name!(
    /// The name of a pool of workers.
    PoolName,
    "a pool name"
);
name!(
    /// What fails together: a rack, a room, a zone.
    FailureDomain,
    "a failure domain"
);

/// Whether a text is a label of a host name (RFC 1123), in lower case.
fn is_label(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.bytes().all(|byte| letter(byte) || byte == b'-')
        && text.bytes().next().is_some_and(letter)
        && text.bytes().next_back().is_some_and(letter)
}

const LABEL_RULE: &str =
    "lower-case letters, digits and hyphens, at most 63, with a letter or digit at both ends";
const LABEL_PATTERN: &str = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_a_host_can_be_called() {
        for good in ["a", "cp-1", "0", &"x".repeat(63)] {
            assert!(good.parse::<MachineName>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a.b", "ä", &"x".repeat(64)] {
            assert!(bad.parse::<MachineName>().is_err(), "{bad}");
        }
    }
}
