//! The lease keeps a second engine out: whoever is faster, whatever clocks say, and when the API comes and goes.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ::engine::{Cluster, Event, LeaseRecord};

use crate::cluster::{WITH_REBOOT, WITHOUT_REBOOT, cluster, cluster_with};
use crate::engine::{Directory, Engine, KillPhase, What, World, said, simulate};
use crate::model::Model;

fn rolling() -> Cluster {
    cluster_with(3, 0, WITH_REBOOT)
}

fn stolen(model: &mut Model) {
    let found = model.lease.clone().unwrap_or_default();
    let fencing = found.fencing + 1;
    let holder = Some("another engine".to_owned());
    model.put_lease(&LeaseRecord { holder, fencing, plan: None, ..found });
}

fn reboots(world: &World) -> usize {
    world.with(|model| model.machines.values().map(|machine| machine.reboots).sum())
}

fn acquired_at(engine: &Engine) -> bool {
    engine.events().iter().any(|event| matches!(event, Event::LeaseAcquired { .. }))
}

#[test]
fn lease_race_lets_one_engine_run() {
    for offset in 0..20 {
        for found in [false, true] {
            simulate(async {
                let (world, first) = World::created(&cluster(3, 0)).await;
                let second = Directory::new("second");
                if !found {
                    world.with(|model| model.lease = None);
                }
                let wanted = rolling();
                let (one, two) = (Engine::new(&world, &first), Engine::new(&world, &second));
                let late = async {
                    world.wait(Duration::from_millis(offset * 7)).await;
                    two.pass(&wanted, &[]).await
                };
                let (one, two) = tokio::join!(one.pass(&wanted, &[]), late);
                let mut said = [said(&one), said(&two)];
                said.sort();
                assert_eq!(said, ["complete", "lease.held"], "offset {offset}");
                assert_eq!(reboots(&world), 3);
            });
        }
    }
}

#[test]
fn lease_that_cannot_be_renewed_refuses_disruptive_steps() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.once(
            "reboot cp-2",
            What::Meanwhile(Arc::new(|engine, _| {
                engine.world.always("lease", What::Unreachable);
                engine.world.always("put-lease", What::Unreachable);
            })),
        );
        let before = directory.entries().len();
        let outcome = Engine::new(&world, &directory).pass(&rolling(), &[]).await;
        assert!(said(&outcome).starts_with("cp-3 failed: lease.unavailable"), "{}", said(&outcome));
        assert_eq!(reboots(&world), 1);
        assert_eq!(directory.kinds_since(before).last(), Some(&"PlanEnded"));
    });
}

#[test]
fn lease_unavailable_is_not_tried_again_with_plan_after_plan() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.always("lease", What::Unreachable);
        let engine = Engine::new(&world, &directory);
        let outcome = engine.apply(&rolling(), &[]).await;
        assert!(said(&outcome).starts_with("cp-2 failed: lease.unavailable"), "{}", said(&outcome));
        assert_eq!(engine.log().iter().filter(|call| *call == "approve").count(), 1);
    });
}

#[test]
fn lease_unavailable_can_be_overridden_by_name() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.always("lease", What::Unreachable);
        let engine = Engine::new(&world, &directory);
        let outcome = engine.pass(&rolling(), &["lease.unavailable"]).await;
        assert_eq!(said(&outcome), "complete");
        assert_eq!(reboots(&world), 3);
    });
}

#[test]
fn lease_that_could_not_be_had_at_first_is_acquired_before_the_first_disruptive_step() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.once("lease", What::Unreachable);
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.pass(&rolling(), &[]).await), "complete");
        let unavailable = |event: &Event| matches!(event, Event::LeaseUnavailable { .. });
        assert!(engine.events().iter().any(unavailable));
        let log = engine.log();
        let first = |label: &str| log.iter().position(|call| call.starts_with(label));
        assert!(first("put-lease") < first("reboot"), "{log:?}");
        assert!(first("put-lease").is_some());
        assert_eq!(world.with(|model| model.lease.clone().and_then(|lease| lease.holder)), None);
    });
}

#[test]
fn lease_that_another_engine_has_is_found_out_after_a_suspend() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        // The lid is closed for an hour; the monotonic clock stands still, and another engine takes over.
        world.once(
            "apply-config cp-2 staged",
            What::Meanwhile(Arc::new(|engine, model| {
                engine.wall_ahead.fetch_add(3600, Relaxed);
                stolen(model);
            })),
        );
        let outcome = Engine::new(&world, &directory).pass(&rolling(), &[]).await;
        assert!(said(&outcome).contains("failed: lease.held"), "{}", said(&outcome));
        assert_eq!(reboots(&world), 0);
    });
}

