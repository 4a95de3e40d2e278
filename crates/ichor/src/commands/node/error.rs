//! What can go wrong with a deed beyond what a machine answers at once.

use std::time::Duration;

use crate::ExitStatus;

/// Why something was not done, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum NodeActionError {
    /// Somebody did not want to wait any longer.
    #[error("{0}: interrupted")]
    Interrupted(String),
    /// The machine took the order, and nothing came of it.
    #[error("{node}: did not begin to {action}{why}")]
    NotBegun {
        /// Which machine.
        node: String,
        /// What it was to do.
        action: &'static str,
        /// What it said about that.
        why: String,
    },
    /// The machine began and failed.
    #[error("{node}: {sequence} failed: {message}")]
    Sequence {
        /// Which machine.
        node: String,
        /// What it was doing.
        sequence: String,
        /// What it said.
        message: String,
    },
    /// It takes longer than one waits.
    #[error("{node}: {action} is not done after {} s", .timeout.as_secs())]
    NotDone {
        /// Which machine.
        node: String,
        /// What it does.
        action: &'static str,
        /// How long it was waited for.
        timeout: Duration,
    },
    /// There is an etcd already.
    #[error("{0}: etcd was bootstrapped before")]
    Bootstrapped(String),
    /// etcd did not start.
    #[error("{node}: etcd failed: {message}")]
    Etcd {
        /// Which machine.
        node: String,
        /// What it said.
        message: String,
    },
    /// A snapshot that nothing can be begun with.
    #[error("{file}: {problem}")]
    Snapshot {
        /// Where it is.
        file: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// etcd would stand still.
    #[error(
        "{member} is not to go: {healthy} of the {voters} voters that would be left answer and are up to date, {needed} \
         are needed"
    )]
    Quorum {
        /// Who would go.
        member: String,
        /// How many would be left.
        voters: usize,
        /// How many of those are well.
        healthy: usize,
        /// How many must be.
        needed: usize,
    },
    /// A control plane without which etcd would stand still.
    #[error(
        "{machine}: etcd would lose its majority: {healthy} of {voters} voters would answer and be up to date, {needed} \
         are needed"
    )]
    Majority {
        /// The machine that would be away.
        machine: String,
        /// How many voters there would be.
        voters: usize,
        /// How many of those would be well.
        healthy: usize,
        /// How many must be.
        needed: usize,
    },
    /// The only member of etcd would lose its data.
    #[error("{0}: it is the only voter of etcd, and the data of the cluster would be lost")]
    LastVoter(String),
    /// The voters of etcd cannot be counted.
    #[error("{machine}: the members of etcd are not known: {why}")]
    MembersUnknown {
        /// The machine that was to be touched.
        machine: String,
        /// Why not.
        why: String,
    },
    /// Another control plane has a member of etcd.
    #[error("{machine}: not bootstrapped: {} etcd already", runs(.members))]
    BootstrappedElsewhere {
        /// The machine that was to be bootstrapped.
        machine: String,
        /// The machines that run etcd.
        members: Vec<String>,
    },
    /// A control plane may have a member of etcd.
    #[error("{machine}: not bootstrapped: {} may run etcd already", .unknown.join(", "))]
    BootstrapUnseen {
        /// The machine that was to be bootstrapped.
        machine: String,
        /// The machines that did not say, each with the reason.
        unknown: Vec<String>,
    },
    /// A name that several members have, or none.
    #[error("{name:?} is {found} members of etcd")]
    Member {
        /// The name.
        name: String,
        /// How many have it.
        found: usize,
    },
    /// The installer did not end well.
    #[error("{node}: the installer {outcome}")]
    Installer {
        /// Which machine.
        node: String,
        /// How it ended.
        outcome: String,
    },
    /// The machine runs something else than what was installed.
    #[error("{node}: runs {runs} instead of {wanted}")]
    RolledBack {
        /// Which machine.
        node: String,
        /// The release that was installed.
        wanted: String,
        /// The release that runs.
        runs: String,
    },
}

