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

    fn verb(&self) -> &'static str {
        if self.ready { "await ready node" } else { "await node" }
    }

    fn nature(&self) -> Nature {
        Nature { awaits: Some(Awaited::Node), ..Nature::harmless(On::Machine(Needed::Joined)) }
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        // As long as `talosctl health` waits; images of the network plug-in come first.
        Limits { time_out: Span::minutes(20), usual: Span::minutes(1) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} running, and not in service in Kubernetes"),
            recovery: format!("ichor logs -n {on} kubelet"),
        }
    }
}
