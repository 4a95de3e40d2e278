//! The events of a pass: one type for logs, metrics, audit and progress.

use std::time::Duration;

use domain::{Digest, MachineName, Target, Timestamp};
use plan::StepNumber;
use serde::{Serialize, Serializer};
use tracing::{debug, info};

/// Something that happened. It holds no secret.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The machines have been looked at.
    Observed {
        /// The number of them.
        machines: usize,
        /// Those that are unreachable, and the reasons.
        #[serde(serialize_with = "with_reasons")]
        unreachable: Vec<(MachineName, String)>,
    },
    /// A plan was made and checked.
    Planned {
        /// The plan.
        plan: Digest,
        /// The number of steps.
        steps: usize,
    },
    /// A proposal that waited for its approval is not what would be done now: another plan takes its place.
    Replanned {
        /// The proposal.
        replaces: Digest,
        /// The plan.
        plan: Digest,
        /// The differences.
        differences: Vec<String>,
    },
    /// The plan may be executed.
    Approved {
        /// The plan.
        plan: Digest,
        /// The person who approved it.
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
    /// No lease is available: the journal alone keeps other engines out.
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
        /// The opening of the window, if it is known.
        #[serde(serialize_with = "optional_rfc3339")]
        until: Option<Timestamp>,
    },
    /// A step goes on.
    StepWaits {
        /// The step.
        #[serde(flatten)]
        place: StepPlace,
        /// For what.
        #[serde(rename = "for")]
        for_what: String,
    },
    /// A step is done.
    StepDone {
        /// The step.
        #[serde(flatten)]
        place: StepPlace,
        /// The duration of the step.
        #[serde(serialize_with = "seconds")]
        took: Duration,
    },
    /// A step has failed. Steps that wait for it are not begun.
    StepFailed {
        /// The step.
        #[serde(flatten)]
        place: StepPlace,
        /// The kind of trouble.
        code: &'static str,
        /// The failure, for people.
        message: String,
    },
    /// A plan has come to its end.
    Ended {
        /// The plan.
        plan: Digest,
        /// The number of steps that are done.
        done: usize,
        /// The number of steps that are not done.
        left: usize,
    },
}

impl Event {
    pub(crate) fn log(&self) {
        match self {
            Self::Observed { machines, unreachable } => {
                info!(machines, unreachable = unreachable.len(), "observed");
                for (machine, why) in unreachable {
                    info!(%machine, why, "unreachable");
                }
            }
            Self::Planned { plan, steps } => info!(plan = %plan.short(), steps, "planned"),
            Self::Replanned { replaces, plan, differences: _ } => {
                info!(plan = %plan.short(), replaces = %replaces.short(), "replanned");
            }
            Self::Approved { plan, by } => info!(plan = %plan.short(), by, "approved"),
            Self::LeaseAwaited { holder } => info!(holder, "awaiting lease"),
            Self::LeaseAcquired { fencing } => info!(fencing, "lease acquired"),
            Self::LeaseUnavailable { why } => info!(why, "lease unavailable"),
            Self::LeaseLost { holder } => info!(holder, "lease lost"),
            Self::Stopping => info!("stopping"),
            Self::StepBegun(StepPlace { step, on, verb, .. }) => {
                info!(%step, %on, verb, "step begun");
            }
            Self::GateShut { place: StepPlace { step, on, verb, .. }, why, until: _ } => {
                info!(%step, %on, verb, why, "gate shut");
            }
            Self::StepWaits { place: StepPlace { step, on, verb, .. }, for_what } => {
                debug!(%step, %on, verb, for_what, "step waits");
            }
            Self::StepDone { place: StepPlace { step, on, verb, .. }, took } => {
                info!(%step, %on, verb, seconds = took.as_secs(), "step done");
            }
            Self::StepFailed { place: StepPlace { step, on, verb, .. }, code, message } => {
                info!(%step, %on, verb, code, message, "step failed");
            }
            Self::Ended { plan, done, left } => {
                info!(plan = %plan.short(), done, left, "plan ended");
            }
        }
    }
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(duration.as_secs())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn rfc3339<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&jiff::Timestamp::from_second(time.0).unwrap_or_default())
}

#[expect(clippy::ref_option, reason = "as serde calls it")]
fn optional_rfc3339<S: Serializer>(
    time: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => rfc3339(time, serializer),
        None => serializer.serialize_none(),
    }
}

fn with_reasons<S: Serializer>(
    machines: &[(MachineName, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(machines.iter().map(|(machine, message)| UnreachableMachine {
        machine,
        reason: Reason { code: "machine.unreachable", message },
    }))
}

#[derive(Serialize)]
struct UnreachableMachine<'a> {
    machine: &'a MachineName,
    reason: Reason<'a>,
}

#[derive(Serialize)]
struct Reason<'a> {
    code: &'static str,
    message: &'a str,
}

/// A step of a plan, what it does and what it acts on.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct StepPlace {
    /// The time.
    #[serde(serialize_with = "rfc3339")]
    pub at: Timestamp,
    /// Its number.
    pub step: StepNumber,
    /// The number of steps in the plan.
    pub of: usize,
    /// The target.
    pub on: Target,
    /// The kind of its action: `reboot-machine`.
    pub action: &'static str,
    /// Its verb, for people: `reboot`.
    #[serde(skip)]
    pub verb: &'static str,
}
