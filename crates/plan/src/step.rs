//! Steps: one action on one target each, with everything that somebody needs to judge it.

use std::fmt;

use serde::{Deserialize, Serialize};
use talos_config::Difference;

use crate::digest::Digest;
use crate::inventory::{BootId, MemberId, NodeIdentity};
use crate::names::MachineName;
use crate::time::{Span, Window};

/// One action on one machine.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Its number in the plan, counted from one.
    pub number: StepNumber,
    /// What is done.
    pub action: Action,
    /// To which machine.
    pub machine: MachineName,
    /// The steps that must be done before.
    pub after: Vec<StepNumber>,
    /// What must hold right before it; otherwise it stops.
    pub preconditions: Vec<Precondition>,
    /// What is left of etcd while it is done; there for every step that touches a voter.
    pub proof: Option<Proof>,
    /// What it waits for.
    pub gates: Vec<Gate>,
    /// After how long it has failed.
    pub time_out: Span,
    /// What is left behind when it fails.
    pub leaves: String,
    /// The command that helps then.
    pub recovery: String,
}

/// The number of a step in its plan, counted from one.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct StepNumber(pub u32);

/// What is done.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "do", deny_unknown_fields)]
pub enum Action {
    /// Hands a machine its configuration.
    ApplyConfig {
        /// Which one: execution renders it again and compares.
        config: Digest,
        /// How.
        mode: ApplyMode,
        /// What differs from what the machine has, secrets hidden; nothing when it has none.
        changes: Vec<FieldChange>,
    },
    /// Begins etcd, and so the cluster, on one control plane.
    BootstrapEtcd,
    /// Waits until a machine's member of etcd votes, runs and has caught up.
    AwaitVoter,
    /// Waits until a machine is registered in Kubernetes and, where the network allows it, ready.
    AwaitNode {
        /// Whether it must be ready.
        ready: bool,
    },
    /// Lets another member lead etcd.
    HandOverLeadership,
    /// Boots a machine again.
    RebootMachine,
    /// Fetches credentials for the Kubernetes API.
    FetchKubeconfig,
    /// Takes a machine's configuration and data away; Talos stays installed.
    ResetMachine,
}

/// How a configuration is handed over.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApplyMode {
    /// To a machine that has none yet.
    Maintenance,
    /// At once, while the machine runs.
    NoReboot,
    /// For the next boot, which is a step of its own.
    Staged,
}

/// A field of a configuration that changes, secrets hidden.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FieldChange {
    /// The document.
    pub document: String,
    /// The field; empty for the document itself.
    pub path: String,
    /// What it was.
    pub before: Option<String>,
    /// What it becomes.
    pub after: Option<String>,
}

/// What must hold right before a step.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Precondition {
    /// The machine has no configuration.
    InMaintenance,
    /// It is this installation and no other.
    NodeIs(NodeIdentity),
    /// It has this configuration.
    ConfigIs(Digest),
    /// It is still in this boot.
    BootIs(BootId),
    /// Its member of etcd is this one.
    MemberIs(MemberId),
    /// No control plane has a member of etcd.
    NoMembers,
    /// At least so many voters are able to vote.
    AbleVoters(u32),
}

/// What is left of etcd while a step is done.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// How many vote.
    pub voters: u32,
    /// How many of them run and have caught up.
    pub able: u32,
}

/// A condition that a step waits for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Gate {
    /// One of these windows is open.
    Windows(Vec<Window>),
}

