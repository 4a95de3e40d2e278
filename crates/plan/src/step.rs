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
    /// The action.
    pub action: Action,
    /// The target.
    pub on: Target,
    /// The steps that must be done before.
    pub after: Vec<StepNumber>,
    /// The preconditions right before it; otherwise it stops.
    pub preconditions: Vec<Precondition>,
    /// The quorum that is left while it is done; there for every step that touches a voter.
    pub proof: Option<QuorumProof>,
    /// The state that it waits for.
    pub gates: Vec<Gate>,
    /// After how long it has failed.
    pub time_out: Span,
    /// The state that it leaves when it fails.
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
    /// The value before.
    pub before: Option<String>,
    /// The value after.
    pub after: Option<String>,
}

/// A precondition of a step, checked right before it.
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
    /// Returns what has to be observed to judge it.
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

/// The observations that preconditions need.
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
    /// Returns the union of both.
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

/// The proof that etcd keeps its quorum while a step is done.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QuorumProof {
    /// The number of voters.
    pub voters: u32,
    /// The number of voters that run and have caught up.
    pub healthy: u32,
}

impl QuorumProof {
    /// Returns whether the healthy voters are a majority.
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
