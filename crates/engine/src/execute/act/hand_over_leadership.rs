//! Lets another member lead etcd.

use super::{At, sent};
use crate::error::Error;

pub(super) async fn act(at: &At<'_>) -> Result<(), Error> {
    // Leadership may move at any time; a lost answer changes nothing about what comes next.
    Ok(sent(at.ports.lifecycle.forfeit_leadership(at.machine()?).await)?)
}
