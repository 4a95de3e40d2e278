//! What the engine needs from the world. `live` has the real ones; tests bring others.

use std::time::Duration;

use async_trait::async_trait;
use plan::{
    ApplyMode, Approval, BootId, Checked, Disk, MemberId, Moment, NodeIdentity, NodeState, Plan,
    TalosVersion,
};
use talos_config::{Bundle, Config, Secret};

use crate::cluster::Target;
use crate::error::Trouble;
use crate::event::Event;
use crate::journal::Journal;
use crate::lease::Claim;
use crate::provider::Provider;

/// All ports of a pass.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    /// Machines, by the Talos API.
    pub machines: &'a dyn Machines,
    /// The cluster's own Kubernetes API.
    pub kubernetes: &'a dyn Kubernetes,
    /// Where machines come from.
    pub provider: &'a dyn Provider,
    /// Where credentials are kept.
    pub vault: &'a dyn Vault,
    /// What was done.
    pub journal: &'a dyn Journal,
    /// The time.
    pub clock: &'a dyn Clock,
    /// Who says yes.
    pub approve: &'a dyn Approve,
    /// Who is told what happens.
    pub events: &'a dyn Events,
    /// Who we are, to other engines.
    pub holder: &'a str,
}

/// Machines, by the Talos API. What changes something is done once and never tried again by the port itself.
#[async_trait]
pub trait Machines: Send + Sync {
    /// What can be seen of a machine.
    async fn see(&self, machine: &Target) -> Seen;

    /// The disks that Talos could be installed to, on a machine in maintenance; or why nobody has to look.
    async fn disks(&self, machine: &Target) -> Result<Vec<Disk>, String>;

    /// What runs on a machine of ours, and how it is.
    async fn components(&self, machine: &Target) -> Result<Vec<Component>, Trouble>;

    /// What a control plane's etcd says about itself; `None` when it never had one.
    async fn member(&self, machine: &Target) -> Result<Option<MemberState>, Trouble>;

    /// The members of etcd, as a machine lists them.
    async fn members(&self, machine: &Target) -> Result<Vec<ListedMember>, Trouble>;

    /// Hands a machine its configuration.
    async fn apply_config(
        &self,
        machine: &Target,
        config: &Secret<String>,
        mode: ApplyMode,
    ) -> Result<(), Trouble>;

    /// Begins etcd. `Ok(false)` when the machine has one already.
    async fn bootstrap(&self, machine: &Target) -> Result<bool, Trouble>;

    /// Lets another member lead etcd.
    async fn hand_over_leadership(&self, machine: &Target) -> Result<(), Trouble>;

    /// Boots a machine again.
    async fn reboot(&self, machine: &Target) -> Result<(), Trouble>;

    /// Takes away what makes it a machine of the cluster, and boots it into maintenance.
    async fn reset(&self, machine: &Target) -> Result<(), Trouble>;

    /// An administrator's credentials for the Kubernetes API.
    async fn kubeconfig(&self, machine: &Target) -> Result<Secret<String>, Trouble>;
}

/// What can be seen of a machine.
pub enum Seen {
    /// It waits for configuration.
    Maintenance,
    /// It knows our credentials.
    Ours {
        /// Which installation it is.
        node: NodeIdentity,
        /// Which boot.
        boot: BootId,
        /// Which release.
        talos: TalosVersion,
        /// The configuration that it has.
        config: Box<Config>,
    },
    /// It has configuration and does not know us.
    Another,
    /// Nothing, and why.
    Unseen(String),
}

/// Something that runs on a machine: a service of Talos, or a part of Kubernetes' control plane.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Component {
    /// Its name, such as `etcd` or `kube-scheduler`.
    pub name: String,
    /// The state that it is in.
    pub state: String,
    /// Whether it does what it should.
    pub is_healthy: bool,
    /// Why not.
    pub reason: String,
}

/// What a member of etcd says about itself.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct MemberState {
    /// Its id.
    pub id: MemberId,
    /// The member that it takes for the leader.
    pub leader: Option<MemberId>,
    /// The last entry that it has applied.
    pub applied: u64,
}

/// A member of etcd, as another one lists it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListedMember {
    /// Its id.
    pub id: MemberId,
    /// What it calls itself; empty for one that has not started yet.
    pub name: String,
    /// Where its peers reach it: addresses.
    pub addresses: Vec<String>,
    /// Whether it votes.
    pub voter: bool,
}

/// The cluster's own Kubernetes API.
#[async_trait]
pub trait Kubernetes: Send + Sync {
    /// The nodes, by their names.
    async fn nodes(&self) -> Result<Vec<(String, NodeState)>, Trouble>;

    /// Takes the lease that keeps other engines out, or keeps it. Gives its fencing number.
    async fn take_lease(&self, claim: &Claim) -> Result<u64, Trouble>;

    /// Gives it back.
    async fn release_lease(&self, claim: &Claim) -> Result<(), Trouble>;
}

/// Where credentials are kept.
#[async_trait]
pub trait Vault: Send + Sync {
    /// The secrets of the cluster; none when it has none yet.
    async fn read(&self) -> Result<Option<Bundle>, Trouble>;

    /// Whether there are credentials for Kubernetes.
    async fn has_kubeconfig(&self) -> bool;

    /// Keeps credentials for Kubernetes.
    async fn keep_kubeconfig(&self, kubeconfig: &Secret<String>) -> Result<(), Trouble>;
}

/// The time.
#[async_trait]
pub trait Clock: Send + Sync {
    /// What time it is.
    fn now(&self) -> Moment;

    /// Waits.
    async fn sleep(&self, duration: Duration);
}

/// Who says yes.
#[async_trait]
pub trait Approve: Send + Sync {
    /// Whether a plan may be carried out, and who says so.
    async fn approve(&self, plan: &Plan<Checked>) -> Result<Option<Approval>, Trouble>;
}

/// Two who are told: the second when the first one knows.
impl<A: Events, B: Events> Events for (A, B) {
    fn tell(&self, event: &Event) {
        self.0.tell(event);
        self.1.tell(event);
    }
}

impl<E: Events + ?Sized> Events for &E {
    fn tell(&self, event: &Event) {
        (**self).tell(event);
    }
}

/// Who is told what happens.
pub trait Events: Send + Sync {
    /// Tells one event.
    fn tell(&self, event: &Event);
}
