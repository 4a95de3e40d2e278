//! Machines that are made and destroyed: one trait for every place where machines come from.
//!
//! Always holds: an effect is known by the plan and the step that it is for. Whoever asks for it again, because nobody
//! knows whether it was done, gets the one that is there.

mod metal;

use async_trait::async_trait;
use plan::{Address, Digest, MachineName, StepNumber};

use crate::error::Trouble;

pub use metal::Metal;

/// Where machines come from.
#[async_trait]
pub trait Provider: Send + Sync {
    /// What it is called: `metal`.
    fn name(&self) -> &'static str;

    /// Makes a machine, or gives the one that was made for the same effect.
    async fn ensure(&self, effect: &Effect, machine: &MachineName) -> Result<Provided, Trouble>;

    /// Takes a machine away; one that is not there is no trouble.
    async fn destroy(&self, effect: &Effect, machine: &MachineName) -> Result<(), Trouble>;

    /// All machines that it has for the cluster.
    async fn list(&self) -> Result<Vec<Provided>, Trouble>;
}

/// What an effect is known by.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Effect {
    /// The plan.
    pub plan: Digest,
    /// The step of it.
    pub step: StepNumber,
}

/// A machine that a provider has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Provided {
    /// Its name in the spec.
    pub name: MachineName,
    /// Where it is.
    pub address: Address,
}

/// What every provider has to do, whoever it is: for its tests. `first` and `second` are machines that it can have.
///
/// # Panics
/// Where the provider does not do it.
pub async fn conformance(provider: &dyn Provider, first: &MachineName, second: &MachineName) {
    let plan: Digest = "5".repeat(64).parse().expect("a digest");
    let effect = |step| Effect { plan, step: StepNumber(step) };
    let made = provider.ensure(&effect(1), first).await.expect("a machine");
    assert_eq!(made.name, *first);
    let again = provider.ensure(&effect(1), first).await.expect("the same machine");
    assert_eq!(again, made, "asked again, it made another one");
    provider.ensure(&effect(2), second).await.expect("a second machine");
    let names = |provided: Vec<Provided>| {
        provided.into_iter().map(|machine| machine.name).collect::<Vec<_>>()
    };
    let listed = names(provider.list().await.expect("a list"));
    for name in [first, second] {
        assert_eq!(listed.iter().filter(|listed| *listed == name).count(), 1, "{name}");
    }
    provider.destroy(&effect(3), first).await.expect("the end of it");
    provider.destroy(&effect(3), first).await.expect("asked again");
    let back = provider.ensure(&effect(4), first).await.expect("made again");
    assert_eq!(back.name, *first);
}
