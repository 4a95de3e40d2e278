//! Addresses, networks and where the Kubernetes API is.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::names::{InvalidText, TextFormat, serialize_as_text};

/// The address of a machine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address(pub IpAddr);

impl TextFormat for Address {
    const WHAT: &'static str = "an address";
    const RULE: &'static str = "an IPv4 or IPv6 address, without a port or a prefix length";
    const PATTERN: &'static str = "^[0-9a-fA-F:.]+$";
}

impl FromStr for Address {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        text.parse().map(Self).map_err(|_| InvalidText::new::<Self>(text))
    }
}

serialize_as_text!(Address);

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A range of addresses. Bits behind its length are zero.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Network {
    first: IpAddr,
    length: u8,
}

impl Network {
    /// Whether an address is in it.
    pub fn contains(&self, address: Address) -> bool {
        masked(address.0, self.length) == self.first && width(address.0) == width(self.first)
    }

    /// Whether an address is in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.contains(Address(other.first)) || other.contains(Address(self.first))
    }
}

impl TextFormat for Network {
    const WHAT: &'static str = "a network";
    const RULE: &'static str = "its first address and a prefix length, such as 10.244.0.0/16";
    const PATTERN: &'static str = "^[0-9a-fA-F:.]+/[0-9]{1,3}$";
}

impl FromStr for Network {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let parse = || {
            let (address, length) = text.split_once('/')?;
            let first: IpAddr = address.parse().ok()?;
            let plain = length.bytes().all(|byte| byte.is_ascii_digit());
            let length = length.parse().ok().filter(|length| plain && *length <= width(first))?;
            (masked(first, length) == first).then_some(Self { first, length })
        };
        parse().ok_or_else(|| InvalidText::new::<Self>(text))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.length)
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// An address with all bits behind a length set to zero.
fn masked(address: IpAddr, length: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length.min(128))).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

/// Where the Kubernetes API is reached: `https://host:port`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Endpoint {
    host: String,
    port: u16,
}

impl Endpoint {
    /// The endpoint that a machine's own API server is.
    pub fn of(address: Address) -> Self {
        Self { host: in_brackets(address), port: API_SERVER_PORT }
    }
}

impl TextFormat for Endpoint {
    const WHAT: &'static str = "an endpoint";
    const RULE: &'static str =
        "https://, a name or an address and a port, such as https://10.0.0.10:6443";
    const PATTERN: &'static str = r"^https://[^\s/@?#]+(:[0-9]{1,5})?/?$";
}

impl FromStr for Endpoint {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let parse = || {
            let rest = text.strip_prefix("https://")?;
            let rest = rest.strip_suffix('/').unwrap_or(rest);
            let (host, port) = match rest.rsplit_once(':') {
                Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
                _ => (rest, HTTPS_PORT),
            };
            let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            let fine = match inner {
                Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
                None => {
                    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
                    !host.is_empty() && host.chars().all(letter)
                }
            };
            (fine && port > 0).then(|| Self { host: host.to_owned(), port })
        };
        parse().ok_or_else(|| InvalidText::new::<Self>(text))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "https://{}:{}", self.host, self.port)
    }
}

fn in_brackets(address: Address) -> String {
    if address.0.is_ipv6() { format!("[{address}]") } else { address.to_string() }
}

/// Where Kubernetes' API servers listen unless they are told otherwise.
const API_SERVER_PORT: u16 = 6443;
const HTTPS_PORT: u16 = 443;

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().expect("a network")
    }

    #[test]
    fn networks_overlap_when_one_holds_the_other() {
        assert!(network("10.0.0.0/8").overlaps(&network("10.96.0.0/12")));
        assert!(network("10.96.0.0/12").overlaps(&network("10.0.0.0/8")));
        assert!(!network("10.244.0.0/16").overlaps(&network("10.96.0.0/12")));
        assert!(!network("::/0").overlaps(&network("0.0.0.0/0")));
        for bad in ["10.0.0.1/8", "10.0.0.0", "10.0.0.0/33", "10.0.0.0/+8", "fd00::/129"] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_endpoint_is_a_host_and_a_port() {
        for (text, written) in [
            ("https://10.0.0.10:6443", "https://10.0.0.10:6443"),
            ("https://api.example/", "https://api.example:443"),
            ("https://[fd00::1]:6443", "https://[fd00::1]:6443"),
        ] {
            assert_eq!(text.parse::<Endpoint>().map(|e| e.to_string()).as_deref(), Ok(written));
        }
        for bad in ["http://a:1", "https://", "https://a:0", "https://a:b", "https://a/b", "a:6443"]
        {
            assert!(bad.parse::<Endpoint>().is_err(), "{bad}");
        }
    }
}
