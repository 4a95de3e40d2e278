//! Lets another member lead etcd.

use domain::{MemberId, Ownership, Span, Target};
use serde::{Deserialize, Serialize};

use super::{
    Act, Awaited, ChangeKind, EtcdEffect, Limits, Nature, Needed, On, Outcome, TargetFacts,
};
use crate::spec::Policy;
use crate::step::Precondition;

/// Lets another member lead etcd, before the leader reboots.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HandOverLeadership {}

impl Act for HandOverLeadership {
    fn samples() -> Vec<Self> {
        vec![Self {}]
    }

    fn kind(&self) -> &'static str {
        "hand-over-leadership"
    }

    fn verb(&self) -> &'static str {
        "hand over lead"
    }

    fn nature(&self) -> Nature {
        Nature {
            change: Some(ChangeKind::Configure),
            disturbs: true,
            etcd: EtcdEffect::MoveLeader,
            leaves_awaited: &[Awaited::Node, Awaited::Voter],
            ..Nature::harmless(On::ControlPlane(Needed::Is(Ownership::Ours)))
        }
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        // An election takes a second or two.
        Limits { time_out: Span::minutes(1), usual: Span::seconds(5) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome { leaves: format!("{on} still leading etcd"), recovery: "ichor resume".to_owned() }
    }

    fn assumes(&self, seen: &TargetFacts<'_>) -> Vec<Option<Precondition>> {
        // Not just any member of the machine: an older one may be left of an earlier installation.
        let leader = seen.etcd.and_then(|etcd| {
            let machine = |id: &MemberId| etcd.members.get(id)?.machine.as_ref();
            etcd.leader.filter(|id| machine(id) == seen.on.machine())
        });
        vec![leader.map(Precondition::MemberIs)]
    }
}
