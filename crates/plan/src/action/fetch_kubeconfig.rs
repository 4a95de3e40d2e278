//! Fetches credentials for the Kubernetes API.

use domain::{Span, Target};
use serde::{Deserialize, Serialize};

use super::{Act, Limits, Nature, Needed, On, Outcome};
use crate::spec::Policy;

/// Fetches credentials for the Kubernetes API from a control plane.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FetchKubeconfig {}

impl Act for FetchKubeconfig {
    fn samples() -> Vec<Self> {
        vec![Self {}]
    }

    fn kind(&self) -> &'static str {
        "fetch-kubeconfig"
    }

    fn verb(&self) -> &'static str {
        "fetch kubeconfig"
    }

    fn nature(&self) -> Nature {
        Nature::harmless(On::ControlPlane(Needed::Joined))
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        // One call.
        Limits { time_out: Span::minutes(1), usual: Span::seconds(2) }
    }

    fn outcome(&self, _on: &Target) -> Outcome {
        Outcome {
            leaves: "the cluster as it is, without a kubeconfig".to_owned(),
            recovery: "ichor kubeconfig".to_owned(),
        }
    }
}
