//! Pauses between looks at something that takes seconds to minutes.

use std::time::Duration;

use tracing::debug;

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
        debug!(ms = jittered.as_millis(), "waiting before another look");
        self.clock.sleep(jittered).await;
    }
}

/// Most waits end within seconds; a server that boots takes minutes.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(5);
const GROWTH: f64 = 1.25;

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use domain::Timestamp;

    use super::*;

    /// A clock that writes down for how long it was asked to wait, and does not wait.
    #[derive(Default)]
    struct Recorder(Mutex<Vec<Duration>>);

    #[async_trait]
    impl Clock for Recorder {
        fn now(&self) -> Timestamp {
            Timestamp(0)
        }

        fn monotonic(&self) -> Duration {
            Duration::ZERO
        }

        async fn sleep(&self, duration: Duration) {
            self.0.lock().expect("the pauses").push(duration);
        }
    }

    /// Entropy that is always the same byte.
    struct Always(u8);

    impl Entropy for Always {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    /// Returns the first pauses that one byte of entropy gives.
    async fn pauses(byte: u8, count: usize) -> Vec<Duration> {
        let (clock, entropy) = (Recorder::default(), Always(byte));
        let mut backoff = Backoff::new(&clock, &entropy);
        for _ in 0..count {
            backoff.pause().await;
        }
        clock.0.into_inner().expect("the pauses")
    }

    #[tokio::test]
    async fn backoff_grows_by_its_factor_from_the_first_pause_to_the_longest() {
        // The byte in the middle changes nothing.
        let pauses = pauses(128, 12).await;
        let mut expected = FIRST;
        for (number, pause) in pauses.iter().enumerate() {
            // Fractions of a nanosecond are rounded.
            let difference = pause.abs_diff(expected);
            assert!(difference < Duration::from_nanos(100), "{number}: {pause:?}, {expected:?}");
            expected = expected.mul_f64(GROWTH).min(LONGEST);
        }
        assert_eq!(pauses.iter().filter(|pause| **pause < LONGEST).count(), 8);
        assert_eq!(pauses.last(), Some(&LONGEST));
    }

    #[tokio::test]
    async fn backoff_jitter_stays_within_a_quarter_and_follows_entropy() {
        let middle = pauses(128, 12).await;
        let mut first = Vec::new();
        for byte in 0..=u8::MAX {
            let jittered = pauses(byte, 12).await;
            for (pause, middle) in jittered.iter().zip(&middle) {
                assert!(*pause >= middle.mul_f64(0.749) && *pause <= middle.mul_f64(1.251));
            }
            first.push(jittered[0]);
        }
        assert!(first.is_sorted_by(|one, next| one < next), "{first:?}");
        assert_eq!(first[0], FIRST.mul_f64(0.75));
    }
}
