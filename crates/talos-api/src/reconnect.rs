//! Reconnecting streams: which failures are worth another try, and after which pause.

use std::time::Duration;

use tokio::time::sleep;
use tracing::info;

use crate::error::{CallError, NodeError};
use crate::node::Node;

/// Keeps a stream alive over restarts of the machine.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// True if anything ever came: what never answered is not waited for.
    begun: bool,
    pause: Duration,
}

/// The result of reading a stream.
pub(crate) enum StreamItem<T> {
    Message(T),
    /// It is over, and may begin again.
    Lost(NodeError),
}

impl Default for Backoff {
    fn default() -> Self {
        Self { begun: false, pause: FIRST_PAUSE }
    }
}

impl Backoff {
    /// Fails where another try would not help.
    pub(crate) fn classify<T>(
        &mut self,
        node: &Node,
        read: Result<Option<T>, NodeError>,
    ) -> Result<StreamItem<T>, NodeError> {
        match read {
            Ok(Some(message)) => {
                *self = Self { begun: true, pause: FIRST_PAUSE };
                Ok(StreamItem::Message(message))
            }
            // A machine that reboots ends its streams as if all had been said.
            Ok(None) => {
                let reason = CallError::disconnected("the stream ended".to_owned());
                Ok(StreamItem::Lost(node.error(reason)))
            }
            Err(error) if self.begun && error.reason.is_passing() => Ok(StreamItem::Lost(error)),
            Err(error) => Err(error),
        }
    }

    /// Waits before the next try, each time longer.
    pub(crate) async fn wait(&mut self) {
        info!(ms = self.pause.as_millis(), "stream lost, retrying");
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
