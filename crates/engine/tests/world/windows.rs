//! Windows: a shut one is waited for, and that wait is no obstacle to a stop.

use std::sync::Arc;
use std::time::Duration;

use ::engine::Event;

use crate::cluster::{WITH_REBOOT, WITHOUT_REBOOT, cluster, cluster_with, name};
use crate::engine::{Engine, What, World, said, simulate};
use crate::model::Model;

/// It is Friday, some minutes after eight.
const EVENING: &str = "policy: {windows: [{from: '22:00', to: '23:00'}]}\n";

#[test]
fn window_that_is_shut_is_waited_for() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        let wanted = cluster_with(3, 1, &format!("{EVENING}{WITH_REBOOT}"));
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.pass(&wanted, &[]).await), "complete");
        let shut = |event: &Event| matches!(event, Event::GateShut { until: Some(_), .. });
        assert!(engine.events().iter().any(shut));
        let first_reboot = engine.events().iter().find_map(|event| match event {
            Event::StepBegun(place) if place.verb == "reboot" => Some(place.at),
            _ => None,
        });
        let of_day = first_reboot.expect("a reboot").0.rem_euclid(86_400);
        assert!((79_200..79_200 + 600).contains(&of_day), "{of_day}");
    });
}

#[test]
fn stop_ends_the_wait_for_a_window_at_once() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        let wanted = cluster_with(3, 1, &format!("{EVENING}{WITH_REBOOT}"));
        let engine = Engine::new(&world, &directory);
        let (begun, before) = (world.now(), directory.entries().len());
        let stop = async {
            world.wait(Duration::from_mins(30)).await;
            engine.stop.send_replace(true);
        };
        let ((), outcome) = tokio::join!(stop, engine.apply(&wanted, &[]));
        assert!(said(&outcome).starts_with("stopped; "), "{}", said(&outcome));
        let took = world.now().checked_sub(begun).expect("time");
        assert!(took < Duration::from_mins(31), "{took:?}");
        assert_eq!(world.with(|model| model.machine("cp-2").reboots), 0);
        assert_eq!(directory.kinds_since(before).last(), Some(&"PlanEnded"));
    });
}

#[test]
fn window_is_looked_at_again_when_the_time_of_day_is_set() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        let wanted = cluster_with(3, 1, &format!("{EVENING}{WITH_REBOOT}"));
        let engine = Engine::new(&world, &directory);
        let begun = world.now();
        let set = async {
            world.wait(Duration::from_mins(30)).await;
            engine.wall_ahead.store(14 * 3600 - 1800, std::sync::atomic::Ordering::Relaxed);
        };
        let ((), outcome) = tokio::join!(set, engine.pass(&wanted, &[]));
        assert_eq!(said(&outcome), "complete");
        let took = world.now().checked_sub(begun).expect("time");
        assert!(took < Duration::from_hours(2), "{took:?}");
    });
}

/// A window of minutes ends in the middle of a roll-out.
#[test]
fn window_that_closes_during_a_roll_out_is_waited_for_again() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        let short = "policy: {windows: [{from: '22:00', to: '22:02'}]}\n";
        let wanted = cluster_with(3, 1, &format!("{short}{WITH_REBOOT}"));
        let begun = world.now();
        assert_eq!(said(&Engine::new(&world, &directory).pass(&wanted, &[]).await), "complete");
        let took = world.now().checked_sub(begun).expect("time");
        assert!(took > Duration::from_hours(24), "{took:?}");
        assert!(world.with(|model| model.machines.values().all(|machine| machine.reboots == 1)));
    });
}

#[test]
fn machine_that_dies_while_a_window_is_shut_holds_up_the_others() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 2)).await;
        let wanted = cluster_with(3, 2, &format!("{EVENING}{WITH_REBOOT}"));
        let engine = Engine::new(&world, &directory);
        let dies = async {
            world.wait(Duration::from_hours(2)).await;
            world.with(|model| model.machine("w-2").cut = true);
        };
        let ((), outcome) = tokio::join!(dies, engine.pass(&wanted, &[]));
        assert!(
            said(&outcome).starts_with("w-1 failed: engine.precondition"),
            "{}",
            said(&outcome)
        );
        let reboots = |name: &str| world.with(|model| model.machine(name).reboots);
        assert_eq!((reboots("cp-1"), reboots("w-1"), reboots("w-2")), (1, 0, 0));
    });
}

/// The monotonic clock stands still while a computer sleeps.
#[test]
fn machine_that_dies_while_the_computer_sleeps_holds_up_the_others() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 2)).await;
        let sleeps = |engine: &Engine, model: &mut Model| {
            engine.wall_ahead.fetch_add(8 * 3600, std::sync::atomic::Ordering::Relaxed);
            model.machine("w-2").cut = true;
        };
        world.once("apply-config w-1 staged", What::Meanwhile(Arc::new(sleeps)));
        let wanted = cluster_with(3, 2, WITH_REBOOT);
        let outcome = Engine::new(&world, &directory).pass(&wanted, &[]).await;
        assert!(
            said(&outcome).starts_with("w-1 failed: engine.precondition"),
            "{}",
            said(&outcome)
        );
        assert_eq!(world.with(|model| model.machine("w-1").reboots), 0);
        // It was not disturbed, and is not taken for a machine that has to be cured.
        assert!(!directory.ledger().disturbed.contains_key(&name("w-1")));
    });
}

/// What joins did not serve before, however long that takes.
#[test]
fn slow_join_does_not_hold_up_a_change_beside_it() {
    simulate(async {
        let (world, directory) = World::created(&cluster(2, 1)).await;
        let wanted = cluster_with(3, 2, WITHOUT_REBOOT);
        world.with(|model| {
            model.add(&wanted);
            for name in ["cp-3", "w-2"] {
                model.machine(name).install_takes = Duration::from_mins(8);
            }
        });
        assert_eq!(said(&Engine::new(&world, &directory).pass(&wanted, &[]).await), "complete");
    });
}
