//! Takes a machine's configuration and data away.

use domain::{Ownership, Span, Target};
use serde::{Deserialize, Serialize};

use super::{Act, ChangeKind, EtcdEffect, Limits, Nature, Needed, On, Outcome, TargetFacts};
use crate::spec::Policy;
use crate::step::Precondition;

/// Takes a machine's configuration and data away; Talos stays installed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ResetMachine {}

impl Act for ResetMachine {
    fn samples() -> Vec<Self> {
        vec![Self {}]
    }

    fn kind(&self) -> &'static str {
        "reset-machine"
    }

    fn verb(&self) -> &'static str {
        "reset"
    }

    fn nature(&self) -> Nature {
        Nature {
            change: Some(ChangeKind::Destroy),
            disturbs: true,
            etcd: EtcdEffect::Pause,
            ..Nature::harmless(On::Machine(Needed::Is(Ownership::Ours)))
        }
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        // As a reboot, with the wipe of two partitions before it.
        Limits { time_out: Span::minutes(15), usual: Span::minutes(2) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} running as before, or without its data and on its way to boot"),
            recovery: "ichor destroy".to_owned(),
        }
    }

    fn assumes(&self, seen: &TargetFacts<'_>) -> Vec<Option<Precondition>> {
        vec![seen.node()]
    }
}
