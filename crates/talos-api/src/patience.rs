//! When a stream that broke is worth another try, and after which pause.

use std::time::Duration;

use tokio::time::sleep;

use crate::error::{NodeError, Reason};
use crate::node::Node;

/// Keeps a stream alive over restarts of the machine.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Whether anything ever came: what never answered is not waited for.
    begun: bool,
    pause: Duration,
}

/// What reading a stream gave.
pub(crate) enum Judged<T> {
    Message(T),
    /// It is over, and may begin again.
    Lost(NodeError),
}

impl Default for Patience {
    fn default() -> Self {
        Self { begun: false, pause: FIRST_PAUSE }
    }
}

impl Patience {
    /// Fails where another try would not help.
    pub(crate) fn judge<T>(
        &mut self,
        node: &Node,
        read: Result<Option<T>, NodeError>,
    ) -> Result<Judged<T>, NodeError> {
        match read {
            Ok(Some(message)) => {
                *self = Self { begun: true, pause: FIRST_PAUSE };
                Ok(Judged::Message(message))
            }
            // A machine that reboots ends its streams as if all had been said.
            Ok(None) => {
                let reason = Reason::disconnected("the stream ended".to_owned());
                Ok(Judged::Lost(node.error(reason)))
            }
            Err(error) if self.begun && error.reason.is_passing() => Ok(Judged::Lost(error)),
            Err(error) => Err(error),
        }
    }

    /// Waits before the next try, each time longer.
    pub(crate) async fn wait(&mut self) {
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
