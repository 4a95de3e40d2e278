//! What happens in a pass, as it happens: one type for logs, metrics, audit and progress.

use std::time::Duration;

use plan::{Digest, MachineName, Moment, StepNumber};
use serde::{Serialize, Serializer};

/// Something that happened. It holds no secret.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The machines have been looked at.
    Observed {
        /// How many there are.
        machines: usize,
        /// Which could not be seen, and why.
        unseen: Vec<(MachineName, String)>,
    },
    /// A plan was made and checked.
    Planned {
        /// Which one.
        plan: Digest,
        /// How many steps it has.
        steps: usize,
    },
    /// Somebody may carry it out.
    Approved {
        /// Which one.
        plan: Digest,
        /// Who said so.
        by: String,
    },
    /// Another engine is kept out by more than the journal.
    LeaseTaken {
        /// The number that tells this time from all earlier ones.
        fencing: u64,
    },
    /// Another engine is kept out by the journal alone.
    LeaseUnavailable {
        /// Why.
        why: String,
    },
    /// A step has begun.
    StepBegun(StepPlace),
    /// A step goes on.
    StepWaits {
        /// Which one.
        #[serde(flatten)]
        place: StepPlace,
        /// For what.
        #[serde(rename = "for")]
        for_what: String,
    },
    /// A step is done.
    StepDone {
        /// Which one.
        #[serde(flatten)]
        place: StepPlace,
        /// How long it took.
        #[serde(serialize_with = "seconds")]
        took: Duration,
    },
    /// A step has failed. Steps that wait for it are not begun.
    StepFailed {
        /// Which one.
        #[serde(flatten)]
        place: StepPlace,
        /// The kind of trouble.
        code: &'static str,
        /// What happened.
        message: String,
    },
    /// A plan has come to its end.
    Ended {
        /// Which one.
        plan: Digest,
        /// How many steps were done.
        done: usize,
        /// How many were not.
        left: usize,
    },
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(duration.as_secs())
}

/// Which step of which plan, on which machine, and what it does.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct StepPlace {
    /// When.
    pub at: Moment,
    /// Its number.
    pub step: StepNumber,
    /// How many steps there are.
    pub of: usize,
    /// On which machine.
    pub machine: MachineName,
    /// What it does: `reboot`.
    pub verb: &'static str,
}
