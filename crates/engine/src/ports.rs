//! The ports of the engine, split by concern. `live` has the real ones; tests and the simulator bring others.

mod etcd;
mod kubernetes;
mod lifecycle;
mod machines;

use std::time::Duration;

use async_trait::async_trait;
use domain::Timestamp;
use plan::{Approval, Checked, Plan};
use talos_config::{Bundle, Secret};

use crate::error::PortError;
use crate::event::Event;
use crate::journal::Journal;
use crate::provider::Provider;

pub use etcd::{EtcdMembers, ListedMember, MemberState};
pub use kubernetes::{ApiError, Kubernetes, LeaseRecord, NodeStatus, Put};
pub use lifecycle::Lifecycle;
pub use machines::{Component, Machines, NextBoot, Observed, OwnMachine};

/// All ports of a pass.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    /// Machines, to look at.
    pub machines: &'a dyn Machines,
    /// Machines, to change.
    pub lifecycle: &'a dyn Lifecycle,
    /// The members of etcd, by the machines that they run on.
    pub etcd: &'a dyn EtcdMembers,
    /// The cluster's own Kubernetes API.
    pub kubernetes: &'a dyn Kubernetes,
    /// The provider of machines.
    pub provider: &'a dyn Provider,
    /// The store of credentials.
    pub vault: &'a dyn Vault,
    /// The record of what was done.
    pub journal: &'a dyn Journal,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Randomness, for back-off.
    pub entropy: &'a dyn Entropy,
    /// Approves plans.
    pub approver: &'a dyn Approver,
    /// Asks to start no further step.
    pub stop: &'a dyn Stop,
    /// Is told what happens.
    pub events: &'a dyn EventSink,
    /// Names this engine to people who meet its lease.
    pub holder: &'a str,
}

impl Ports<'_> {
    /// Logs an event, and tells it.
    pub(crate) fn emit(&self, event: &Event) {
        event.log();
        self.events.emit(event);
    }
}

/// The store of credentials.
#[async_trait]
pub trait Vault: Send + Sync {
    /// Reads the secrets of the cluster; none when it has none yet.
    async fn read(&self) -> Result<Option<Bundle>, PortError>;

    /// Returns whether there are credentials for Kubernetes.
    async fn has_kubeconfig(&self) -> bool;

    /// Keeps credentials for Kubernetes.
    async fn keep_kubeconfig(&self, kubeconfig: &Secret<String>) -> Result<(), PortError>;
}

/// The time.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the time of day, which a person or a time server may change at any moment.
    fn now(&self) -> Timestamp;

    /// Returns the time since some fixed moment, which only goes forward and may stand still while the computer sleeps.
    fn monotonic(&self) -> Duration;

    /// Waits.
    async fn sleep(&self, duration: Duration);
}

/// Randomness.
pub trait Entropy: Send + Sync {
    /// Fills bytes that cannot be guessed, or in tests those that a seed gives.
    fn fill(&self, bytes: &mut [u8]);
}

/// Approves plans.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Waits for the approval of a plan; none as long as it is not given.
    async fn approve(&self, plan: &Plan<Checked>) -> Result<Option<Approval>, PortError>;
}

/// Asks to start no further step.
#[async_trait]
pub trait Stop: Send + Sync {
    /// Returns when no further step shall be started; what is under way comes to its end.
    async fn requested(&self);
}

/// Is told what happens.
pub trait EventSink: Send + Sync {
    /// Tells one event.
    fn emit(&self, event: &Event);
}

/// Forwards every event to both sinks, in order.
impl<A: EventSink, B: EventSink> EventSink for (A, B) {
    fn emit(&self, event: &Event) {
        self.0.emit(event);
        self.1.emit(event);
    }
}

impl<E: EventSink + ?Sized> EventSink for &E {
    fn emit(&self, event: &Event) {
        (**self).emit(event);
    }
}
