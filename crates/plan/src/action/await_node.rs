//! Waits until a machine serves in Kubernetes.

use domain::{Span, Target};
use serde::{Deserialize, Serialize};

use super::{Act, Awaited, Limits, Nature, Needed, On, Outcome};
use crate::spec::Policy;

/// Waits until a machine is registered in Kubernetes and, where the network allows it, ready.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AwaitNode {
    /// The node has to be ready, not only registered.
    pub ready: bool,
}

impl Act for AwaitNode {
    fn samples() -> Vec<Self> {
        vec![Self { ready: true }, Self { ready: false }]
    }

    fn kind(&self) -> &'static str {
        if self.ready { "await-ready-node" } else { "await-node" }
    }

    fn verb(&self) -> &'static str {
        if self.ready { "await ready node" } else { "await node" }
    }

    fn nature(&self) -> Nature {
        Nature { awaits: Some(Awaited::Node), ..Nature::harmless(On::Machine(Needed::Joined)) }
    }

    fn limits(&self, policy: &Policy) -> Limits {
        Limits {
            time_out: STARTS_WITHIN.max(policy.heals_within.plus(BOOTS_WITHIN)),
            usual: Span::minutes(1),
        }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} running, and not in service in Kubernetes"),
            recovery: format!("ichor logs -n {on} kubelet"),
        }
    }
}

/// As long as `talosctl health` waits; images of the network plug-in come first.
const STARTS_WITHIN: Span = Span::minutes(20);
/// A component that may be unhealthy for as long as the policy says begins to be so only when the machine has booted.
const BOOTS_WITHIN: Span = Span::minutes(10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_out_is_longer_than_a_component_may_be_unhealthy() {
        for (heals_within, time_out) in [(5, 20), (15, 25), (60, 70)] {
            let policy = Policy { heals_within: Span::minutes(heals_within), ..Policy::default() };
            let limits = AwaitNode { ready: true }.limits(&policy);
            assert_eq!(limits.time_out, Span::minutes(time_out));
        }
    }
}
