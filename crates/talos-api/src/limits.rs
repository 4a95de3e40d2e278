//! Bounds for data from a machine.
//!
//! Always holds: for any answer, collecting a reply ends and takes a bounded amount of memory ([`Limits`]), and a
//! file or an archive that is passed on as it comes ends within [`Bounds`]. Logs and events have no end by design and
//! are bounded by their reader.

use std::fmt;
use std::time::Duration;

use talos_config::spell_bytes;

/// Bounds for one reply of a machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Bytes of one message, as they are sent.
    pub message: usize,
    /// Messages that are collected.
    pub messages: usize,
    /// Bytes of all messages that are collected.
    pub bytes: usize,
    /// Time for all messages that are collected. A node with a longer deadline takes that much.
    pub total: Duration,
}

impl Limits {
    /// For machines that are trusted.
    ///
    /// A message is as large as talosctl takes one: a machine sends its configuration in two forms at once. The longest
    /// lists are those of addresses and routes, with an entry for each Kubernetes service.
    pub const MEMBER: Self = Self {
        message: 32 << 20,
        messages: 100_000,
        bytes: 64 << 20,
        total: Duration::from_mins(1),
    };

    /// Limits for a server that does not show credentials.
    ///
    /// A machine in maintenance has no large resources, and no more than some hundred of a type. In memory, a message
    /// of nothing but empty parts takes more than a hundred times the bytes in which it is sent.
    pub const STRANGER: Self = Self {
        message: 256 << 10,
        messages: 10_000,
        bytes: 8 << 20,
        total: Duration::from_secs(20),
    };

    /// For listing the files of a machine that is trusted: its images have hundreds of thousands.
    pub const FILES: Self = Self {
        messages: 1_000_000,
        bytes: 256 << 20,
        total: Duration::from_mins(10),
        ..Self::MEMBER
    };
}

/// Bounds for a stream that has an end and is passed on as it comes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// Bytes of all messages.
    pub bytes: u64,
    /// Time for all messages, from when the bounds are set.
    pub total: Duration,
}

/// One of the [`Bounds`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Bound {
    /// The number of bytes.
    Bytes(u64),
    /// The time for all messages.
    Time(Duration),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.write_str(&spell_bytes(*bytes)),
            Self::Time(time) => write!(f, "{} s", time.as_secs()),
        }
    }
}
