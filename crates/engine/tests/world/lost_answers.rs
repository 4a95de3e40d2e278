//! An answer that was lost is no failure: what was done shows at the next look.

use ::engine::Cluster;

use crate::cluster::{WITH_REBOOT, WITHOUT_REBOOT, cluster, cluster_with};
use crate::engine::{Directory, Engine, What, World, said, simulate};

async fn change(label: &str, what: What, wanted: &Cluster) -> World {
    let (world, directory) = World::created(&cluster(3, 1)).await;
    world.once(label, what);
    let outcome = Engine::new(&world, &directory).pass(wanted, &[]).await;
    assert_eq!(said(&outcome), "complete", "{label}");
    world
}

#[test]
fn lost_answer_to_a_first_configuration_is_success() {
    simulate(async {
        let cluster = cluster(3, 1);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        for name in ["cp-1", "cp-2", "cp-3", "w-1"] {
            world.once(&format!("apply-config {name} maintenance"), What::LoseAnswer);
        }
        assert_eq!(said(&Engine::new(&world, &directory).pass(&cluster, &[]).await), "complete");
        assert!(world.with(|model| model.machines.values().all(|machine| machine.configured == 1)));
    });
}

#[test]
fn lost_answer_to_a_change_is_success() {
    simulate(async {
        let wanted = cluster_with(3, 1, WITHOUT_REBOOT);
        let world = change("apply-config cp-2 no-reboot", What::LoseAnswer, &wanted).await;
        assert_eq!(world.with(|model| model.machine("cp-2").configured), 2);
    });
}

#[test]
fn lost_answer_to_a_staged_change_is_success() {
    simulate(async {
        let wanted = cluster_with(3, 1, WITH_REBOOT);
        change("apply-config cp-2 staged", What::LoseAnswer, &wanted).await;
    });
}

#[test]
fn lost_answer_to_a_reboot_is_success() {
    simulate(async {
        let wanted = cluster_with(3, 1, WITH_REBOOT);
        let world = change("reboot", What::LoseAnswer, &wanted).await;
        assert!(world.with(|model| model.machines.values().all(|machine| machine.reboots == 1)));
    });
}

#[test]
fn lost_answer_to_a_reset_is_success() {
    simulate(async {
        let cluster = cluster(3, 1);
        let (world, directory) = World::created(&cluster).await;
        for name in ["cp-1", "cp-2", "cp-3", "w-1"] {
            world.once(&format!("reset {name}"), What::LoseAnswer);
        }
        assert_eq!(said(&Engine::new(&world, &directory).destroy(&cluster).await), "complete");
        assert!(world.with(|model| model.machines.values().all(|machine| machine.resets == 1)));
    });
}

#[test]
fn refused_reboot_fails_its_step_and_stops_the_chain() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        world.once("reboot cp-2", What::Refuse);
        let wanted = cluster_with(3, 1, WITH_REBOOT);
        let outcome = Engine::new(&world, &directory).apply(&wanted, &[]).await;
        assert!(said(&outcome).starts_with("cp-2 failed: machine.refused"), "{}", said(&outcome));
        assert!(world.with(|model| model.machines.values().all(|machine| machine.reboots == 0)));
    });
}

#[test]
fn kubeconfig_of_a_machine_that_is_not_ready_is_waited_for() {
    simulate(async {
        let cluster = cluster(1, 0);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.fault("kubeconfig cp-1", 0, 3, What::RefuseNow);
        assert_eq!(said(&Engine::new(&world, &directory).pass(&cluster, &[]).await), "complete");
    });
}
