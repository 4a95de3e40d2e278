//! Versions of Talos and Kubernetes: their text, and their order.
//!
//! A version is one release or a build on the way to one. What holds for all releases of a minor is in its row of
//! [`RELEASES`](crate::RELEASES).

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::contract::Contract;
use crate::text_format::{InvalidText, TextFormat};

/// A semantic version: three numbers and a pre-release.
#[derive(Clone, Debug, Eq, PartialEq)]
struct SemanticVersion {
    major: u32,
    minor: u32,
    patch: u32,
    /// `rc.1` of `v1.14.0-rc.1`; empty for the release itself.
    pre_release: String,
}

impl SemanticVersion {
    fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        let (numbers, pre_release) = match bare.split_once('-') {
            Some((_, "")) => return None,
            Some((numbers, pre_release)) => (numbers, pre_release),
            None => (bare, ""),
        };
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        let mut parts = numbers.split('.').map(|part| {
            // Neither signs nor zeros in front: each version has one text.
            let plain = part.bytes().all(|byte| byte.is_ascii_digit())
                && (part == "0" || !part.starts_with('0'));
            part.parse().ok().filter(|_| plain)
        });
        let release = Self {
            major: parts.next()??,
            minor: parts.next()??,
            patch: parts.next()??,
            pre_release: pre_release.to_owned(),
        };
        (parts.next().is_none() && pre_release.chars().all(fine)).then_some(release)
    }
}

/// The precedence of semantic versions: `alpha.2`, `alpha.10`, `rc.1`, then the release itself.
impl Ord for SemanticVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let Self { major, minor, patch, pre_release } = self;
        (major, minor, patch)
            .cmp(&(&other.major, &other.minor, &other.patch))
            .then_with(|| pre_release.is_empty().cmp(&other.pre_release.is_empty()))
            .then_with(|| {
                pre_release
                    .split('.')
                    .map(Identifier)
                    .cmp(other.pre_release.split('.').map(Identifier))
            })
    }
}

impl PartialOrd for SemanticVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One part of a pre-release: numbers are compared as numbers and come before words.
#[derive(Eq, PartialEq)]
struct Identifier<'a>(&'a str);

impl Identifier<'_> {
    fn is_number(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_digit())
    }
}

impl Ord for Identifier<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        // By length first, since a number may be longer than any integer type.
        let as_numbers = |text: &str| text.trim_start_matches('0').len();
        match (self.is_number(), other.is_number()) {
            (true, true) => as_numbers(self.0)
                .cmp(&as_numbers(other.0))
                .then_with(|| self.0.trim_start_matches('0').cmp(other.0.trim_start_matches('0'))),
            (number, other_number) => other_number.cmp(&number).then_with(|| self.0.cmp(other.0)),
        }
        // Equal only if the texts are, as `Eq` has it.
        .then_with(|| self.0.cmp(other.0))
    }
}

impl PartialOrd for Identifier<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for SemanticVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}.{}", self.major, self.minor, self.patch)?;
        if self.pre_release.is_empty() { Ok(()) } else { write!(f, "-{}", self.pre_release) }
    }
}

/// A release of Talos that a machine runs or shall run.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct TalosVersion(SemanticVersion);

impl TalosVersion {
    /// Returns the contract that configuration for this release follows. A pre-release counts as its release.
    pub fn contract(&self) -> Contract {
        Contract::new(self.0.major, self.0.minor)
    }

    /// Returns whether both are the same release, or builds of it: tags of images end in names of their own.
    pub fn is_same_release(&self, other: &Self) -> bool {
        let numbers = |version: &SemanticVersion| (version.major, version.minor, version.patch);
        numbers(&self.0) == numbers(&other.0)
    }
}

/// A release of Kubernetes.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct KubernetesVersion(SemanticVersion);

impl KubernetesVersion {
    /// Returns the version as image tags have it behind their `v`.
    pub fn bare(&self) -> String {
        self.0.to_string().split_off(1)
    }

    /// Returns the minor release that it is or leads to.
    pub(crate) fn minor(&self) -> (u32, u32) {
        (self.0.major, self.0.minor)
    }
}

macro_rules! version {
    ($name:ident, $what:literal) => {
        impl TextFormat for $name {
            const WHAT: &'static str = $what;
            const RULE: &'static str = "v and three numbers, such as v1.13.9";
            const PATTERN: &'static str = r"^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$";
        }

        impl FromStr for $name {
            type Err = InvalidText;

            fn from_str(text: &str) -> Result<Self, InvalidText> {
                SemanticVersion::parse(text).map(Self).ok_or_else(|| InvalidText::new::<Self>(text))
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidText;

            fn try_from(text: String) -> Result<Self, InvalidText> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(version: $name) -> Self {
                version.to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

version!(TalosVersion, "a Talos release");
version!(KubernetesVersion, "a Kubernetes release");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_with_and_without_their_letter() {
        for (text, written) in
            [("1.13.9", "v1.13.9"), ("v1.14.0-rc.1", "v1.14.0-rc.1"), ("v1.36.3", "v1.36.3")]
        {
            assert_eq!(text.parse::<TalosVersion>().map(|v| v.to_string()).as_deref(), Ok(written));
        }
        for text in
            ["", "v1.13", "1.13.x", "v1.2.3.4", "v1.2.3-", "v1.2.3-a b", "+1.2.3", "v1.02.3"]
        {
            assert!(text.parse::<TalosVersion>().is_err(), "{text}");
        }
    }

    #[test]
    fn pre_releases_come_before_their_release() {
        let ascending = [
            "v1.13.9",
            "v1.14.0-alpha",
            "v1.14.0-alpha.2",
            "v1.14.0-alpha.10",
            "v1.14.0-beta.0",
            "v1.14.0-rc.1",
            "v1.14.0",
            "v1.14.1-rc.0",
            "v1.14.1",
        ];
        let versions = ascending.map(|text| text.parse::<TalosVersion>().expect("a version"));
        assert!(versions.is_sorted_by(|one, next| one < next), "{versions:?}");
    }
}
