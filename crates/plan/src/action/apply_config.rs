//! Hands a machine its configuration.

use domain::{ApplyMode, Digest, Ownership, Span, Target};
use serde::{Deserialize, Serialize};

use super::{
    Act, Awaited, ChangeKind, EtcdEffect, Limits, Nature, Needed, On, Outcome, TargetFacts,
};
use crate::spec::Policy;
use crate::step::{FieldChange, Precondition};

/// Hands a machine its configuration.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ApplyConfig {
    /// The digest of it: execution renders it again and compares.
    pub config: Digest,
    /// The way that it takes effect.
    pub mode: ApplyMode,
    /// The differences from the machine's configuration, secrets hidden; empty when it has none.
    pub changes: Vec<FieldChange>,
}

impl Act for ApplyConfig {
    fn samples() -> Vec<Self> {
        [ApplyMode::Maintenance, ApplyMode::NoReboot, ApplyMode::Staged]
            .map(|mode| Self { config: Digest::of(""), mode, changes: Vec::new() })
            .into()
    }

    fn kind(&self) -> &'static str {
        match self.mode {
            ApplyMode::Maintenance => "apply-config",
            ApplyMode::NoReboot => "change-config",
            ApplyMode::Staged => "stage-config",
        }
    }

    fn verb(&self) -> &'static str {
        match self.mode {
            ApplyMode::Maintenance => "apply config",
            ApplyMode::NoReboot => "change config",
            ApplyMode::Staged => "stage config",
        }
    }

    fn nature(&self) -> Nature {
        let ours = Nature {
            change: Some(ChangeKind::Configure),
            etcd: EtcdEffect::Touch,
            ..Nature::harmless(On::Machine(Needed::Is(Ownership::Ours)))
        };
        match self.mode {
            ApplyMode::Maintenance => Nature {
                change: Some(ChangeKind::Join),
                etcd: EtcdEffect::Join,
                leaves_awaited: &[Awaited::Node, Awaited::Voter],
                awaits: Some(Awaited::Machine),
                ..Nature::harmless(On::Machine(Needed::Is(Ownership::Maintenance)))
            },
            ApplyMode::NoReboot => {
                Nature { disturbs: true, leaves_awaited: &[Awaited::Node, Awaited::Voter], ..ours }
            }
            ApplyMode::Staged => ours,
        }
    }

    fn limits(&self, policy: &Policy) -> Limits {
        match self.mode {
            // Talos is installed and boots before a machine answers as one of ours.
            ApplyMode::Maintenance => {
                Limits { time_out: policy.install_within, usual: Span::minutes(2) }
            }
            // As long as talosctl tries to hand over a configuration.
            ApplyMode::NoReboot | ApplyMode::Staged => {
                Limits { time_out: Span::minutes(2), usual: Span::seconds(2) }
            }
        }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        let leaves = match self.mode {
            ApplyMode::Maintenance => {
                format!("{on} in maintenance, or booting with its configuration")
            }
            ApplyMode::NoReboot => {
                format!("{on} running with the old or the new configuration, never a mixture")
            }
            ApplyMode::Staged => {
                format!("{on} running as before; the new configuration may wait for its next boot")
            }
        };
        Outcome { leaves, recovery: "ichor resume".to_owned() }
    }

    fn assumes(&self, seen: &TargetFacts<'_>) -> Vec<Option<Precondition>> {
        match self.mode {
            ApplyMode::Maintenance => {
                // What is in maintenance at the address of a machine that its provider has taken away is another one.
                let instance = seen.facts.instance.current(seen.now).and_then(Option::as_ref);
                let is_it =
                    instance.map(|instance| Some(Precondition::InstanceIs(instance.id.clone())));
                [Some(Precondition::InMaintenance)].into_iter().chain(is_it).collect()
            }
            ApplyMode::NoReboot | ApplyMode::Staged => {
                let config = seen.facts.config.current(seen.now).copied();
                vec![seen.node(), config.map(Precondition::ConfigIs)]
            }
        }
    }

    fn detail(&self) -> Vec<(&'static str, String)> {
        let changes = self.changes.iter().map(|change| ("change", change.to_string()));
        [("config", self.config.short())].into_iter().chain(changes).collect()
    }
}
