//! Texts with rules, each as a type of its own that cannot be built wrong.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
pub use talos_config::{InvalidText, TextFormat};

/// Makes a name of the letters that host names have.
macro_rules! name {
    ($(#[$docs:meta])* $name:ident, $what:literal) => {
        $(#[$docs])*
        #[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TextFormat for $name {
            const WHAT: &'static str = $what;
            const RULE: &'static str = LABEL_RULE;
            const PATTERN: &'static str = LABEL_PATTERN;
        }

        impl FromStr for $name {
            type Err = InvalidText;

            fn from_str(text: &str) -> Result<Self, InvalidText> {
                if is_label(text) { Ok(Self(text.to_owned())) } else { Err(InvalidText::new::<Self>(text)) }
            }
        }

        $crate::names::serialize_as_text!($name);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

/// Reads and writes a type in files as the text that it is.
macro_rules! serialize_as_text {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = $crate::names::InvalidText;

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
pub(crate) use serialize_as_text;

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
    /// A group of machines that fail together: a rack, a room, a zone.
    FailureDomain,
    "a failure domain"
);

name!(
    /// A class of machines that a provider makes: a size, an image, a place. The provider decides what it means.
    ClassName,
    "a machine class"
);
name!(
    /// The name of a provider of machines.
    ProviderName,
    "a provider"
);
impl ProviderName {
    /// The provider that makes no machines: people put them there.
    pub const METAL: &str = "metal";
}

name!(
    /// The name of an add-on.
    AddonName,
    "an add-on name"
);
/// The name of a node in Kubernetes, which need not be the machine's: with `registerWithFQDN` it has dots.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct NodeName(String);

impl NodeName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TextFormat for NodeName {
    const WHAT: &'static str = "a node name";
    const RULE: &'static str = "labels of a host name with dots between them, at most 253 letters";
    const PATTERN: &'static str =
        "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$";
}

impl FromStr for NodeName {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        if text.len() <= 253 && text.split('.').all(is_label) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidText::new::<Self>(text))
        }
    }
}

serialize_as_text!(NodeName);

/// Every name of a machine can be the name of a node.
impl From<&MachineName> for NodeName {
    fn from(name: &MachineName) -> Self {
        Self(name.0.clone())
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The SHA-256 of a certificate's public key in base64, as `talosctl --cert-fingerprint` takes it.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Returns the fingerprint as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TextFormat for Fingerprint {
    const WHAT: &'static str = "a fingerprint";
    const RULE: &'static str = "32 bytes in base64: 43 letters and =";
    const PATTERN: &'static str = "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$";
}

impl FromStr for Fingerprint {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        // The last letter has two bits more than 32 bytes need, which have to be zero.
        let last = |byte: &u8| b"AEIMQUYcgkosw048".contains(byte);
        let body = text.strip_suffix('=').map(str::as_bytes).filter(|body| body.len() == 43);
        match body.filter(|body| body.iter().copied().all(letter) && body.last().is_some_and(last))
        {
            Some(_) => Ok(Self(text.to_owned())),
            None => Err(InvalidText::new::<Self>(text)),
        }
    }
}

serialize_as_text!(Fingerprint);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Returns whether a text is a label of a host name (RFC 1123), in lower case.
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

    #[test]
    fn a_node_may_have_dots_in_its_name() {
        let long = ["x".repeat(63), "y".repeat(63), "z".repeat(63), "w".repeat(61)].join(".");
        for good in ["w-1", "w-1.example.org", long.as_str()] {
            assert!(good.parse::<NodeName>().is_ok(), "{good}");
        }
        for bad in ["", ".", "w-1.", "w-1..org", "W-1", &format!("{long}.a")] {
            assert!(bad.parse::<NodeName>().is_err(), "{bad}");
        }
        let machine: MachineName = "w-1".parse().expect("a name");
        assert_eq!(NodeName::from(&machine).as_str(), "w-1");
    }

    #[test]
    fn a_fingerprint_is_32_bytes_in_base64() {
        let good = format!("{}8=", "aB3+/".repeat(9).get(..42).expect("letters"));
        assert_eq!(good.parse::<Fingerprint>().map(|found| found.to_string()), Ok(good.clone()));
        for bad in [
            "",
            "=",
            &good[1..],
            &good[..43],
            &format!("{good}="),
            &good.replace('a', "-"),
            &good.replace("8=", "9="),
        ] {
            assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
        }
    }
}
