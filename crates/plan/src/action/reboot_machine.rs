//! Boots a machine again.

use domain::{Ownership, Span, Target};
use serde::{Deserialize, Serialize};

use super::{
    Act, Awaited, ChangeKind, EtcdEffect, Limits, Nature, Needed, On, Outcome, TargetFacts,
};
use crate::spec::Policy;
use crate::step::Precondition;

/// Boots a machine again.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RebootMachine {}

impl Act for RebootMachine {
    fn samples() -> Vec<Self> {
        vec![Self {}]
    }

    fn kind(&self) -> &'static str {
        "reboot-machine"
    }

    fn verb(&self) -> &'static str {
        "reboot"
    }

    fn nature(&self) -> Nature {
        Nature {
            change: Some(ChangeKind::Configure),
            disturbs: true,
            etcd: EtcdEffect::Pause,
            leaves_awaited: &[Awaited::Node, Awaited::Voter],
            reboots: true,
            ..Nature::harmless(On::Machine(Needed::Is(Ownership::Ours)))
        }
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        Limits { time_out: RETURNS_WITHIN, usual: Span::minutes(2) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} off, or in its old boot"),
            recovery: format!("ichor events -n {on}"),
        }
    }

    fn assumes(&self, seen: &TargetFacts<'_>) -> Vec<Option<Precondition>> {
        let boot = seen.facts.boot.current(seen.now).cloned();
        vec![seen.node(), boot.map(Precondition::BootIs)]
    }
}

/// The time within which a machine comes back: servers need minutes for their own tests of memory and disks.
pub const RETURNS_WITHIN: Span = Span::minutes(15);
