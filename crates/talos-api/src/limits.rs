//! Bounds for what is collected from a machine.
//!
//! Always holds: whatever answers, collecting a reply ends and takes a bounded amount of memory. Streams that are passed
//! on as they come (logs, events, files) have no end by design and are bounded by their reader.

use std::time::Duration;

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

    /// For whatever answers without showing credentials.
    ///
    /// A machine in maintenance has no large resources, and no more than some hundred of a type. In memory, a message of
    /// nothing but empty parts takes more than a hundred times the bytes in which it is sent.
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