#[test]
fn lease_that_another_engine_has_is_found_out_when_both_clocks_jump() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.once(
            "apply-config cp-2 staged",
            What::Meanwhile(Arc::new(|engine, model| {
                engine.wall_ahead.fetch_add(3600, Relaxed);
                engine.monotonic_ahead.fetch_add(3600, Relaxed);
                stolen(model);
            })),
        );
        let outcome = Engine::new(&world, &directory).pass(&rolling(), &[]).await;
        assert!(said(&outcome).contains("failed: lease.held"), "{}", said(&outcome));
        assert_eq!(reboots(&world), 0);
    });
}

#[test]
fn lease_is_given_back_when_the_plan_cannot_be_stored() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.once("store-plan", What::Refuse);
        let outcome = Engine::new(&world, &directory).pass(&rolling(), &[]).await;
        assert_eq!(said(&outcome), "journal.io");
        assert_eq!(*world.calls(), Vec::<String>::new());
        assert_eq!(world.with(|model| model.lease.clone().and_then(|lease| lease.holder)), None);
        assert!(directory.is_free());
    });
}

#[test]
fn lease_is_renewed_after_a_suspend_before_the_next_disruptive_step() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.once(
            "apply-config cp-2 staged",
            What::Meanwhile(Arc::new(|engine, _| {
                engine.wall_ahead.fetch_add(3600, Relaxed);
            })),
        );
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.pass(&rolling(), &[]).await), "complete");
        let log = engine.log();
        let staged =
            log.iter().position(|call| call == "apply-config cp-2 staged").expect("a call");
        let reboot = log.iter().position(|call| call == "reboot cp-2").expect("a call");
        assert!(log[staged..reboot].iter().any(|call| call == "put-lease"), "{log:?}");
    });
}

#[test]
fn lease_is_renewed_when_the_time_of_day_is_set_back() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.once(
            "apply-config cp-2 staged",
            What::Meanwhile(Arc::new(|engine, model| {
                engine.wall_ahead.fetch_sub(3600, Relaxed);
                stolen(model);
            })),
        );
        let outcome = Engine::new(&world, &directory).pass(&rolling(), &[]).await;
        assert!(said(&outcome).contains("failed: lease.held"), "{}", said(&outcome));
        assert_eq!(reboots(&world), 0);
    });
}

#[test]
fn lease_of_a_live_engine_is_not_taken_whatever_the_time_of_day() {
    for ahead in [-3600, 0, 3600] {
        simulate(async {
            let (world, first) = World::created(&cluster(3, 0)).await;
            let wanted = rolling();
            let (one, two) =
                (Engine::new(&world, &first), Engine::new(&world, &Directory::new("second")));
            two.wall_ahead.store(ahead, Relaxed);
            let late = async {
                world.wait(Duration::from_millis(200)).await;
                two.pass(&wanted, &[]).await
            };
            let (one, two) = tokio::join!(one.pass(&wanted, &[]), late);
            assert_eq!([said(&one), said(&two)], ["complete", "lease.held"], "{ahead}");
            assert!(world.calls().iter().all(|call| !call.ends_with("(second)")));
        });
    }
}

#[test]
fn lease_of_a_dead_engine_is_taken_after_a_minute_whatever_the_time_of_day() {
    for ahead in [-3600, 0, 3600] {
        simulate(async {
            let (world, first) = World::created(&cluster(1, 0)).await;
            let wanted = cluster_with(1, 0, WITHOUT_REBOOT);
            let killed = Engine::killed_at_label(&world, &first, "put-lease", KillPhase::After);
            assert!(killed.resume(&wanted, Vec::new()).await.is_none());
            let second = Engine::new(&world, &Directory::new("second"));
            second.wall_ahead.store(ahead, Relaxed);
            let begun = world.now();
            assert_eq!(said(&second.pass(&wanted, &[]).await), "complete");
            assert!(acquired_at(&second));
            let took = world.now().checked_sub(begun).expect("time");
            assert!(took >= Duration::from_mins(1), "{took:?}");
            assert!(took < Duration::from_mins(2), "{took:?}");
        });
    }
}

#[test]
fn lease_of_a_killed_engine_is_taken_over_at_once_by_its_successor() {
    simulate(async {
        let (world, first) = World::created(&cluster(1, 0)).await;
        let wanted = cluster_with(1, 0, WITHOUT_REBOOT);
        let killed = Engine::killed_at_label(&world, &first, "put-lease", KillPhase::After);
        assert!(killed.resume(&wanted, Vec::new()).await.is_none());
        let engine = Engine::new(&world, &first);
        let begun = world.now();
        assert_eq!(said(&engine.pass(&wanted, &[]).await), "complete");
        assert!(world.now().checked_sub(begun) < Some(Duration::from_mins(1)));
    });
}

