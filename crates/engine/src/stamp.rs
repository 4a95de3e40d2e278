//! A moment by both clocks, to tell how long ago it was.

use std::time::Duration;

use domain::Timestamp;

use crate::ports::Clock;

/// A moment by the time of day and by the monotonic clock: the first may be set, the second may stand still while the computer
/// sleeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    wall: Timestamp,
    monotonic: Duration,
}

impl Stamp {
    pub(crate) fn now(clock: &dyn Clock) -> Self {
        Self { wall: clock.now(), monotonic: clock.monotonic() }
    }

    /// Returns whether it was less than so long ago by either clock. A clock that was set back says nothing.
    pub(crate) fn is_within(self, limit: Duration, clock: &dyn Clock) -> bool {
        let now = Self::now(clock);
        now.wall >= self.wall
            && now.wall.since(self.wall).duration() < limit
            && now.monotonic.saturating_sub(self.monotonic) < limit
    }
}
