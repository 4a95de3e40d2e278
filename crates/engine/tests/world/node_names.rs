//! Nodes: a machine says what its node is called, and a node counts only in the boot that its machine is in.

use std::time::Duration;

use ::engine::Event;

use crate::cluster::{WITH_REBOOT, cluster, cluster_with};
use crate::engine::{Directory, Engine, World, said, simulate};
use crate::model::boot_id;

#[test]
fn node_name_that_differs_from_the_machine_name_settles() {
    simulate(async {
        let cluster = cluster(3, 1);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.with(|model| {
            for (number, machine) in model.machines.values_mut().enumerate() {
                machine.node_name = format!("talos-{number}.example.org");
            }
        });
        assert_eq!(said(&Engine::new(&world, &directory).apply(&cluster, &[]).await), "complete");
        assert_eq!(said(&Engine::new(&world, &directory).apply(&cluster, &[]).await), "settled");
        let changed = cluster_with(3, 1, WITH_REBOOT);
        assert_eq!(said(&Engine::new(&world, &directory).apply(&changed, &[]).await), "complete");
        assert_eq!(said(&Engine::new(&world, &directory).apply(&changed, &[]).await), "settled");
    });
}

#[test]
fn node_that_was_ready_before_its_reboot_is_waited_for() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 1)).await;
        // So short a boot that Kubernetes does not notice it.
        world.with(|model| {
            model.machine("w-1").boot_takes = Duration::from_secs(10);
            model.machine("w-1").services_take = Duration::from_secs(20);
            model.may_lose_quorum = true;
        });
        let changed = cluster_with(1, 1, WITH_REBOOT);
        let engine = Engine::new(&world, &directory);
        let outcome = engine.pass(&changed, &["quorum.only-voter"]).await;
        assert_eq!(said(&outcome), "complete");
        let waited = engine.events().iter().any(|event| {
            matches!(event, Event::StepWaits { for_what, .. } if for_what == "node w-1 to report after its reboot")
        });
        assert!(waited, "{:?}", engine.events());
        world.with(|model| {
            let boot = boot_id("w-1", &model.machines["w-1"]);
            assert_eq!(model.nodes["w-1"].boot, boot);
        });
    });
}
