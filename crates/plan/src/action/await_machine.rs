//! Waits until a machine that was configured before answers as one of the cluster.

use domain::{Ownership, Span, Target};
use serde::{Deserialize, Serialize};

use super::{Act, Awaited, Limits, Nature, Needed, On, Outcome};
use crate::spec::Policy;

/// Waits until a machine that was configured before answers as one of the cluster.
///
/// It is there for a create that was interrupted: the machine has its configuration and boots.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AwaitMachine {}

impl Act for AwaitMachine {
    fn samples() -> Vec<Self> {
        vec![Self {}]
    }

    fn kind(&self) -> &'static str {
        "await-machine"
    }

    fn verb(&self) -> &'static str {
        "await machine"
    }

    fn nature(&self) -> Nature {
        Nature {
            awaits: Some(Awaited::Machine),
            leaves_awaited: &[Awaited::Node, Awaited::Voter],
            ..Nature::harmless(On::Machine(Needed::Is(Ownership::Booting)))
        }
    }

    fn limits(&self, policy: &Policy) -> Limits {
        Limits { time_out: policy.install_within, usual: Span::minutes(1) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} installing or booting, or gone"),
            recovery: "ichor resume".to_owned(),
        }
    }
}
