//! The contract: the Talos release that a configuration is written for.

use std::fmt;
use std::str::FromStr;

use crate::releases::{RELEASES, Release};
use crate::yaml::Dialect;

/// A minor release of Talos whose layout and defaults a configuration follows.
///
/// Releases older than 1.0 are written as 1.0, releases newer than we know as the newest we know.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Contract {
    major: u32,
    minor: u32,
}

impl Contract {
    /// The newest contract: the default.
    pub const CURRENT: Self = RELEASES[RELEASES.len() - 1].contract;

    /// Returns the contract of a release.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }

    /// Returns what is known about the release; `None` for one that configuration is not written for.
    pub fn release(self) -> Option<&'static Release> {
        RELEASES.iter().find(|release| release.contract == self)
    }

    /// Returns the dialect of the release, for unknown ones that of the nearest.
    pub fn dialect(self) -> Dialect {
        let not_later = RELEASES.iter().rfind(|release| release.contract <= self);
        not_later.unwrap_or(&RELEASES[0]).dialect
    }

    /// Returns whether this is `1.minor` or later.
    pub fn since(self, minor: u32) -> bool {
        self >= Self::new(1, minor)
    }

    /// Returns whether the talosctl of a dialect reads what came with this release.
    pub fn is_known_to(self, dialect: Dialect) -> bool {
        self.dialect() <= dialect
    }

    /// Returns the release without its `v`.
    pub fn bare(self) -> String {
        let Self { major, minor } = self;
        format!("{major}.{minor}")
    }

    /// The hint about something that an older release does not know.
    pub(crate) fn hint(self) -> String {
        format!("it came with Talos {}", self.bare())
    }
}

impl Default for Contract {
    fn default() -> Self {
        Self::CURRENT
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}.{}", self.major, self.minor)
    }
}

/// The error of a text that does not name a release.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("error parsing version {0:?}")]
pub struct NoContract(String);

impl FromStr for Contract {
    type Err = NoContract;

    /// Reads `1.14`, `v1.14`, `v1.14.1`, `v1.14.0-rc.1`: what follows the minor version is not looked at.
    fn from_str(text: &str) -> Result<Self, NoContract> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        let mut parts = bare.splitn(3, '.');
        let mut number = || {
            let part =
                parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))?;
            part.parse().ok()
        };
        match (number(), number()) {
            (Some(major), Some(minor)) => Ok(Self { major, minor }),
            _ => Err(NoContract(format!("v{bare}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Contract;

    #[test]
    fn read_as_talosctl_reads_them() {
        for text in ["1.5", "v1.5", "v1.5.6", "v1.5.0-rc.1"] {
            assert_eq!(text.parse(), Ok(Contract::new(1, 5)), "{text}");
        }
        for text in ["v1.14-alpha", "v1", "", "vv1.2", "1.x"] {
            assert!(text.parse::<Contract>().is_err(), "{text}");
        }
        assert!("v2.0".parse::<Contract>().is_ok_and(|contract| contract.since(15)));
        assert!("v0.14".parse::<Contract>().is_ok_and(|contract| !contract.since(0)));
    }
}
