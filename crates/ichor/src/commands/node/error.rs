//! Failures of actions on machines, beyond the immediate reply of a machine.

use std::borrow::Cow;
use std::time::Duration;

use plan::MachineName;
use talos_api::Fingerprint;
use talos_config::{Coded, codes};

use crate::ExitStatus;

/// Reasons why an action was not started or not completed.
#[derive(Debug, thiserror::Error)]
pub enum NodeActionError {
    /// Interrupted by the user.
    #[error("{0}: interrupted")]
    Interrupted(String),
    /// The machine took the order, and nothing came of it.
    #[error("{node}: did not start to {action}")]
    NotBegun {
        /// The machine.
        node: String,
        /// The action.
        action: &'static str,
    },
    /// The machine is busy, and will not begin.
    #[error("{node}: did not start to {action}: {message}")]
    Locked {
        /// The machine.
        node: String,
        /// The action.
        action: &'static str,
        /// The reason it reported.
        message: String,
    },
    /// The machine has booted again, and still answers to the credentials of the cluster.
    #[error("{0}: booted with a configuration of the cluster: it was not reset")]
    NotReset(String),
    /// The machine began and failed.
    #[error("{node}: {sequence} failed: {message}")]
    Sequence {
        /// The machine.
        node: String,
        /// The sequence of Talos.
        sequence: String,
        /// The error it reported.
        message: String,
    },
    /// The timeout is exceeded.
    #[error("{node}: {action} is not done after {} s", .timeout.as_secs())]
    NotDone {
        /// The machine.
        node: String,
        /// The action.
        action: &'static str,
        /// The timeout.
        timeout: Duration,
    },
    /// etcd is already bootstrapped.
    #[error("{0}: etcd is already bootstrapped")]
    Bootstrapped(String),
    /// etcd did not start.
    #[error("{node}: etcd failed: {message}")]
    Etcd {
        /// The machine.
        node: String,
        /// The error it reported.
        message: String,
    },
    /// An unusable snapshot.
    #[error("{file}: {problem}")]
    Snapshot {
        /// The file.
        file: String,
        /// The problem.
        problem: &'static str,
    },
    /// etcd would stand still.
    #[error(
        "{member} cannot be removed: {healthy} of the remaining {voters} voters are healthy, {needed} are needed"
    )]
    Quorum {
        /// The member that would be removed.
        member: String,
        /// Remaining voters.
        voters: usize,
        /// Healthy ones among them.
        healthy: usize,
        /// Quorum.
        needed: usize,
    },
    /// A control plane without which etcd would stand still.
    #[error(
        "{machine}: etcd would lose its quorum: {healthy} of {voters} voters would be healthy, {needed} are needed"
    )]
    Majority {
        /// The machine that would be away.
        machine: String,
        /// All voters.
        voters: usize,
        /// Voters that would be healthy.
        healthy: usize,
        /// Quorum.
        needed: usize,
    },
    /// The only member of etcd would lose its data.
    #[error("{0}: the only voter of etcd: the data of the cluster would be lost")]
    LastVoter(String),
    /// The voters of etcd cannot be counted.
    #[error("{machine}: the members of etcd are unknown: {why}")]
    MembersUnknown {
        /// The machine that was to be touched.
        machine: String,
        /// The reason.
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
    /// A configuration that is another machine's.
    #[error("{machine}: the configuration is not for this machine: {why}")]
    OtherMachine {
        /// The machine that would get it.
        machine: String,
        /// The difference.
        why: String,
    },
    /// A machine in maintenance whose key no one has named.
    #[error(
        "{machine}: in maintenance, with a key that no one has confirmed: it would get the secrets of the cluster"
    )]
    Stranger {
        /// The machine.
        machine: String,
        /// The fingerprint of the key that it shows.
        fingerprint: Fingerprint,
    },
    /// A machine of the cluster that says that it is in maintenance.
    #[error("{machine}: was recorded as ours and says that it is in maintenance")]
    InMaintenanceAgain {
        /// The machine that would get its configuration.
        machine: String,
        /// Its name in the cluster directory.
        name: MachineName,
    },
    /// Settings that the release of the machine does not know.
    #[error("{machine}: cannot take its configuration before its upgrade: {why}")]
    TooNew {
        /// The machine.
        machine: String,
        /// What it does not know.
        why: String,
    },
    /// The configuration is no longer the one that the change was made to.
    #[error("{0}: its configuration changed meanwhile: nothing was sent")]
    ConfigChanged(String),
    /// A name that several members have, or none.
    #[error("{name:?} matches {found} members of etcd")]
    Member {
        /// The name.
        name: String,
        /// Number of members with this name.
        found: usize,
    },
    /// The installer did not end well.
    #[error("{node}: the installer {outcome}")]
    Installer {
        /// The machine.
        node: String,
        /// The outcome.
        outcome: String,
    },
    /// The machine runs something else than what was installed.
    #[error("{node}: rolled back: runs {runs} instead of {wanted}")]
    RolledBack {
        /// The machine.
        node: String,
        /// The release that was installed.
        wanted: String,
        /// The release that runs.
        runs: String,
    },
}

