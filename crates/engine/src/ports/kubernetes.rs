//! The cluster's own Kubernetes API.

use async_trait::async_trait;
use domain::{Digest, NodeName, NodeState};

use crate::error::PortError;

/// The cluster's own Kubernetes API. The port only reads and writes; what a lease means is decided in one place.
#[async_trait]
pub trait Kubernetes: Send + Sync {
    /// Returns all nodes.
    async fn nodes(&self) -> Result<Vec<NodeStatus>, ApiError>;

    /// Reads the lease; none when it was never made.
    async fn lease(&self) -> Result<Option<LeaseRecord>, ApiError>;

    /// Writes the lease, over the version that it carries or, where it carries none, as a new object.
    async fn put_lease(&self, lease: &LeaseRecord) -> Result<Put, ApiError>;
}

/// A node, as Kubernetes knows it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeStatus {
    /// Its name.
    pub name: NodeName,
    /// True if it is ready.
    pub state: NodeState,
    /// The boot that its kubelet has reported from; empty when it has not.
    pub boot: String,
}

/// The lease that keeps a second engine out.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LeaseRecord {
    /// The version of the object; any change gives another one. None for an object that is to be made.
    pub version: Option<String>,
    /// The engine that has it; none when it was released.
    pub holder: Option<String>,
    /// Grows with every change of the holder.
    pub fencing: u64,
    /// The plan that it is for.
    pub plan: Option<Digest>,
}

/// The result of a conditional write.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Put {
    /// It is written.
    Written,
    /// The object is there already, or of another version.
    Conflict,
}

/// The reason why the API did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ApiError {
    /// Nothing answered as this cluster's API: there may be none.
    #[error(transparent)]
    Unreachable(PortError),
    /// The API answered, and refused.
    #[error(transparent)]
    Refused(PortError),
}

impl ApiError {
    /// Returns the failure, for people.
    pub fn message(&self) -> &str {
        let (Self::Unreachable(error) | Self::Refused(error)) = self;
        &error.message
    }
}

impl From<ApiError> for PortError {
    fn from(error: ApiError) -> Self {
        let (ApiError::Unreachable(error) | ApiError::Refused(error)) = error;
        error
    }
}
