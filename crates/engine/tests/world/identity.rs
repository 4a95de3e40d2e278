//! A machine is the installation that was recorded, from the first time that it is seen.

use std::sync::Arc;
use std::time::Duration;

use domain::NodeIdentity;
use engine::Outcome;

use crate::cluster::{WITH_REBOOT, WITHOUT_REBOOT, cluster, cluster_with, name};
use crate::engine::{Directory, Engine, KillPhase, What, World, said, simulate};
use crate::model::Model;

fn recorded(directory: &Directory, machine: &str) -> Option<NodeIdentity> {
    directory.ledger().recorded.get(&name(machine)).cloned()
}

fn installation(world: &World, machine: &str) -> NodeIdentity {
    let number = world.with(|model| model.machine(machine).installation);
    NodeIdentity(format!("node-{number}-of-{machine}"))
}

#[test]
fn identity_that_is_not_known_during_install_is_never_recorded() {
    simulate(async {
        let cluster = cluster(1, 1);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.apply(&cluster, &[]).await), "complete");
        // It was looked at while it was installed, and the step was not done by that.
        assert!(engine.log().iter().filter(|call| *call == "observe cp-1").count() > 5);
        for machine in ["cp-1", "w-1"] {
            assert_eq!(recorded(&directory, machine), Some(installation(&world, machine)));
        }
    });
}

#[test]
fn create_killed_while_machines_install_or_boot_is_finished_by_one_converge() {
    for (control_planes, workers) in [(1, 0), (3, 0), (3, 1)] {
        // The API changes hands, the installer runs, the machine boots from its disk.
        for after in [1, 5, 100, 400] {
            simulate(async {
                let cluster = cluster(control_planes, workers);
                let (world, directory) = (World::new(&cluster), Directory::new("first"));
                world.with(|model| {
                    for machine in model.machines.values_mut() {
                        machine.install_takes = Duration::from_mins(3);
                        machine.boot_takes = Duration::from_mins(6);
                    }
                });
                let engine = Engine::new(&world, &directory);
                let ports = engine.ports();
                let want = ::engine::Want::Goal(plan::Goal::Spec, Vec::new());
                tokio::select! {
                    biased;
                    () = world.wait(Duration::from_secs(after)) => {}
                    _ = ::engine::converge(&cluster, want, &ports) => panic!("too fast"),
                }
                let next = Engine::new(&world, &directory);
                let outcome = next.apply(&cluster, &[]).await;
                assert_eq!(said(&outcome), "complete", "{control_planes} after {after} s");
                world.with(|model| {
                    assert_eq!(model.bootstraps, 1);
                    assert!(model.machines.values().all(|machine| machine.configured == 1));
                });
            });
        }
    }
}

#[test]
fn replaced_worker_is_skipped_and_an_override_records_it() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 2)).await;
        world.with(|model| model.reinstall("w-1"));
        let changed = cluster_with(1, 2, WITHOUT_REBOOT);
        let outcome = Engine::new(&world, &directory).apply(&changed, &[]).await;
        assert!(
            said(&outcome).starts_with("complete; skipped w-1: identity.node:"),
            "{}",
            said(&outcome)
        );
        assert_eq!(*world.calls(), ["apply-config cp-1 no-reboot", "apply-config w-2 no-reboot"]);
        assert_ne!(recorded(&directory, "w-1"), Some(installation(&world, "w-1")));
        // Alone it is the reason why nothing is done.
        let outcome = Engine::new(&world, &directory).apply(&changed, &[]).await;
        assert_eq!(said(&outcome), "identity.node");
        let outcome = Engine::new(&world, &directory).apply(&changed, &["identity.node=w-1"]).await;
        assert_eq!(said(&outcome), "complete");
        assert_eq!(recorded(&directory, "w-1"), Some(installation(&world, "w-1")));
        // No later plan needs the override.
        let outcome = Engine::new(&world, &directory).apply(&cluster(1, 2), &[]).await;
        assert_eq!(said(&outcome), "complete");
    });
}

