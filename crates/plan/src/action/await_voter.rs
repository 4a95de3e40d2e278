//! Waits until a machine's member of etcd votes, runs and has caught up.

use domain::{Span, Target};
use serde::{Deserialize, Serialize};

use super::{Act, Awaited, EtcdEffect, Limits, Nature, Needed, On, Outcome};
use crate::spec::Policy;

/// Waits until a machine's member of etcd votes, runs and has caught up.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AwaitVoter {}

impl Act for AwaitVoter {
    fn samples() -> Vec<Self> {
        vec![Self {}]
    }

    fn kind(&self) -> &'static str {
        "await-voter"
    }

    fn verb(&self) -> &'static str {
        "await voter"
    }

    fn nature(&self) -> Nature {
        Nature {
            etcd: EtcdEffect::Restore,
            awaits: Some(Awaited::Voter),
            ..Nature::harmless(On::ControlPlane(Needed::Joined))
        }
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        // A member joins within a minute; a slow disk and a large snapshot take longer.
        Limits { time_out: Span::minutes(15), usual: Span::seconds(30) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} outside etcd, or still learning"),
            recovery: "ichor etcd members".to_owned(),
        }
    }
}
