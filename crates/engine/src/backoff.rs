//! Pauses between looks at something that takes seconds to minutes.

use std::time::Duration;

use crate::ports::{Clock, Entropy};

/// Pauses that grow, each with some jitter, so that many who wait for the same do not look at the same moment.
pub(crate) struct Backoff<'a> {
    clock: &'a dyn Clock,
    entropy: &'a dyn Entropy,
    next: Duration,
}

impl<'a> Backoff<'a> {
    pub(crate) fn new(clock: &'a dyn Clock, entropy: &'a dyn Entropy) -> Self {
        Self { clock, entropy, next: FIRST }
    }

    /// Waits for as long as it is time for another look.
    pub(crate) async fn pause(&mut self) {
        let mut byte = [0];
        self.entropy.fill(&mut byte);
        // Between three and five quarters.
        let jittered = self.next.mul_f64(0.75 + f64::from(byte[0]) / 512.0);
        self.next = self.next.mul_f64(GROWTH).min(LONGEST);
        self.clock.sleep(jittered).await;
    }
}

/// Most waits end within seconds; a server that boots takes minutes.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5);
const GROWTH: f64 = 1.25;
