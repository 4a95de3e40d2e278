//! Windows: a shut one is waited for, and that wait is no obstacle to a stop.

use std::time::Duration;

use ::engine::Event;

use crate::cluster::{WITH_REBOOT, cluster, cluster_with};
use crate::engine::{Engine, World, said, simulate};

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
        let begun = world.now();
        let stop = async {
            world.wait(Duration::from_mins(30)).await;
            engine.stop.send_replace(true);
        };
        let ((), outcome) = tokio::join!(stop, engine.apply(&wanted, &[]));
        assert!(said(&outcome).starts_with("stopped; "), "{}", said(&outcome));
        let took = world.now().checked_sub(begun).expect("time");
        assert!(took < Duration::from_mins(31), "{took:?}");
        assert_eq!(world.with(|model| model.machine("cp-2").reboots), 0);
        assert!(directory.has("PlanEnded"));
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