impl Action {
    /// What it is called: `apply config`, `reboot`.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::ApplyConfig { mode: ApplyMode::Maintenance, .. } => "apply config",
            Self::ApplyConfig { mode: ApplyMode::NoReboot, .. } => "change config",
            Self::ApplyConfig { mode: ApplyMode::Staged, .. } => "stage config",
            Self::BootstrapEtcd => "bootstrap etcd",
            Self::AwaitVoter => "await voter",
            Self::AwaitNode { ready: true } => "await ready node",
            Self::AwaitNode { ready: false } => "await node",
            Self::HandOverLeadership => "hand over lead",
            Self::RebootMachine => "reboot",
            Self::FetchKubeconfig => "fetch kubeconfig",
            Self::ResetMachine => "reset",
        }
    }

    /// Whether a running machine may stop serving because of it.
    pub fn is_disruptive(&self) -> bool {
        match self {
            Self::ApplyConfig { mode: ApplyMode::NoReboot, .. }
            | Self::HandOverLeadership
            | Self::RebootMachine
            | Self::ResetMachine => true,
            Self::ApplyConfig { mode: ApplyMode::Maintenance | ApplyMode::Staged, .. }
            | Self::BootstrapEtcd
            | Self::AwaitVoter
            | Self::AwaitNode { .. }
            | Self::FetchKubeconfig => false,
        }
    }

    /// After how long it has failed.
    pub(crate) fn time_out(&self) -> Span {
        match self {
            // Talos is installed and boots before a machine answers as one of ours.
            Self::ApplyConfig { mode: ApplyMode::Maintenance, .. } => Span::minutes(5),
            // As long as talosctl tries to hand over a configuration.
            Self::ApplyConfig { .. } => Span::minutes(2),
            // As long as Talos' own provisioning tries it.
            Self::BootstrapEtcd => Span::minutes(10),
            // A member joins within a minute; installing Talos to a disk and its reboot come before.
            Self::AwaitVoter => Span::minutes(15),
            // As long as `talosctl health` waits.
            Self::AwaitNode { .. } => Span::minutes(20),
            // An election takes a second or two.
            Self::HandOverLeadership => Span::minutes(1),
            // Servers need minutes for their own tests of memory and disks.
            Self::RebootMachine | Self::ResetMachine => Span::minutes(15),
            // One call.
            Self::FetchKubeconfig => Span::minutes(1),
        }
    }

    /// How long it takes where nobody knows better: on servers that boot from a disk.
    pub fn usually_takes(&self) -> Span {
        match self {
            // Talos is installed and boots.
            Self::ApplyConfig { mode: ApplyMode::Maintenance, .. } => Span::minutes(2),
            Self::ApplyConfig { mode: ApplyMode::NoReboot | ApplyMode::Staged, .. }
            | Self::FetchKubeconfig => Span::seconds(2),
            Self::BootstrapEtcd => Span::seconds(10),
            Self::AwaitVoter => Span::seconds(30),
            // Images of the network plug-in come first.
            Self::AwaitNode { .. } => Span::minutes(1),
            Self::HandOverLeadership => Span::seconds(5),
            Self::RebootMachine | Self::ResetMachine => Span::minutes(2),
        }
    }

    /// What is left behind when it fails.
    pub(crate) fn leaves(&self, machine: &MachineName) -> String {
        match self {
            Self::ApplyConfig { mode: ApplyMode::Maintenance, .. } => {
                format!("{machine} in maintenance, or booting with its configuration")
            }
            Self::ApplyConfig { mode: ApplyMode::NoReboot, .. } => {
                format!("{machine} running with the old or the new configuration, never a mixture")
            }
            Self::ApplyConfig { mode: ApplyMode::Staged, .. } => {
                format!(
                    "{machine} running as before; the new configuration may wait for its next boot"
                )
            }
            Self::BootstrapEtcd => {
                format!("{machine} without etcd, or with an etcd of one member")
            }
            Self::AwaitVoter => format!("{machine} outside etcd, or still learning"),
            Self::AwaitNode { .. } => {
                format!("{machine} running, and not in service in Kubernetes")
            }
            Self::HandOverLeadership => format!("{machine} still leading etcd"),
            Self::RebootMachine => format!("{machine} off, or in its old boot"),
            Self::FetchKubeconfig => "the cluster as it is, without a kubeconfig".to_owned(),
            Self::ResetMachine => {
                format!("{machine} running as before, or without its data and on its way to boot")
            }
        }
    }

    /// The command that helps when it has failed.
    pub(crate) fn recovery(&self, machine: &MachineName) -> String {
        match self {
            Self::ApplyConfig { .. } | Self::HandOverLeadership => "ichor resume".to_owned(),
            Self::BootstrapEtcd => format!("ichor services -n {machine} etcd"),
            Self::AwaitVoter => "ichor etcd members".to_owned(),
            Self::AwaitNode { .. } => format!("ichor logs -n {machine} kubelet"),
            Self::RebootMachine => format!("ichor events -n {machine}"),
            Self::ResetMachine => "ichor destroy".to_owned(),
            Self::FetchKubeconfig => "ichor kubeconfig".to_owned(),
        }
    }
}

impl fmt::Display for StepNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { voters, able } = self;
        match able.checked_sub(voters / 2 + 1) {
            Some(spare) => write!(f, "{able} of {voters} voters able, {spare} may still fail"),
            None => write!(f, "{able} of {voters} voters able, no majority"),
        }
    }
}

impl fmt::Display for Precondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InMaintenance => f.write_str("in maintenance"),
            Self::NodeIs(node) => write!(f, "node {node}"),
            Self::ConfigIs(digest) => write!(f, "has config {}", digest.short()),
            Self::BootIs(boot) => write!(f, "in boot {boot}"),
            Self::MemberIs(member) => write!(f, "etcd member {member}"),
            Self::NoMembers => f.write_str("etcd has no members"),
            Self::AbleVoters(count) => write!(f, "at least {count} voters able"),
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Windows(windows) = self;
        let windows: Vec<String> = windows.iter().map(Window::to_string).collect();
        f.write_str(&windows.join(", "))
    }
}

impl fmt::Display for FieldChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { document, path, before, after } = self;
        f.write_str(document)?;
        if !path.is_empty() {
            write!(f, " {path}")?;
        }
        match (before, after) {
            (Some(before), Some(after)) => write!(f, ": {before} → {after}"),
            (None, Some(after)) => write!(f, ": {after} (new)"),
            (Some(before), None) => write!(f, ": {before} (gone)"),
            (None, None) => Ok(()),
        }
    }
}

impl From<Difference> for FieldChange {
    fn from(difference: Difference) -> Self {
        let Difference { document, path, before, after } = difference;
        Self { document, path, before, after }
    }
}