impl Coded for NodeActionError {
    codes! {
        Self::Interrupted(_) => "interrupted", NeedsPerson;
        Self::NotBegun { .. } | Self::Locked { .. } => "machine.not-begun", NeedsPerson;
        Self::NotReset(_) => "machine.not-reset", NeedsPerson;
        Self::Sequence { .. } => "machine.sequence-failed", NeedsPerson;
        Self::NotDone { .. } => "machine.not-done", Retryable;
        Self::Bootstrapped(_) | Self::BootstrappedElsewhere { .. } => "etcd.already-bootstrapped", NeedsPerson;
        Self::BootstrapUnseen { .. } => "bootstrap.unseen", Retryable;
        Self::Etcd { .. } => "etcd.failed", NeedsPerson;
        Self::Snapshot { .. } => "etcd.snapshot", Permanent;
        Self::Quorum { .. } | Self::Majority { .. } | Self::LastVoter(_) | Self::MembersUnknown { .. } => "etcd.quorum", NeedsPerson;
        Self::OtherMachine { .. } => "config.machine", NeedsPerson;
        Self::Stranger { .. } => "machine.stranger", NeedsPerson;
        Self::InMaintenanceAgain { .. } => "identity.maintenance", NeedsPerson;
        Self::TooNew { .. } => "config.release", NeedsPerson;
        Self::ConfigChanged(_) => "config.changed", NeedsPerson;
        Self::Member { .. } => "etcd.member", Permanent;
        Self::Installer { .. } => "upgrade.failed", NeedsPerson;
        Self::RolledBack { .. } => "upgrade.rolled-back", NeedsPerson;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Stranger { fingerprint, .. } => {
                return Some(Cow::Owned(format!(
                    "compare the fingerprint with the one on its console, then pass --insecure --cert-fingerprint {fingerprint}"
                )));
            }
            Self::InMaintenanceAgain { name, .. } => {
                return Some(Cow::Owned(format!(
                    "if it was reset or installed anew, pass --override identity.maintenance={name} --reason TEXT"
                )));
            }
            Self::TooNew { .. } => {
                "upgrade it first with `ichor node upgrade`; in maintenance, boot it with an image of the release of the \
                 cluster's directory"
            }
            Self::ConfigChanged(_) => {
                "look at what is there now with `ichor get machineconfig -o yaml`, and make the change again"
            }
            Self::Interrupted(_) => {
                "if the machine was reached, it completes what it has started: `ichor events` shows it"
            }
            Self::NotBegun { .. } | Self::Locked { .. } => {
                "it may be busy with something else: `ichor events` shows it"
            }
            Self::NotReset(_) => {
                "nothing was forgotten: `ichor dmesg` shows why; a platform may also have handed it a configuration again"
            }
            Self::Sequence { .. } => "`ichor dmesg` and `ichor events` show more",
            Self::NotDone { .. } => {
                "the machine may still complete it: `ichor events` shows its progress, --timeout waits longer"
            }
            Self::BootstrapUnseen { .. } => {
                "start them, or check their addresses; to bootstrap anyway, pass --override bootstrap.unseen \
                 --reason TEXT"
            }
            Self::Bootstrapped(_) | Self::BootstrappedElsewhere { .. } => {
                "a cluster is bootstrapped once, on one machine: `ichor etcd members` lists its members"
            }
            Self::Etcd { .. } => {
                "`ichor logs etcd` shows more; before a retry wipe the data of etcd on the machine: \
                 `ichor node reset --system-labels-to-wipe EPHEMERAL --reboot`"
            }
            Self::Snapshot { .. } => {
                "`ichor etcd snapshot` saves one; a copy of a database file is accepted without a digest \
                 (--recover-skip-hash-check, --skip-hash-check)"
            }
            Self::LastVoter(_) => {
                "save a snapshot with `ichor etcd snapshot`; to lose the data anyway, pass --override \
                 quorum.tolerance --reason TEXT"
            }
            Self::MembersUnknown { .. } => {
                "check `ichor etcd members`; to continue without counting, pass --override quorum.tolerance --reason TEXT"
            }
            Self::Quorum { .. } | Self::Majority { .. } => {
                "bring other members up first; to continue anyway, pass --override quorum.tolerance --reason TEXT"
            }
            Self::OtherMachine { .. } => {
                "check -n and -f; leave out -f to apply what the cluster's directory has for the machine; to apply this one \
                 anyway, pass --override config.machine --reason TEXT"
            }
            Self::Member { .. } => "`ichor etcd members` shows the members and their ids",
            Self::Installer { .. } => {
                "the machine still runs and boots the old release; the output above has the reason"
            }
            Self::RolledBack { .. } => {
                "the machine rolled back by itself: `ichor dmesg` and the console may show the reason"
            }
        }))
    }
}

impl NodeActionError {
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
            | Self::OtherMachine { .. }
            | Self::Stranger { .. }
            | Self::InMaintenanceAgain { .. }
            | Self::TooNew { .. }
            | Self::ConfigChanged(_)
            | Self::BootstrapUnseen { .. } => ExitStatus::Refused,
            Self::NotBegun { .. }
            | Self::Locked { .. }
            | Self::NotReset(_)
            | Self::Sequence { .. }
            | Self::Bootstrapped(_)
            | Self::Etcd { .. }
            | Self::Installer { .. }
            | Self::RolledBack { .. } => ExitStatus::Failed,
        }
    }
}

/// `cp-1 runs`, `cp-1 and cp-2 run`
fn runs(members: &[String]) -> String {
    let verb = if members.len() == 1 { "runs" } else { "run" };
    format!("{} {verb}", members.join(" and "))
}