impl NodeActionError {
    /// Every code, each with an entry in `docs/reference/errors.md`.
    pub const CODES: &[&str] = &[
        "bootstrap.unseen",
        "etcd.already-bootstrapped",
        "etcd.failed",
        "etcd.member",
        "etcd.quorum",
        "etcd.snapshot",
        "interrupted",
        "machine.not-begun",
        "machine.not-done",
        "machine.sequence-failed",
        "upgrade.failed",
        "upgrade.rolled-back",
    ];

    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Interrupted(_) => "interrupted",
            Self::NotBegun { .. } => "machine.not-begun",
            Self::Sequence { .. } => "machine.sequence-failed",
            Self::NotDone { .. } => "machine.not-done",
            Self::Bootstrapped(_) | Self::BootstrappedElsewhere { .. } => {
                "etcd.already-bootstrapped"
            }
            Self::BootstrapUnseen { .. } => "bootstrap.unseen",
            Self::Etcd { .. } => "etcd.failed",
            Self::Snapshot { .. } => "etcd.snapshot",
            Self::Quorum { .. }
            | Self::Majority { .. }
            | Self::LastVoter(_)
            | Self::MembersUnknown { .. } => "etcd.quorum",
            Self::Member { .. } => "etcd.member",
            Self::Installer { .. } => "upgrade.failed",
            Self::RolledBack { .. } => "upgrade.rolled-back",
        }
    }

    pub(crate) fn status(&self) -> ExitStatus {
        match self {
            Self::Interrupted(_) => ExitStatus::Interrupted,
            Self::NotDone { .. } => ExitStatus::TimedOut,
            Self::Snapshot { .. } | Self::Member { .. } => ExitStatus::BadInput,
            Self::Quorum { .. }
            | Self::Majority { .. }
            | Self::LastVoter(_)
            | Self::MembersUnknown { .. }
            | Self::BootstrappedElsewhere { .. }
            | Self::BootstrapUnseen { .. } => ExitStatus::Refused,
            Self::NotBegun { .. }
            | Self::Sequence { .. }
            | Self::Bootstrapped(_)
            | Self::Etcd { .. }
            | Self::Installer { .. }
            | Self::RolledBack { .. } => ExitStatus::Failed,
        }
    }

    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Interrupted(_) => "what the machine has begun it goes on with",
            Self::NotBegun { .. } => "it may be busy with something else: `ichor events` shows it",
            Self::Sequence { .. } => "`ichor dmesg` and `ichor events` tell more",
            Self::NotDone { .. } => {
                "the machine may go on: `ichor events` shows how far it is, --timeout waits longer"
            }
            Self::BootstrapUnseen { .. } => {
                "start them, or check their addresses; to bootstrap all the same, pass --override bootstrap.unseen \
                 --reason TEXT"
            }
            Self::Bootstrapped(_) | Self::BootstrappedElsewhere { .. } => {
                "a cluster is bootstrapped once, on one machine: `ichor etcd members` shows who is in it"
            }
            Self::Etcd { .. } => {
                "`ichor logs etcd` tells more; before another try the machine's data of etcd must be gone: \
                 `ichor node reset --system-labels-to-wipe EPHEMERAL --reboot`"
            }
            Self::Snapshot { .. } => {
                "`ichor etcd snapshot` makes one; a copy of a database file is taken without a digest \
                 (--recover-skip-hash-check, --skip-hash-check)"
            }
            Self::LastVoter(_) => {
                "take a snapshot with `ichor etcd snapshot`; to lose the data all the same, pass --override \
                 quorum.tolerance --reason TEXT"
            }
            Self::MembersUnknown { .. } => {
                "look at `ichor etcd members`; to go on without counting, pass --override quorum.tolerance --reason TEXT"
            }
            Self::Quorum { .. } | Self::Majority { .. } => {
                "bring other members up first; --override quorum.tolerance --reason TEXT does it all the same"
            }
            Self::Member { .. } => "`ichor etcd members` shows the members and their ids",
            Self::Installer { .. } => {
                "the machine still runs what it ran, and boots it; its output above says why"
            }
            Self::RolledBack { .. } => {
                "the machine went back by itself: `ichor dmesg` and the console may say why"
            }
        }
    }
}

/// `cp-1 runs`, `cp-1 and cp-2 run`
fn runs(members: &[String]) -> String {
    let verb = if members.len() == 1 { "runs" } else { "run" };
    format!("{} {verb}", members.join(" and "))
}
