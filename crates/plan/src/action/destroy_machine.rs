//! Has a provider take a machine away, with all of its data.

use domain::{Instance, ProviderId, Span, Target};
use serde::{Deserialize, Serialize};

use super::{Act, ChangeKind, EtcdEffect, Limits, Nature, Needed, On, Outcome, TargetFacts};
use crate::spec::Policy;
use crate::step::Precondition;

/// Has a provider take a machine away, with all of its data.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DestroyMachine {
    /// The provider's machine: names are used again.
    pub instance: Instance,
}

impl Act for DestroyMachine {
    fn samples() -> Vec<Self> {
        vec![Self { instance: Instance { id: ProviderId("server-1".to_owned()), generation: 1 } }]
    }

    fn kind(&self) -> &'static str {
        "destroy-machine"
    }

    fn verb(&self) -> &'static str {
        "destroy"
    }

    fn nature(&self) -> Nature {
        Nature {
            change: Some(ChangeKind::Destroy),
            disturbs: true,
            etcd: EtcdEffect::Pause,
            ..Nature::harmless(On::Machine(Needed::Provided))
        }
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        Limits { time_out: Span::minutes(10), usual: Span::seconds(30) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} at its provider, or gone"),
            recovery: "ichor destroy".to_owned(),
        }
    }

    fn assumes(&self, seen: &TargetFacts<'_>) -> Vec<Option<Precondition>> {
        let instance = seen.facts.instance.current(seen.now).and_then(Option::as_ref);
        let is_it = instance == Some(&self.instance);
        vec![is_it.then(|| Precondition::InstanceIs(self.instance.id.clone()))]
    }

    fn detail(&self) -> Vec<(&'static str, String)> {
        vec![("instance", self.instance.id.to_string())]
    }
}
