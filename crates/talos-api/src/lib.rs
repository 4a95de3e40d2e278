//! The Talos API: its messages and services, and the resources that machines publish.
//!
//! In goes what a machine sent, out come typed messages ([`proto`]); the spec of a resource is told by the
//! resource's type ([`resource`]). Services have a client and a server side: the latter is what
//! simulated machines answer with.
//!
//! Always holds: no part of a message that was read is lost when it is written again, and the same message
//! is always the same bytes; what can carry a secret shows nothing of it in `Debug`.

#[expect(
    missing_docs,
    unreachable_pub,
    clippy::pedantic,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "made from proto/ by `cargo xtask gen`"
)]
#[rustfmt::skip]
mod generated;
mod client;
mod error;
mod opaque;
pub mod proto;
pub mod resource;
mod tls;

pub use client::{Client, ConnectError, Node, Routed, Service, each_node};
pub use error::{NodeError, Reason};
pub use tls::Fingerprint;
