//! Five hundred machines at once: what is asked is bounded.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::cluster::cluster;
use crate::engine::{Directory, Engine, What, World, said};

/// What the creation of a cluster took.
pub(crate) struct Figures {
    /// In the time of the world.
    pub(crate) seconds: u64,
    pub(crate) node_lists: u64,
    /// The most calls to machines that were under way at the same time.
    pub(crate) most_calls: usize,
}

/// Creates a cluster of 500 machines that are far away.
pub(crate) async fn create() -> Figures {
    let cluster = cluster(3, 497);
    let (world, directory) = (World::new(&cluster), Directory::new("first"));
    // All machines have joined and wait when etcd begins.
    world.with(|model| {
        for machine in model.machines.values_mut() {
            machine.install_takes = Duration::from_secs(5);
            machine.boot_takes = Duration::from_secs(5);
        }
    });
    world.fault("bootstrap cp-1", 0, 60, What::RefuseNow);
    // An answer takes seconds.
    world.always("observe", What::Delay(Duration::from_secs(4)));
    let engine = Engine::new(&world, &directory);
    let begun = world.now();
    assert_eq!(said(&engine.pass(&cluster, &[]).await), "complete");
    Figures {
        seconds: world.now().checked_sub(begun).expect("time").as_secs(),
        node_lists: u64::try_from(engine.node_lists()).expect("a count"),
        most_calls: engine.most_machine_calls.load(Relaxed),
    }
}

#[test]
fn create_of_500_machines_is_bounded() {
    let Figures { seconds, node_lists, most_calls } = crate::engine::simulate(create());
    // Two looks at everything, and one list in two seconds for all who wait for a node.
    assert!(node_lists <= seconds / 2 + 1 + 2, "{node_lists} lists in {seconds} s");
    // Thirty-two steps that change something, and thirty-two looks.
    assert!(most_calls <= 64, "{most_calls} calls to machines at once");
}
