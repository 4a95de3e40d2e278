//! The members of etcd, to look at.

use async_trait::async_trait;
use domain::MemberId;

use crate::cluster::MachineAddress;
use crate::error::PortError;

/// The members of etcd, to look at, by the machines that they run on.
#[async_trait]
pub trait EtcdMembers: Send + Sync {
    /// Reads the status of a control plane's etcd; `None` when it never had one.
    async fn status(&self, machine: &MachineAddress) -> Result<Option<MemberState>, PortError>;

    /// Returns the members of etcd, as a machine lists them.
    async fn list(&self, machine: &MachineAddress) -> Result<Vec<ListedMember>, PortError>;
}

/// The status of a member of etcd, as it reports it.
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
    /// Its own name; empty for one that has not started yet.
    pub name: String,
    /// The addresses at which peers reach it.
    pub addresses: Vec<String>,
    /// It votes, and does not only learn.
    pub voter: bool,
}