#[test]
fn override_for_one_machine_is_none_for_another() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 2)).await;
        world.with(|model| {
            model.reinstall("w-1");
            model.reinstall("w-2");
        });
        let changed = cluster_with(1, 2, WITHOUT_REBOOT);
        let outcome = Engine::new(&world, &directory).apply(&changed, &["identity.node=w-1"]).await;
        assert!(
            said(&outcome).starts_with("complete; skipped w-2: identity.node"),
            "{}",
            said(&outcome)
        );
        assert_eq!(recorded(&directory, "w-1"), Some(installation(&world, "w-1")));
        assert_ne!(recorded(&directory, "w-2"), Some(installation(&world, "w-2")));
    });
}

#[test]
fn identity_is_trusted_on_first_use() {
    simulate(async {
        let (world, _) = World::created(&cluster(1, 1)).await;
        let clone = Directory::new("second");
        let changed = cluster_with(1, 1, WITHOUT_REBOOT);
        assert_eq!(said(&Engine::new(&world, &clone).apply(&changed, &[]).await), "complete");
        for machine in ["cp-1", "w-1"] {
            assert_eq!(recorded(&clone, machine), Some(installation(&world, machine)));
        }
        world.with(|model| model.reinstall("w-1"));
        let outcome = Engine::new(&world, &clone).apply(&cluster(1, 1), &[]).await;
        assert!(said(&outcome).contains("skipped w-1: identity.node"), "{}", said(&outcome));
    });
}

#[test]
fn looking_and_planning_write_nothing() {
    simulate(async {
        let (world, _) = World::created(&cluster(1, 1)).await;
        let clone = Directory::new("second");
        let engine = Engine::without_approval(&world, &clone);
        let changed = cluster_with(1, 1, WITHOUT_REBOOT);
        assert_eq!(said(&engine.apply(&changed, &[]).await), "needs approval");
        assert_eq!(clone.entries().len(), 0);
        assert_eq!(*world.calls(), Vec::<String>::new());
    });
}

type Change = fn(&mut Model);

#[test]
fn world_that_changes_between_approval_and_execution_is_refused() {
    let changed = cluster_with(3, 1, WITHOUT_REBOOT);
    let changes: [(&str, Change); 3] = [
        ("facts.current", |model| model.machine("w-1").cut = true),
        ("identity.node", |model| model.reinstall("cp-2")),
        ("quorum.tolerance", |model| {
            model.may_lose_quorum = true;
            for name in ["cp-1", "cp-3"] {
                model.machine(name).member = None;
            }
        }),
    ];
    for (rule, change) in changes {
        simulate(async {
            let (world, directory) = World::created(&cluster(3, 1)).await;
            let before = directory.entries().len();
            world.meanwhile("approve", change);
            let outcome = Engine::new(&world, &directory).pass(&changed, &[]).await;
            let Ok(Outcome::Outdated(refusal)) = &outcome else {
                panic!("{rule}: {}", said(&outcome))
            };
            assert!(refusal.findings.iter().any(|finding| finding.rule.name() == rule), "{rule}");
            assert_eq!(*world.calls(), Vec::<String>::new(), "{rule}");
            assert_eq!(directory.entries().len(), before, "{rule}");
            assert!(directory.is_free());
            let holder = world.with(|model| model.lease.clone().and_then(|lease| lease.holder));
            assert_eq!(holder, None, "{rule}: the lease is given back");
        });
    }
}

#[test]
fn configuration_that_a_machine_rejects_does_not_make_a_stranger_ours() {
    simulate(async {
        let cluster = cluster(1, 1);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.once("apply-config w-1 maintenance", What::Refuse);
        let outcome = Engine::new(&world, &directory).pass(&cluster, &[]).await;
        assert!(said(&outcome).starts_with("w-1 failed: machine.refused"), "{}", said(&outcome));
        assert!(directory.has("MachineRejected"));
        assert!(!directory.ledger().configuring.contains_key(&name("w-1")));
    });
}

#[test]
fn installation_that_appears_after_a_kill_is_ours() {
    simulate(async {
        let cluster = cluster(1, 0);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        let recorded_at = "append MachineRecorded";
        let killed = Engine::killed_at_label(&world, &directory, recorded_at, KillPhase::Before);
        assert!(killed.resume(&cluster, Vec::new()).await.is_none());
        assert_eq!(recorded(&directory, "cp-1"), None);
        world.settle().await;
        assert_eq!(said(&Engine::new(&world, &directory).apply(&cluster, &[]).await), "complete");
        assert_eq!(recorded(&directory, "cp-1"), Some(installation(&world, "cp-1")));
    });
}

