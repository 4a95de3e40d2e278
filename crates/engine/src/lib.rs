//! The engine: observes a cluster, plans, checks, and carries out what was approved.
//!
//! In: what is wanted ([`Cluster`]) and the world ([`Ports`]). Out: what one pass achieved ([`Outcome`]), and events
//! while it goes on. Every door calls the same [`run`] and brings its own ports.
//!
//! Always holds: nothing outside of `execute` changes a machine, and `execute` takes only a plan that was checked and
//! approved. What is about to be done is in the journal before it is done. Killing the process anywhere loses nothing: the
//! next pass observes again.

mod cluster;
mod error;
mod event;
mod execute;
pub mod journal;
mod lease;
pub mod live;
mod metrics;
mod observe;
mod ports;
mod progress;
pub mod provider;
mod run;
mod whole;

pub use cluster::{Cluster, Target};
pub use error::{Error, Trouble};
pub use event::{Event, StepPlace};
pub use execute::{Failure, Report};
pub use lease::Claim;
pub use metrics::Metrics;
pub use observe::{components, observe};
pub use ports::{
    Approve, Clock, Component, Events, Kubernetes, ListedMember, Machines, MemberState, Ports,
    Seen, Vault,
};
pub use progress::{Doing, Progress};
pub use run::{Compared, Outcome, Proposal, compare_live, propose, run, run_plan};
