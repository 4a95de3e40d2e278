//! What tests need from the world: the real programs that Ichor is compared with.
//!
//! For tests and developer commands only; nothing that ships depends on it.

#![expect(
    clippy::disallowed_methods,
    reason = "a developer's tool: it reads its own environment and has no engine with ports"
)]

pub mod peers;
