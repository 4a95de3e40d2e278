//! Has a provider make a machine, and waits until it answers.

use domain::{ClassName, Span, Target};
use serde::{Deserialize, Serialize};

use super::{Act, ChangeKind, Limits, Nature, Needed, On, Outcome};
use crate::spec::Policy;

/// Has a provider make a machine, and waits until it answers.
///
/// A plan never configures what it makes: the address is a fact of the next pass.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProvideMachine {
    /// The class that the machine is made of.
    pub class: ClassName,
    /// Counts the machines that were made for this name: a provider that is asked for the same one again makes no other.
    pub generation: u32,
}

impl Act for ProvideMachine {
    fn samples() -> Vec<Self> {
        "small".parse().map(|class| Self { class, generation: 1 }).into_iter().collect()
    }

    fn kind(&self) -> &'static str {
        "provide-machine"
    }

    fn verb(&self) -> &'static str {
        "provide"
    }

    fn nature(&self) -> Nature {
        Nature {
            change: Some(ChangeKind::Provide),
            ..Nature::harmless(On::Machine(Needed::NotProvided))
        }
    }

    fn limits(&self, _policy: &Policy) -> Limits {
        // A cloud answers within minutes; a server on a shelf tests its memory before it boots from the network.
        Limits { time_out: Span::minutes(20), usual: Span::minutes(2) }
    }

    fn outcome(&self, on: &Target) -> Outcome {
        Outcome {
            leaves: format!("{on} not made, or made and on its way to boot"),
            recovery: "ichor resume".to_owned(),
        }
    }

    fn detail(&self) -> Vec<(&'static str, String)> {
        let mut detail = vec![("class", self.class.to_string())];
        if self.generation > 1 {
            detail.push(("generation", self.generation.to_string()));
        }
        detail
    }
}
