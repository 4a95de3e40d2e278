//! One list for all steps that wait for an element of it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::ports::Clock;
use crate::stamp::Stamp;

/// A list that is fetched at most once in [`FRESH_FOR`], however many steps ask for it.
pub(crate) struct SharedList<'a, T, E> {
    clock: &'a dyn Clock,
    last: Mutex<Option<(Stamp, Listed<T, E>)>>,
}

type Listed<T, E> = Result<Arc<Vec<T>>, E>;

impl<'a, T, E: Clone> SharedList<'a, T, E> {
    pub(crate) fn new(clock: &'a dyn Clock) -> Self {
        Self { clock, last: Mutex::new(None) }
    }

    /// Returns the list, by `fetch` where the last one is too old. A caller waits for a list that is under way.
    pub(crate) async fn get(&self, fetch: impl Future<Output = Result<Vec<T>, E>>) -> Listed<T, E> {
        let mut last = self.last.lock().await;
        if let Some((at, listed)) = &*last
            && at.is_within(FRESH_FOR, self.clock)
        {
            return listed.clone();
        }
        let listed = fetch.await.map(Arc::new);
        *last = Some((Stamp::now(self.clock), listed.clone()));
        listed
    }
}

/// A list of 500 nodes is megabytes, and clouds allow about one call in a second; what changed two seconds ago is found soon
/// enough.
const FRESH_FOR: Duration = Duration::from_secs(2);
