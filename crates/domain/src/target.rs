//! Targets of steps, and the ways to apply a configuration.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::inventory::MemberId;
use crate::names::{AddonName, MachineName, NodeName};

/// The target of a step.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// The cluster as a whole.
    Cluster,
    /// A machine of the spec.
    Machine(MachineName),
    /// A member of etcd, whose machine may be gone.
    Member(MemberId),
    /// A node of Kubernetes, whose machine may be gone.
    Node(NodeName),
    /// An add-on.
    Addon(AddonName),
}

impl Target {
    /// Returns the machine, if it is one.
    pub fn machine(&self) -> Option<&MachineName> {
        match self {
            Self::Machine(name) => Some(name),
            Self::Cluster | Self::Member(_) | Self::Node(_) | Self::Addon(_) => None,
        }
    }
}

impl From<&MachineName> for Target {
    fn from(name: &MachineName) -> Self {
        Self::Machine(name.clone())
    }
}

/// A machine by its name alone, as people call it; everything else with what it is.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster => f.pad("cluster"),
            Self::Machine(name) => name.fmt(f),
            Self::Member(id) => f.pad(&format!("member {id}")),
            Self::Node(name) => f.pad(&format!("node {name}")),
            Self::Addon(name) => f.pad(&format!("add-on {name}")),
        }
    }
}

/// The way to apply a configuration.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_written_with_what_it_is_and_shown_as_people_call_it() {
        let machine: MachineName = "cp-1".parse().expect("a name");
        for (target, written, shown) in [
            (Target::Cluster, r#""cluster""#, "cluster"),
            (Target::from(&machine), r#"{"machine":"cp-1"}"#, "cp-1"),
            (Target::Member(MemberId(0xe1)), r#"{"member":"e1"}"#, "member e1"),
            (Target::Node((&machine).into()), r#"{"node":"cp-1"}"#, "node cp-1"),
            (
                Target::Addon("cilium".parse().expect("a name")),
                r#"{"addon":"cilium"}"#,
                "add-on cilium",
            ),
        ] {
            assert_eq!(serde_json::to_string(&target).expect("a text"), written);
            assert_eq!(serde_json::from_str::<Target>(written).expect("a target"), target);
            assert_eq!(target.to_string(), shown);
            assert_eq!(target.machine().is_some(), shown == "cp-1");
        }
    }
}
