//! The engine against a world in memory: machines, etcd, Kubernetes, a journal and a clock that are a model in
//! [`model`], reached through ports that can fail, hang and be killed ([`engine`]).
//!
//! The model shares no code with `plan`: it counts voters by itself, and says when a quorum was lost.

#![expect(unreachable_pub, reason = "modules of one test target")]

mod ages;
mod bootstrap;
mod cluster;
mod create_500;
mod destroy;
mod engine;
mod identity;
mod kill;
mod lease;
mod lost_answers;
mod model;
mod node_names;
mod provider;
mod scripts;
mod skipped;
mod stop;
mod voters;
mod windows;
