//! Abandons a plan, also one that another engine carries out.

use std::time::Duration;

use domain::Digest;

use crate::error::Error;
use crate::journal::{Entry, Journal, JournalError, Slot};
use crate::ports::Clock;

/// The result of a cancel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cancelled {
    /// There was no plan to abandon.
    Nothing,
    /// The plan came to a good end before it could be stopped.
    Completed(Digest),
    /// The plan is abandoned.
    Abandoned(Digest),
}

/// Abandons a plan that was interrupted. An engine that carries it out is asked to start no further step, which is
/// told by `requested`, and waited for: a plan is abandoned only under the slot.
pub async fn cancel(
    journal: &dyn Journal,
    clock: &dyn Clock,
    mut requested: impl FnMut(Digest),
) -> Result<Cancelled, Error> {
    let mut asked = None;
    loop {
        let slot = journal.acquire(Slot::Plan).await;
        let unfinished = journal.ledger().await?.unfinished.map(|unfinished| unfinished.plan);
        match (slot, unfinished) {
            (Ok(_slot), Some(plan)) => {
                journal.append(Entry::PlanCancelled { plan }).await?;
                return Ok(Cancelled::Abandoned(plan));
            }
            (Ok(_), None) => return Ok(asked.map_or(Cancelled::Nothing, Cancelled::Completed)),
            // Its next pass has another plan.
            (Err(JournalError::Busy(_)), Some(plan)) if asked != Some(plan) => {
                journal.append(Entry::CancelRequested { plan }).await?;
                requested(plan);
                asked = Some(plan);
            }
            (Err(JournalError::Busy(_)), _) => clock.sleep(LOOK_AGAIN).await,
            (Err(error), _) => return Err(error.into()),
        }
    }
}

/// Often enough to tell soon that an engine has stopped.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
