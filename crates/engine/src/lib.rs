//! The engine: observes a cluster, plans, checks, and carries out what was approved.
//!
//! In: what is wanted ([`Cluster`]) and the world ([`Ports`]). Out: what one pass achieved ([`Outcome`]), and events
//! while it goes on. Every door calls the same [`run`] and brings its own ports.
//!
//! Always holds: nothing outside of `execute` changes a machine, and `execute` takes only a plan that was checked and
//! approved. What is about to be done is in the journal before it is done. Killing the process anywhere loses nothing: the
//! next pass observes again.

pub mod atomic_file;
mod backoff;
pub mod bounded_file;
mod cancel;
mod cluster;
mod converge;
mod error;
mod event;
mod execute;
pub mod journal;
mod lease;
mod line_file;
pub mod live;
mod locate;
mod metrics;
mod observe;
mod ports;
mod progress;
pub mod provider;
mod run;
mod shared_list;
mod stamp;

pub use cancel::{Cancelled, cancel};
pub use cluster::{Cluster, MachineAddress};
pub use converge::converge;
pub use error::{Error, PortError};
pub use event::{Event, StepPlace};
pub use execute::{Failure, Report};
pub use lease::{LeaseClaim, LeaseOutcome};
pub use line_file::{LineFile, LockedLines};
pub use metrics::Metrics;
pub use observe::{Compared, NotCompared, compare_live, components, observe};
pub use ports::{
    ApiError, Approver, Clock, Component, Entropy, EtcdMembers, EventSink, Kubernetes, LeaseRecord,
    Lifecycle, ListedMember, Machines, MemberState, NextBoot, NodeStatus, Observed, OwnMachine,
    Ports, Put, Stop, Vault,
};
pub use progress::{Activity, PlanProgress};
pub use run::{Outcome, Proposal, Want, check_plan, propose, run};
