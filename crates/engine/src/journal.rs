//! What was planned, begun, done and left: append-only, in the order in which it happened.

mod file;

use async_trait::async_trait;
use plan::{Approval, Approved, Digest, Kind, MachineName, Moment, NodeIdentity, Plan, StepNumber};
use serde::{Deserialize, Serialize};

pub use file::FileJournal;

/// The record of one cluster.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Everything so far.
    async fn read(&self) -> Result<Vec<Record>, JournalError>;

    /// Adds an entry, for good: when this returns, no crash takes it back.
    async fn append(&self, entry: Entry) -> Result<(), JournalError>;

    /// Takes the one slot for plans. Fails when an engine that is alive has it.
    async fn take(&self, plan: Digest, holder: &str) -> Result<(), JournalError>;

    /// Keeps a plan that is about to be carried out.
    async fn keep_plan(&self, plan: &Plan<Approved>) -> Result<(), JournalError>;
}

/// An entry with its place and time.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Record {
    /// Counted from one, without gaps.
    pub number: u64,
    /// When.
    pub at: Moment,
    /// What.
    pub entry: Entry,
}

/// Something that happened.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry {
    /// Somebody approved a plan.
    Approved(Approval),
    /// An engine has begun with a plan.
    Taken {
        /// Which one.
        plan: Digest,
        /// Who.
        holder: String,
    },
    /// A step is about to be done.
    Intended {
        /// Of which plan.
        plan: Digest,
        /// Which step.
        step: StepNumber,
        /// What it does, and to which machine, for people.
        what: String,
    },
    /// A step is done.
    Did {
        /// Of which plan.
        plan: Digest,
        /// Which step.
        step: StepNumber,
    },
    /// A step has failed.
    Failed {
        /// Of which plan.
        plan: Digest,
        /// Which step.
        step: StepNumber,
        /// The kind of trouble.
        code: String,
        /// What happened.
        message: String,
    },
    /// A machine in maintenance is about to get its configuration. Whatever installation it is afterwards is ours, also
    /// when nobody lived to record it.
    Configuring {
        /// The machine.
        machine: MachineName,
    },
    /// Which installation a machine is.
    Recorded {
        /// The machine.
        machine: MachineName,
        /// The installation.
        node: NodeIdentity,
    },
    /// An engine is through with a plan.
    Ended {
        /// Which one.
        plan: Digest,
        /// Whether all steps are done.
        complete: bool,
    },
    /// Somebody has given a plan up that was begun.
    Cancelled {
        /// Which one.
        plan: Digest,
    },
}

/// The last plan that was begun, did not come to a good end, and was not given up.
pub fn unfinished(records: &[Record]) -> Option<Digest> {
    let mut unfinished = None;
    for record in records {
        match &record.entry {
            Entry::Taken { plan, .. } => unfinished = Some(*plan),
            Entry::Ended { plan, complete: true } | Entry::Cancelled { plan }
                if unfinished == Some(*plan) =>
            {
                unfinished = None;
            }
            _ => {}
        }
    }
    unfinished
}

/// Why the record cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("cannot use the journal")]
    Io(#[from] std::io::Error),
    /// A part of it was changed or lost.
    #[error("the journal is damaged in line {0}")]
    Damaged(usize),
    /// It is of a format that is not known here.
    #[error("the journal has the format {0:?}")]
    Format(String),
    /// Another engine is at work.
    #[error("another engine is at work on this cluster: {0}")]
    Busy(String),
}

impl JournalError {
    /// Every code, each with an entry in the reference of errors.
    pub const CODES: &[&str] = &["journal.busy", "journal.damaged", "journal.format", "journal.io"];

    /// The name of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io(_) => "journal.io",
            Self::Damaged(_) => "journal.damaged",
            Self::Format(_) => "journal.format",
            Self::Busy(_) => "journal.busy",
        }
    }

    /// What can be done about it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Busy(_) => Kind::Retryable,
            Self::Io(_) | Self::Damaged(_) | Self::Format(_) => Kind::NeedsPerson,
        }
    }
}