#[test]
fn approval_that_takes_hours_is_followed_by_another_look() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 1)).await;
        world.once("approve", What::Delay(Duration::from_hours(3)));
        let changed = cluster_with(1, 1, WITHOUT_REBOOT);
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.pass(&changed, &[]).await), "complete");
        let log = engine.log();
        let of = |label: &str| log.iter().position(|call| call == label).expect("a call");
        let looked = log[of("approve")..of("append PlanStarted")].iter();
        assert_eq!(looked.filter(|call| call.starts_with("observe")).count(), 2);
    });
}

/// A reset that no machine has heard of must not excuse one that is in maintenance long after.
#[test]
fn reset_that_was_not_carried_out_excuses_nothing() {
    for changes in [false, true] {
        simulate(async {
            let (world, directory) = World::created(&cluster(1, 1)).await;
            world.always("reset", What::RefuseNow);
            let outcome = Engine::new(&world, &directory).destroy(&cluster(1, 1)).await;
            assert!(said(&outcome).contains("failed"), "{}", said(&outcome));
            // The cluster is used again, with a change or as it is.
            let wanted = if changes { cluster_with(1, 1, WITHOUT_REBOOT) } else { cluster(1, 1) };
            let outcome = Engine::new(&world, &directory).apply(&wanted, &[]).await;
            assert_eq!(said(&outcome), "complete");
            world.with(|model| model.wipe("w-1"));
            world.settle().await;
            let outcome = Engine::new(&world, &directory).apply(&wanted, &[]).await;
            assert_eq!(said(&outcome), "identity.maintenance");
        });
    }
}

/// A reboot that is refused before its call leaves the machine as it was.
#[test]
fn machine_whose_reboot_was_refused_is_not_out_of_service() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 2)).await;
        // Another hand stages something else right after we did.
        let arm = |engine: &Engine, _: &mut Model| {
            engine.world.meanwhile("append StepDone", |model| model.stage_another("w-1"));
        };
        world.once("apply-config w-1 staged", What::Meanwhile(Arc::new(arm)));
        let wanted = cluster_with(1, 2, WITH_REBOOT);
        world.with(|model| model.may_lose_quorum = true);
        let engine = Engine::new(&world, &directory);
        let outcome = engine.pass(&wanted, &["quorum.only-voter"]).await;
        assert!(
            said(&outcome).starts_with("w-1 failed: engine.precondition"),
            "{}",
            said(&outcome)
        );
        assert_eq!(world.with(|model| model.machine("w-1").reboots), 0);
        assert!(!directory.ledger().disturbed.contains_key(&name("w-1")));
    });
}

/// The power fails before the machine could store its configuration, and the process is killed.
#[test]
fn machine_that_comes_back_in_maintenance_is_configured_again_by_one_converge() {
    for (control_planes, workers) in [(1, 0), (3, 1)] {
        simulate(async {
            let cluster = cluster(control_planes, workers);
            let (world, directory) = (World::new(&cluster), Directory::new("first"));
            let label = "apply-config cp-1 maintenance";
            let killed = Engine::killed_at_label(&world, &directory, label, KillPhase::Before);
            assert!(killed.resume(&cluster, Vec::new()).await.is_none());
            world.with(|model| model.machine("cp-1").cut = true);
            let begun = world.now();
            let engine = Engine::new(&world, &directory);
            let power_is_back = async {
                world.wait(Duration::from_mins(2)).await;
                world.with(|model| model.machine("cp-1").cut = false);
            };
            let ((), outcome) = tokio::join!(power_is_back, engine.apply(&cluster, &[]));
            assert_eq!(said(&outcome), "complete");
            let took = world.now().checked_sub(begun).expect("time");
            assert!(took < Duration::from_mins(10), "{took:?}");
            assert_eq!(world.with(|model| model.machine("cp-1").configured), 1);
        });
    }
}
