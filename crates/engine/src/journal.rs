//! The journal of plans, steps and results: append-only, in the order in which they happened.
//!
//! Guarantees: an entry that `append` has returned for survives every crash; a step is in here before it is started; at
//! most one engine that is alive has a slot. Assumes: the storage keeps what it has synced.

mod file;
mod ledger;

use std::any::Any;
use std::borrow::Cow;
use std::path::PathBuf;

use async_trait::async_trait;
use domain::{Digest, MachineName, MemberId, NodeIdentity, Target, Timestamp};
use plan::{Approval, Approved, Draft, Goal, Plan, StepNumber};
use serde::{Deserialize, Serialize};
use talos_config::{Coded, codes};

pub use file::FileJournal;
pub use ledger::{Ledger, Unfinished};

/// The record of one cluster.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Reads everything so far, for people.
    async fn read(&self) -> Result<Vec<Record>, JournalError>;

    /// Folds everything so far into a ledger.
    async fn ledger(&self) -> Result<Ledger, JournalError>;

    /// Adds an entry, for good: when this returns, no crash takes it back.
    async fn append(&self, entry: Entry) -> Result<(), JournalError>;

    /// Acquires a slot until the guard is dropped or the process ends. Fails when an engine that is alive has it.
    async fn acquire(&self, slot: Slot) -> Result<SlotGuard, JournalError>;

    /// Keeps a plan that is about to be carried out.
    async fn store_plan(&self, plan: &Plan<Approved>) -> Result<(), JournalError>;

    /// Returns a plan that was kept; none where it does not exist, or is not what its hash says.
    async fn stored_plan(&self, plan: Digest) -> Option<Plan<Draft>>;
}

/// The thing that engines exclude each other from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Slot {
    /// Carrying out a plan.
    Plan,
    /// Taking a backup, which goes on beside a plan.
    Backup,
}

/// A slot that is held until this is dropped.
pub struct SlotGuard {
    /// Identifies what holds the slot: the next process that gets the slot has the same, and may take over the lease
    /// of a predecessor that was killed.
    pub engine: String,
    _held: Box<dyn Any + Send + Sync>,
}

impl SlotGuard {
    /// Guards a slot for as long as `held` lives.
    pub fn new(engine: String, held: impl Any + Send + Sync) -> Self {
        Self { engine, _held: Box::new(held) }
    }
}

/// An entry with its place and time.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Record {
    /// Counted from one, without gaps.
    pub number: u64,
    /// The time by the clock of the engine.
    pub at: Timestamp,
    /// The entry.
    pub entry: Entry,
}

