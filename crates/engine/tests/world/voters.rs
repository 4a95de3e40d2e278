//! Members of etcd: whose they are, which etcd they are in, and one that is stuck.

use crate::cluster::{WITHOUT_REBOOT, cluster, cluster_with, name};
use crate::engine::{Directory, Engine, World, said, simulate};
use crate::model::Fault;

#[test]
fn member_of_a_silent_control_plane_is_known_by_its_record() {
    simulate(async {
        let cluster = cluster(3, 0);
        let world = World::new(&cluster);
        // Peers talk over a network of their own.
        world.with(|model| {
            for (number, machine) in model.machines.values_mut().enumerate() {
                machine.peer_address = format!("192.168.7.{}", number + 1);
            }
        });
        let directory = Directory::new("first");
        assert_eq!(said(&Engine::new(&world, &directory).apply(&cluster, &[]).await), "complete");
        let member = world.with(|model| model.machine("cp-3").member);
        let members = directory.ledger().members;
        let recorded = members.iter().find(|(_, on)| **on == name("cp-3")).map(|(id, _)| id.0);
        assert_eq!(recorded, member);
        world.with(|model| model.machine("cp-3").cut = true);
        let changed = cluster_with(3, 0, WITHOUT_REBOOT);
        let gone = ["order.out-of-service=cp-3"];
        let outcome = Engine::new(&world, &directory).pass(&changed, &gone).await;
        assert_eq!(said(&outcome), "complete; skipped cp-3: connection refused");
    });
}

#[test]
fn member_that_is_silent_is_known_by_any_address_of_its_machine() {
    simulate(async {
        let cluster = cluster(3, 0);
        let world = World::new(&cluster);
        // The subnets that etcd advertises are not those of the spec.
        world.with(|model| {
            for (number, machine) in model.machines.values_mut().enumerate() {
                machine.peer_address = format!("192.168.7.{}", number + 1);
            }
        });
        let created = Engine::new(&world, &Directory::new("first")).apply(&cluster, &[]).await;
        assert_eq!(said(&created), "complete");
        world.always("status cp-3", crate::engine::What::RefuseNow);
        // A directory without a record of members.
        let other = Engine::new(&world, &Directory::new("second"));
        let inventory = ::engine::observe(&cluster, &other.ports()).await.expect("an inventory");
        let etcd = inventory.etcd.current(inventory.taken).expect("members");
        let machines: Vec<_> = etcd.members.values().map(|member| member.machine.clone()).collect();
        assert_eq!(machines, ["cp-1", "cp-2", "cp-3"].map(|machine| Some(name(machine))));
    });
}

#[test]
fn voter_in_an_etcd_of_its_own_is_not_taken_for_one_of_the_cluster() {
    simulate(async {
        let cluster = cluster(3, 0);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.meanwhile("bootstrap cp-1", |model| {
            let machine = model.machine("cp-3");
            machine.fault = Some(Fault::Apart);
            machine.member = Some(0xff);
        });
        let outcome = Engine::new(&world, &directory).pass(&cluster, &[]).await;
        assert!(said(&outcome).contains("failed: engine.timed-out"), "{}", said(&outcome));
        let outcome = Engine::new(&world, &directory).pass(&cluster, &[]).await;
        assert_eq!(said(&outcome), "etcd.split");
    });
}

#[test]
fn learner_that_is_stuck_holds_up_nothing_but_itself() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        let changed = cluster_with(4, 1, WITHOUT_REBOOT);
        world.with(|model| {
            model.add(&changed);
            model.machine("cp-4").fault = Some(Fault::StuckLearner);
        });
        // It joins first, and is waited for in vain.
        let outcome = Engine::new(&world, &directory).pass(&cluster(4, 1), &[]).await;
        assert!(said(&outcome).contains("cp-4 failed: engine.timed-out"), "{}", said(&outcome));
        world.calls().clear();
        let outcome = Engine::new(&world, &directory).pass(&changed, &[]).await;
        assert!(said(&outcome).contains("cp-4 failed: engine.timed-out"), "{}", said(&outcome));
        let changed: Vec<String> = world.calls().clone();
        for machine in ["cp-1", "cp-2", "cp-3", "w-1"] {
            let call = format!("apply-config {machine} no-reboot");
            assert!(changed.contains(&call), "{machine}: {changed:?}");
        }
    });
}

#[test]
fn voter_that_lags_is_waited_for_before_the_next_one_is_rebooted() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        let changed = cluster_with(3, 0, crate::cluster::WITH_REBOOT);
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.pass(&changed, &[]).await), "complete");
        // The leader, which hands over, is the last.
        let reboots: Vec<String> =
            world.calls().iter().filter(|call| call.starts_with("reboot")).cloned().collect();
        assert_eq!(reboots, ["reboot cp-2", "reboot cp-3", "reboot cp-1"]);
        assert!(world.calls().contains(&"forfeit cp-1".to_owned()));
        let caught_up = engine.events().iter().any(|event| {
            matches!(event, ::engine::Event::StepWaits { for_what, .. } if for_what.contains("catch up"))
        });
        assert!(caught_up);
    });
}
