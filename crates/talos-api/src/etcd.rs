//! Evidence of a member of etcd on a machine.
//!
//! Always holds: a service that does not run says nothing about its data. Only the data directory does, and only once the
//! machine has mounted it.

use crate::error::{CallError, NodeError};
use crate::node::Node;
use crate::proto::definitions::config::{MachineType, MachineTypeSpec};
use crate::proto::machine::ListRequest;

/// A member of etcd, as the machine that would have it shows it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EtcdPresence {
    /// The service runs.
    Running,
    /// There is data of a member, and the service does not run now.
    Stopped,
    /// There is no data, or the machine is a worker.
    Absent,
    /// The machine has not come as far as to tell: a control plane that still boots.
    Unknown,
}

impl Node {
    /// Looks for a member of etcd: a service that runs, or data on the disk.
    pub async fn etcd_presence(&self) -> Result<EtcdPresence, NodeError> {
        let reply =
            self.retrying(|node| async move { node.call(node.machine().service_list(())).await });
        let services = self.single_reply(reply.await?.messages)?.services;
        match services.iter().find(|service| service.id == "etcd") {
            Some(etcd) if etcd.state == "Running" => Ok(EtcdPresence::Running),
            // The service is loaded once the disks are mounted: a directory that is missing now was never made.
            Some(_) => match self.has_etcd_data().await {
                Ok(true) => Ok(EtcdPresence::Stopped),
                Ok(false) | Err(NodeError { reason: CallError::NotFound(_), .. }) => {
                    Ok(EtcdPresence::Absent)
                }
                Err(error) => Err(error),
            },
            None => {
                let found = self.get::<MachineTypeSpec>("machine-type").await?;
                let is_worker =
                    found.is_some_and(|spec| spec.machine_type() == MachineType::Worker);
                Ok(if is_worker { EtcdPresence::Absent } else { EtcdPresence::Unknown })
            }
        }
    }

    /// Returns whether the machine has data of a member of etcd. A directory that is missing is an error: early in a boot the
    /// disk is not mounted yet.
    pub async fn has_etcd_data(&self) -> Result<bool, NodeError> {
        let request = ListRequest { root: "/var/lib/etcd".to_owned(), ..ListRequest::default() };
        let list = |node: Self| async move { node.machine().list(request).await };
        let entries = self.open(list).await?.collect().await?;
        Ok(entries.iter().any(|entry| entry.error.is_empty() && entry.relative_name == "member"))
    }
}