/// Something that happened.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry {
    /// A plan was approved.
    PlanApproved(Approval),
    /// An engine has started with a plan.
    PlanStarted {
        /// The plan.
        plan: Digest,
        /// The goal of the plan: it has to be known of an interrupted plan without its file.
        goal: Goal,
        /// The engine.
        holder: String,
        /// The fencing number of the lease, where there was one.
        fencing: Option<u64>,
    },
    /// A step is about to be done.
    StepStarted {
        /// The plan.
        plan: Digest,
        /// The step.
        step: StepNumber,
        /// The kind of its action; in records of older releases the verb.
        #[serde(rename = "verb")]
        action: String,
        /// The target of the step.
        on: Target,
        /// The effect on the service of the machine.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<StepEffect>,
    },
    /// A step is done.
    StepDone {
        /// The plan.
        plan: Digest,
        /// The step.
        step: StepNumber,
    },
    /// A step has failed.
    StepFailed {
        /// The plan.
        plan: Digest,
        /// The step.
        step: StepNumber,
        /// The code of the error.
        code: String,
        /// The failure, for people.
        message: String,
    },
    /// A machine in maintenance is about to get its configuration. If the engine dies before `MachineRecorded` is
    /// written, the installation that appears there is still ours.
    MachineConfiguring {
        /// The machine.
        machine: MachineName,
    },
    /// A machine has refused the configuration that it was about to get.
    MachineRejected {
        /// The machine.
        machine: MachineName,
    },
    /// Etcd is about to be begun on a machine. Talos begins it when it has pulled the image, so that until a member is
    /// recorded it may still appear there, and must begin nowhere else.
    EtcdBootstrapping {
        /// The machine.
        machine: MachineName,
    },
    /// The installation that a machine is, and its member of etcd.
    MachineRecorded {
        /// The machine.
        machine: MachineName,
        /// The installation.
        node: NodeIdentity,
        /// The member, where it has one.
        member: Option<MemberId>,
    },
    /// A machine is about to be reset. If the engine dies before `MachineForgotten` is written, a machine in
    /// maintenance is one that the reset has reached.
    MachineResetting {
        /// The machine.
        machine: MachineName,
    },
    /// A provider is about to be asked for a machine. If the engine dies before an answer, the same generation is
    /// asked for again.
    MachineProviding {
        /// The machine.
        machine: MachineName,
        /// Counts the machines that were made for the name.
        generation: u32,
    },
    /// A provider is about to be asked to take a machine away. If the engine dies before the answer, and the provider
    /// does not have it then, that was this.
    MachineDestroying {
        /// The machine.
        machine: MachineName,
        /// Tells it from the machines that were made for the name before and after it.
        generation: u32,
    },
    /// A provider has taken a machine away: its replacement is another generation.
    MachineDestroyed {
        /// The machine.
        machine: MachineName,
        /// Tells it from the machines that were made for the name before and after it.
        generation: u32,
    },
    /// A machine was reset: the installation and its member are gone.
    MachineForgotten {
        /// The machine.
        machine: MachineName,
    },
    /// An engine is through with a plan.
    PlanEnded {
        /// The plan.
        plan: Digest,
        /// All steps are done.
        complete: bool,
    },
    /// An engine that carries out a plan is asked to start no further step.
    CancelRequested {
        /// The plan.
        plan: Digest,
    },
    /// A plan that was interrupted is abandoned.
    PlanCancelled {
        /// The plan.
        plan: Digest,
    },
}

/// The effect of a step on the service of its machine.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StepEffect {
    /// The machine may stop serving.
    Disturbs,
    /// The machine serves once the step is done.
    AwaitsService,
}

/// The failure to read or write the journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refuses.
    #[error("cannot use the journal")]
    Io(#[from] std::io::Error),
    /// A part of it, named by line and file, was changed or lost.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
    /// It is of a format that is not known here.
    #[error(
        "{}: the journal has the format {found:?}, and this release reads {FORMAT:?}",
        .file.display()
    )]
    Format {
        /// The file that has it.
        file: PathBuf,
        /// The beginning of its first line.
        found: String,
    },
    /// Another engine is at work.
    #[error("another engine is at work on this cluster: {0}")]
    Busy(String),
}

impl Coded for JournalError {
    codes! {
        Self::Io(_) => "journal.io", NeedsPerson;
        Self::Damaged(_) => "journal.damaged", NeedsPerson;
        Self::Format { .. } => "journal.format", NeedsPerson;
        Self::Busy(_) => "journal.busy", Retryable;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Busy(_) => "wait until it is done: `ichor status --watch` shows it",
            Self::Damaged(_) => DAMAGED,
            Self::Format { .. } => {
                "use the release of Ichor that wrote it; `journal.damaged` in docs/reference/errors.md says what is \
                 lost without the journal"
            }
            Self::Io(_) => {
                "nothing is done without a record: free disk space or grant access, then retry"
            }
        }))
    }
}

/// Names the rules that refuse by what is in the journal, and do not refuse without it.
const DAMAGED: &str = "restore .ichor from a copy. Without its journal it is unknown that etcd was bootstrapped (bootstrap.again), \
                       which installation a machine was (identity.node, identity.maintenance, identity.gone) and what was \
                       interrupted: confirm with `ichor etcd members` that there is one etcd, and that every address is \
                       the machine that is meant, before you move .ichor/journal away. Machines that got their \
                       configuration before etcd began then need --override create.configured";

/// The first line of a journal names the format of the others.
const FORMAT: &str = "ichor-journal/v2";
