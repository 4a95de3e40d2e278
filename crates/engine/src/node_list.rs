//! One look at all nodes for everyone who waits for one of them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::ports::{ApiError, Clock, Kubernetes, NodeStatus};

/// The nodes of a cluster, listed at most once in [`FRESH_FOR`] however many ask.
pub(crate) struct NodeList<'a> {
    kubernetes: &'a dyn Kubernetes,
    clock: &'a dyn Clock,
    last: Mutex<Option<(Duration, Listed)>>,
}

type Listed = Result<Arc<Vec<NodeStatus>>, ApiError>;

impl<'a> NodeList<'a> {
    pub(crate) fn new(kubernetes: &'a dyn Kubernetes, clock: &'a dyn Clock) -> Self {
        Self { kubernetes, clock, last: Mutex::new(None) }
    }

    /// The nodes. Who asks while a list is under way waits for that one.
    pub(crate) async fn get(&self) -> Listed {
        let mut last = self.last.lock().await;
        let now = self.clock.monotonic();
        if let Some((at, listed)) = &*last
            && now.saturating_sub(*at) < FRESH_FOR
        {
            return listed.clone();
        }
        let listed = self.kubernetes.nodes().await.map(Arc::new);
        *last = Some((self.clock.monotonic(), listed.clone()));
        listed
    }
}

/// A list of 500 nodes is megabytes; a node that became ready two seconds ago is found soon enough.
const FRESH_FOR: Duration = Duration::from_secs(2);
