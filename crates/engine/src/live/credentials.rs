//! Credentials that are made again before they expire.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::error::PortError;
use crate::ports::Clock;

/// Makes credentials from the secrets of the cluster.
pub type Mint<T> = Box<dyn Fn() -> Result<T, PortError> + Send + Sync>;

/// How long credentials are valid that a [`Mint`] makes.
pub const CREDENTIALS_LAST: Duration = Duration::from_hours(24);

/// How long before they are made credentials are valid already: a clock that is set to the time of another zone, here or
/// there, must not keep an engine out.
pub const CREDENTIALS_BACKDATED: Duration = Duration::from_hours(24);

/// Credentials of at most half of their life: a pass may take longer than they last.
pub(crate) struct Credentials<T> {
    mint: Mint<T>,
    clock: Arc<dyn Clock>,
    minted: Mutex<Option<Minted<T>>>,
}

struct Minted<T> {
    value: T,
    at: (i64, Duration),
    generation: u64,
}

impl<T: Clone> Credentials<T> {
    pub(crate) fn new(mint: Mint<T>, clock: Arc<dyn Clock>) -> Self {
        Self { mint, clock, minted: Mutex::new(None) }
    }

    /// The credentials, and a number that changes with them.
    pub(crate) fn current(&self) -> Result<(T, u64), PortError> {
        let mut minted = self.minted.lock().unwrap_or_else(PoisonError::into_inner);
        let (wall, monotonic) = (self.clock.now().0, self.clock.monotonic());
        let half = CREDENTIALS_LAST / 2;
        let generation = match &*minted {
            Some(Minted { value, at: (then, started), generation })
                // By both clocks: a clock that is set makes other certificates valid.
                if Duration::from_secs(wall.abs_diff(*then)) < half
                    && monotonic.saturating_sub(*started) < half =>
            {
                return Ok((value.clone(), *generation));
            }
            Some(Minted { generation, .. }) => generation + 1,
            None => 1,
        };
        let value = (self.mint)()?;
        *minted = Some(Minted { value: value.clone(), at: (wall, monotonic), generation });
        Ok((value, generation))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use async_trait::async_trait;
    use domain::Timestamp;

    use super::*;

    /// A clock whose two hands are set by hand.
    struct Hands(AtomicU64, AtomicU64);

    #[async_trait]
    impl Clock for Hands {
        fn now(&self) -> Timestamp {
            Timestamp(i64::try_from(self.0.load(Ordering::Relaxed)).unwrap())
        }

        fn monotonic(&self) -> Duration {
            Duration::from_secs(self.1.load(Ordering::Relaxed))
        }

        async fn sleep(&self, _duration: Duration) {}
    }

    #[test]
    fn credentials_are_made_again_at_half_of_their_life_by_either_clock() {
        let hands = Arc::new(Hands(AtomicU64::new(1_000_000), AtomicU64::new(0)));
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        let mint = move || Ok(counted.fetch_add(1, Ordering::Relaxed));
        let credentials = Credentials::new(Box::new(mint), Arc::<Hands>::clone(&hands));
        let half = CREDENTIALS_LAST.as_secs() / 2;
        let generation = || credentials.current().unwrap().1;
        assert_eq!((generation(), generation()), (1, 1));
        hands.1.store(half - 1, Ordering::Relaxed);
        assert_eq!(generation(), 1);
        hands.1.store(half, Ordering::Relaxed);
        assert_eq!((generation(), generation()), (2, 2));
        // The laptop slept: one clock stood still.
        hands.0.fetch_add(half, Ordering::Relaxed);
        assert_eq!(generation(), 3);
        // A clock that was set back.
        hands.0.store(1, Ordering::Relaxed);
        assert_eq!(generation(), 4);
        assert_eq!(count.load(Ordering::Relaxed), 4);
    }
}
