//! Begins etcd, and so the cluster, on one control plane.

use domain::{Span, Target};
use serde::{Deserialize, Serialize};

use super::{
    Act, Awaited, ChangeKind, EtcdEffect, Limits, Nature, Needed, On, Outcome, TargetFacts,
};
use crate::spec::Policy;
use crate::step::Precondition;

/// Begins etcd, and so the cluster, on one control plane.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BootstrapEtcd {}

impl Act for BootstrapEtcd {
    fn samples() -> Vec<Self> {
        vec![Self {}]
    }

    fn kind(&self) -> &'static str {
        "bootstrap-etcd"
    }

    fn verb(&self) -> &'static str {
        "bootstrap etcd"
    }

    fn nature(&self) -> Nature {
        Nature {
            change: Some(ChangeKind::Bootstrap),
            etcd: EtcdEffect::Begin,
            leaves_awaited: &[Awaited::Voter],
            ..Nature::harmless(On::ControlPlane(Needed::Joined))
        }
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        // As long as Talos' own provisioning tries it.
        Limits { time_out: Span::minutes(10), usual: Span::seconds(10) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} without etcd, or with an etcd of one member"),
            recovery: format!("ichor services -n {on} etcd"),
        }
    }

    fn assumes(&self, _seen: &TargetFacts<'_>) -> Vec<Option<Precondition>> {
        vec![Some(Precondition::NoMembers)]
    }
}
