//! The contract of [`Provider`], for the tests of each one.

use domain::{ClassName, Digest, MachineName, ProviderId};
use futures_util::FutureExt;

use super::{MachineKey, Provider};

/// Asserts the contract of a provider. `first` and `second` are machines that it can have, of `class`.
///
/// # Panics
/// Where the provider does not keep it.
pub async fn conformance(
    provider: &dyn Provider,
    class: &ClassName,
    first: &MachineName,
    second: &MachineName,
) {
    let cluster: Digest = "5".repeat(64).parse().expect("a digest");
    let key =
        |machine: &MachineName| MachineKey { cluster, machine: machine.clone(), generation: 1 };
    // Killed in the middle of the call, and before the answer could be written down.
    let _ = provider.ensure(&key(first), class).now_or_never();
    provider.ensure(&key(first), class).await.map(drop).expect("a machine");
    // Another engine with another plan, and two of them at once.
    let made = provider.ensure(&key(first), class).await.expect("the same machine");
    assert_eq!(made.name, *first);
    let (one, other) = (key(first), key(first));
    let (one, other) =
        futures_util::future::join(provider.ensure(&one, class), provider.ensure(&other, class))
            .await;
    for again in [one.expect("the machine"), other.expect("the machine")] {
        assert_eq!(again.instance, made.instance, "asked again, it made another one");
    }
    provider.ensure(&key(second), class).await.expect("a second machine");
    let listed = provider.list(cluster).await.expect("a list");
    for name in [first, second] {
        let named = listed.iter().filter(|listed| listed.name == *name);
        assert_eq!(named.count(), 1, "{name}");
    }
    let found = listed.iter().find(|listed| listed.name == *first);
    assert_eq!(found.map(|found| &found.instance), Some(&made.instance));
    let _ = provider.destroy(&made.instance.id).now_or_never();
    provider.destroy(&made.instance.id).await.expect("the end of it");
    provider.destroy(&made.instance.id).await.expect("asked again");
    let listed = provider.list(cluster).await.expect("a list");
    assert!(listed.iter().all(|left| left.instance.id != made.instance.id), "it is still there");
    let never = ProviderId("never made".to_owned());
    provider.destroy(&never).await.expect("nothing to end");
    let next = MachineKey { generation: 2, ..key(first) };
    let back = provider.ensure(&next, class).await.expect("made again");
    assert_eq!((&back.name, back.instance.generation), (first, 2));
    assert_ne!(back.instance.id, made.instance.id, "the one that was destroyed is back");
}
