//! What happens in a pass, as it happens: one type for logs, metrics, audit and progress.

use std::time::Duration;

use domain::{Digest, MachineName, Target, Timestamp};
use plan::StepNumber;
use serde::{Serialize, Serializer};

/// Something that happened. It holds no secret.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The machines have been looked at.
    Observed {
        /// How many there are.
        machines: usize,
        /// Those that are unreachable, and the reasons.
        unreachable: Vec<(MachineName, String)>,
    },
    /// A plan was made and checked.
    Planned {
        /// Which one.
        plan: Digest,
        /// How many steps it has.
        steps: usize,
    },
    /// A proposal that waited for its approval is not what would be done now: another plan takes its place.
    Replanned {
        /// The proposal.
        replaces: Digest,
        /// The plan.
        plan: Digest,
        /// What differs.
        differences: Vec<String>,
    },
    /// Somebody may carry it out.
    Approved {
        /// Which one.
        plan: Digest,
        /// Who said so.
        by: String,
    },
    /// Another engine has the lease; whether it is alive shows within the time that a lease lasts.
    LeaseAwaited {
        /// The engine.
        holder: String,
    },
    /// The lease in the cluster keeps other engines out.
    LeaseAcquired {
        /// The number that tells this time from all earlier ones.
        fencing: u64,
    },
    /// There is no lease to be had: the journal alone keeps other engines out.
    LeaseUnavailable {
        /// The reason.
        why: String,
    },
    /// Another engine has taken the lease over: no further step is started.
    LeaseLost {
        /// The engine.
        holder: String,
    },
    /// No further step is started, because that was asked for.
    Stopping,
    /// A step has begun.
    StepBegun(StepPlace),
    /// A gate holds a step back.
    GateShut {
        /// The step.
        #[serde(flatten)]
        place: StepPlace,
        /// The reason.
        why: String,
        /// When it opens, where that is known.
        until: Option<Timestamp>,
    },
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

/// A step of a plan, what it does and what it acts on.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct StepPlace {
    /// When.
    pub at: Timestamp,
    /// Its number.
    pub step: StepNumber,
    /// How many steps there are.
    pub of: usize,
    /// What it acts on.
    pub on: Target,
    /// What it does: `reboot`.
    pub verb: &'static str,
}