#[test]
fn lease_lost_stops_new_steps() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.meanwhile("reboot cp-2", stolen);
        let engine = Engine::new(&world, &directory);
        let before = directory.entries().len();
        let outcome = engine.pass(&rolling(), &[]).await;
        let events = engine.events();
        let lost = events.iter().position(|event| matches!(event, Event::LeaseLost { .. }));
        let after = &events[lost.expect("the lease is lost")..];
        assert!(!after.iter().any(|event| matches!(event, Event::StepBegun(_))), "{after:?}");
        // The reboot that was under way has come to its end.
        assert!(after.iter().any(|event| matches!(event, Event::StepDone { .. })), "{after:?}");
        assert_eq!(reboots(&world), 1);
        assert!(said(&outcome).contains("steps left"), "{}", said(&outcome));
        assert_eq!(directory.kinds_since(before).last(), Some(&"PlanEnded"));
        let holder = world.with(|model| model.lease.clone().and_then(|lease| lease.holder));
        assert_eq!(holder.as_deref(), Some("another engine"), "it is not given back by another");
    });
}

#[test]
fn lease_whose_answer_was_lost_is_ours() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.with(|model| model.lease = None);
        world.once("put-lease", What::LoseAnswer);
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.pass(&rolling(), &[]).await), "complete");
        assert!(acquired_at(&engine));
    });
}

#[test]
fn lease_that_the_api_refuses_stops_the_pass() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.always("lease", What::Refuse);
        let outcome = Engine::new(&world, &directory).pass(&rolling(), &[]).await;
        assert_eq!(said(&outcome), "machine.refused");
        assert_eq!(*world.calls(), Vec::<String>::new());
        assert!(directory.is_free());
    });
}

#[test]
fn slot_keeps_a_second_engine_of_the_same_directory_out() {
    simulate(async {
        let (world, first) = World::created(&cluster(3, 0)).await;
        let wanted = rolling();
        let (one, two) = (Engine::new(&world, &first), Engine::new(&world, &first));
        let late = async {
            world.wait(Duration::from_millis(200)).await;
            two.pass(&wanted, &[]).await
        };
        let (one, two) = tokio::join!(one.pass(&wanted, &[]), late);
        assert_eq!([said(&one), said(&two)], ["complete", "journal.busy"]);
        assert_eq!(reboots(&world), 3);
    });
}

/// Machines that do not answer may hold up an observation for longer than a lease lasts.
#[test]
fn lease_is_kept_while_everything_is_observed_under_it() {
    simulate(async {
        let (world, first) = World::created(&cluster(1, 1)).await;
        let wanted = cluster_with(1, 1, WITHOUT_REBOOT);
        world.fault("observe w-1", 1, 1, What::Delay(Duration::from_secs(90)));
        let (one, other) =
            (Engine::new(&world, &first), Engine::new(&world, &Directory::new("second")));
        let later = async {
            world.wait(Duration::from_secs(5)).await;
            other.pass(&wanted, &[]).await
        };
        let (one, other) = tokio::join!(one.pass(&wanted, &[]), later);
        assert_eq!((said(&one).as_str(), said(&other).as_str()), ("complete", "lease.held"));
    });
}

/// A step that does not come to its end is left after some minutes, and the journal says why.
#[test]
fn lease_lost_leaves_a_step_that_does_not_end() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.with(|model| model.machine("cp-2").boot_takes = Duration::from_hours(1));
        world.meanwhile("reboot cp-2", stolen);
        let before = directory.entries().len();
        let outcome = Engine::new(&world, &directory).pass(&rolling(), &[]).await;
        assert!(said(&outcome).starts_with("cp-2 failed: lease.held"), "{}", said(&outcome));
        assert_eq!(directory.kinds_since(before).last_chunk(), Some(&["StepFailed", "PlanEnded"]));
        assert_eq!(reboots(&world), 1);
    });
}

/// The loser of a race leaves nothing behind.
#[test]
fn lease_that_another_engine_holds_leaves_no_plan_behind() {
    simulate(async {
        let (world, _) = World::created(&cluster(1, 0)).await;
        let wanted = cluster_with(1, 0, WITHOUT_REBOOT);
        let (one, other) = (Directory::new("one"), Directory::new("other"));
        let (first, second) = (Engine::new(&world, &one), Engine::new(&world, &other));
        let (first, second) = tokio::join!(first.pass(&wanted, &[]), second.pass(&wanted, &[]));
        let loser = if said(&first) == "lease.held" { &one } else { &other };
        assert!([said(&first), said(&second)].contains(&"lease.held".to_owned()));
        assert!(!loser.has("PlanStarted"), "{:?}", loser.entries());
    });
}
