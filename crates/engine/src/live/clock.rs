//! The system's clock.

use std::time::Duration;

use async_trait::async_trait;
use plan::Moment;

use crate::ports::Clock;

/// The time as the system tells it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// What time it is.
    #[expect(clippy::disallowed_methods, reason = "the one clock of the engine")]
    pub fn time() -> Moment {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Moment(since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX)))
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Moment {
        Self::time()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
