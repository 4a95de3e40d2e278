//! The Talos API: its messages and services, and the resources that machines publish.
//!
//! A [`Client`] is a way to machines, a [`Node`] is one of them: its services, its resources and its events. In goes
//! what a machine sent, out come typed messages ([`proto`]); the spec of a resource is told by the resource's type
//! ([`resource`]). Services have a client and a server side: the latter is what simulated machines answer with.
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
mod connector;
mod details;
mod error;
mod etcd;
mod events;
mod kubeconfig;
mod limits;
mod node;
pub mod proto;
mod reconnect;
mod redacted_debug;
mod release;
pub mod resource;
mod tls;
mod upload;
mod watch;

pub use client::{Client, ConnectError};
pub use details::WithoutDetails;
pub use error::{CallError, Disconnect, NodeError, Stage, Timeout};
pub use etcd::EtcdPresence;
pub use events::{EventPayload, Events, Since, StreamEvent};
pub use limits::{Bound, Bounds, Limits};
pub use node::{Node, Routed, Service, Stream, each_node};
pub use release::Feature;
pub use tls::Fingerprint;
pub use upload::UploadError;
pub use watch::{Selection, Watch, WatchEvent};
