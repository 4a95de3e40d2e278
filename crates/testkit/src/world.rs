//! A world in memory: machines, etcd, Kubernetes, a journal and a clock that are a model in [`model`], reached through ports
//! that can fail, hang and be killed ([`engine`]).
//!
//! The model shares no code with `plan`: it counts voters by itself, and says when a quorum was lost.

#![expect(
    missing_docs,
    clippy::missing_panics_doc,
    reason = "for tests: names say it, and a panic fails the test"
)]

pub mod cluster;
pub mod engine;
pub mod model;
