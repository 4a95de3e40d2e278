//! Steps: one action on one target each, with everything that is needed to judge it.

use std::fmt;

use domain::{BootId, Digest, MemberId, NodeIdentity, ProviderId, Span, Target, Window};
use serde::{Deserialize, Serialize};
use talos_config::Difference;

use crate::action::Action;

/// One action on one target.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Step {
    /// Its number in the plan, counted from one.
    pub number: StepNumber,
    /// What is done.
    pub action: Action,
    /// What it acts on.
    pub on: Target,
    /// The steps that must be done before.
    pub after: Vec<StepNumber>,
    /// What must hold right before it; otherwise it stops.
    pub preconditions: Vec<Precondition>,
    /// What is left of etcd while it is done; there for every step that touches a voter.
    pub proof: Option<QuorumProof>,
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
    /// No control plane has a member of etcd, and no Kubernetes API answers.
    NoMembers,
    /// At least so many voters are healthy.
    MinHealthyVoters(u32),
    /// The provider has this machine under the name.
    InstanceIs(ProviderId),
}

impl Precondition {
    /// What has to be looked at to judge it.
    pub fn needs(&self) -> Needs {
        let nothing = Needs::default();
        match self {
            Self::InMaintenance | Self::NodeIs(_) | Self::ConfigIs(_) | Self::BootIs(_) => {
                Needs { machine: true, ..nothing }
            }
            Self::MemberIs(_) | Self::MinHealthyVoters(_) => Needs { etcd: true, ..nothing },
            Self::NoMembers => Needs { etcd: true, kubernetes: true, ..nothing },
            Self::InstanceIs(_) => Needs { provider: true, ..nothing },
        }
    }
}

/// What has to be looked at to judge preconditions.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "a set of four, each for itself")]
pub struct Needs {
    /// The machine of the step.
    pub machine: bool,
    /// The members of etcd.
    pub etcd: bool,
    /// The Kubernetes API.
    pub kubernetes: bool,
    /// The provider's list of machines.
    pub provider: bool,
}

impl Needs {
    /// What either needs.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            machine: self.machine || other.machine,
            etcd: self.etcd || other.etcd,
            kubernetes: self.kubernetes || other.kubernetes,
            provider: self.provider || other.provider,
        }
    }
}

/// What is left of etcd while a step is done.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QuorumProof {
    /// How many vote.
    pub voters: u32,
    /// How many of them run and have caught up.
    pub healthy: u32,
}

impl QuorumProof {
    /// Whether the healthy voters are a majority.
    pub fn has_majority(self) -> bool {
        self.healthy > self.voters / 2
    }
}

/// A condition that a step waits for.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Gate {
    /// One of these windows is open.
    Windows(Vec<Window>),
}

impl fmt::Display for StepNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for QuorumProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { voters, healthy } = self;
        match healthy.checked_sub(voters / 2 + 1) {
            Some(spare) => {
                write!(f, "{healthy} of {voters} voters healthy, {spare} may still fail")
            }
            None => write!(f, "{healthy} of {voters} voters healthy, no majority"),
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
            Self::NoMembers => f.write_str("etcd has no members and no Kubernetes API answers"),
            Self::MinHealthyVoters(count) => write!(f, "at least {count} healthy voters"),
            Self::InstanceIs(id) => write!(f, "instance {id} of the provider"),
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
