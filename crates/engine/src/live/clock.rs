//! The system's clock.

use std::time::Duration;

use async_trait::async_trait;
use domain::Timestamp;

use crate::ports::Clock;

/// The time as the system tells it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// What time it is.
    #[expect(clippy::disallowed_methods, reason = "the one clock of the engine")]
    pub fn time() -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Timestamp(since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX)))
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Self::time()
    }

    #[expect(clippy::disallowed_methods, reason = "the one clock of the engine")]
    fn monotonic(&self) -> Duration {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed()
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}
