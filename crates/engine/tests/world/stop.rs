//! A stop: what is under way comes to its end, nothing more is started, and the journal says so.

use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::engine::journal::{Entry, Journal};
use ::engine::{Cancelled, Outcome, cancel};

use crate::cluster::{WITH_REBOOT, WITHOUT_REBOOT, cluster, cluster_with, parse, text};
use crate::engine::{Engine, What, World, said, simulate};

#[test]
fn stop_starts_no_further_step_wherever_it_comes() {
    let wanted = cluster_with(3, 1, WITH_REBOOT);
    let before = simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        world.snapshot(&directory)
    });
    let log = simulate(async {
        let (world, directory) = before.restore();
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.apply(&wanted, &[]).await), "complete");
        engine.log()
    });
    let last_start = log.iter().rposition(|call| call == "append StepStarted").expect("a step");
    let calls = log.len();
    let stride = calls.div_ceil(usize::try_from(testkit::cases(STOPS)).expect("a count"));
    for number in (0..calls).step_by(stride) {
        simulate(async {
            let (world, directory) = before.restore();
            let entries = directory.entries().len();
            let engine = Engine::stopped_at(&world, &directory, number);
            let outcome = engine.apply(&wanted, &[]).await;
            let at = format!("stopped at call {number}, {}", engine.log()[number]);
            let Ok(Outcome::Ran(report)) = &outcome else { panic!("{at}: {}", said(&outcome)) };
            assert!(report.stopped || number >= last_start, "{at}: not stopped");
            let log = engine.log();
            let after = &log[engine.stopping_at.load(Relaxed).min(log.len())..];
            assert!(!after.contains(&"append StepStarted".to_owned()), "{at}: {after:?}");
            // Nothing that was started is left without its end.
            let kinds = directory.kinds_since(entries);
            let count = |kind: &str| kinds.iter().filter(|found| **found == kind).count();
            assert_eq!(count("StepStarted"), count("StepDone") + count("StepFailed"), "{at}");
            // A stop that comes before the plan is started leaves nothing behind.
            if count("PlanStarted") > 0 {
                assert_eq!(kinds.last(), Some(&"PlanEnded"), "{at}");
            }
            assert!(directory.is_free());
            world.settle().await;
            let outcome = Engine::new(&world, &directory).apply(&wanted, &[]).await;
            assert!(
                matches!(said(&outcome).as_str(), "complete" | "settled"),
                "{at}: {}",
                said(&outcome)
            );
            world.with(|model| {
                assert!(model.machines.values().all(|machine| machine.reboots == 1), "{at}");
            });
        });
    }
}

#[test]
fn cancel_requested_through_the_journal_stops_the_engine_at_work() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        let before = directory.entries().len();
        let (engine, other) = (Engine::new(&world, &directory), Engine::new(&world, &directory));
        let wanted = cluster_with(3, 1, WITH_REBOOT);
        let cancel = async {
            while !world.calls().contains(&"reboot cp-2".to_owned()) {
                world.wait(Duration::from_secs(1)).await;
            }
            let plan = directory.ledger().unfinished.expect("a plan at work").plan;
            other.append(Entry::CancelRequested { plan }).await.expect("a journal");
        };
        let ((), outcome) = tokio::join!(cancel, engine.apply(&wanted, &[]));
        assert!(said(&outcome).starts_with("stopped; "), "{}", said(&outcome));
        assert_eq!(
            *world.calls(),
            ["apply-config cp-2 staged", "reboot cp-2"],
            "the reboot comes to its end, nothing else begins"
        );
        assert_eq!(directory.kinds_since(before).last(), Some(&"PlanEnded"));
        assert!(directory.kinds_since(before).contains(&"StepDone"));
    });
}

#[test]
fn cancel_between_two_passes_stops_the_command_wherever_it_comes() {
    let wanted = cluster_with(1, 2, WITHOUT_REBOOT);
    let before = simulate(async {
        let (world, directory) = World::created(&cluster(1, 2)).await;
        world.snapshot(&directory)
    });
    // The first pass leaves a worker to the second one.
    let start = || {
        let (world, directory) = before.restore();
        world.once("apply-config w-1 no-reboot", What::RefuseNow);
        (world, directory)
    };
    let log = simulate(async {
        let (world, directory) = start();
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.apply(&wanted, &[]).await), "complete");
        engine.log()
    });
    let ended = log.iter().position(|call| call == "append PlanEnded").expect("a first plan");
    let started = log.iter().rposition(|call| call == "append PlanStarted").expect("a second");
    assert!(ended + 10 < started, "{log:?}");
    for (number, call) in log.iter().enumerate().take(started + 1).skip(ended + 1) {
        simulate(async {
            let (world, directory) = start();
            let engine = Engine::cancelled_at(&world, &directory, number);
            let outcome = engine.apply(&wanted, &[]).await;
            let at = format!("cancelled at call {number}, {call}");
            assert!(said(&outcome).starts_with("stopped; "), "{at}: {}", said(&outcome));
            assert!(!world.calls().contains(&"apply-config w-1 no-reboot".to_owned()), "{at}");
            assert!(directory.is_free(), "{at}");
            // Another command is another wish.
            let outcome = Engine::new(&world, &directory).apply(&wanted, &[]).await;
            assert_eq!(said(&outcome), "complete", "{at}");
        });
    }
}

#[test]
fn cancel_asks_the_engine_at_work_and_abandons_its_plan_under_the_slot() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 1)).await;
        let before = directory.entries().len();
        let (engine, other) = (Engine::new(&world, &directory), Engine::new(&world, &directory));
        let wanted = cluster_with(3, 1, WITH_REBOOT);
        let asked = RefCell::new(Vec::new());
        let cancel = async {
            while !world.calls().contains(&"reboot cp-2".to_owned()) {
                world.wait(Duration::from_secs(1)).await;
            }
            cancel(&other, &other, |plan| asked.borrow_mut().push(plan)).await.expect("an end")
        };
        let (cancelled, outcome) = tokio::join!(cancel, engine.apply(&wanted, &[]));
        assert!(said(&outcome).starts_with("stopped; "), "{}", said(&outcome));
        let plan = asked.borrow()[0];
        assert_eq!((cancelled, asked.borrow().len()), (Cancelled::Abandoned(plan), 1));
        let kinds = directory.kinds_since(before);
        assert!(kinds.ends_with(&["PlanEnded", "PlanCancelled"]), "{kinds:?}");
        assert_eq!(directory.ledger().unfinished, None);
        let again = cancel_now(&other).await;
        assert_eq!(again, Cancelled::Nothing);
    });
}

#[test]
fn cancel_of_a_plan_that_comes_to_its_end_says_so() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 0)).await;
        let (engine, other) = (Engine::new(&world, &directory), Engine::new(&world, &directory));
        world.once("append PlanEnded", What::Delay(Duration::from_secs(9)));
        let wanted = cluster_with(1, 0, WITHOUT_REBOOT);
        let cancel = async {
            while !engine.log().contains(&"append PlanEnded".to_owned()) {
                world.wait(Duration::from_secs(1)).await;
            }
            cancel_now(&other).await
        };
        let (cancelled, outcome) = tokio::join!(cancel, engine.apply(&wanted, &[]));
        assert_eq!(said(&outcome), "complete");
        assert!(matches!(cancelled, Cancelled::Completed(_)), "{cancelled:?}");
        assert!(!directory.has("PlanCancelled"));
    });
}

async fn cancel_now(engine: &Engine) -> Cancelled {
    cancel(engine, engine, |_| ()).await.expect("an end")
}

#[test]
fn cancel_of_an_earlier_plan_does_not_stop_the_next_one() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 1)).await;
        let engine = Engine::new(&world, &directory);
        let plan = domain::Digest::of("an earlier plan");
        engine.append(Entry::CancelRequested { plan }).await.expect("a journal");
        let wanted = cluster_with(1, 1, WITHOUT_REBOOT);
        assert_eq!(said(&engine.apply(&wanted, &[]).await), "complete");
    });
}

#[test]
fn step_that_does_not_end_after_a_stop_is_left_after_some_minutes() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.with(|model| model.machine("cp-2").boot_takes = Duration::from_mins(14));
        world.once(
            "reboot cp-2",
            What::Meanwhile(Arc::new(|engine: &Engine, _| {
                engine.stop.send_replace(true);
            })),
        );
        let engine = Engine::new(&world, &directory);
        let begun = world.now();
        let outcome = engine.apply(&cluster_with(3, 0, WITH_REBOOT), &[]).await;
        assert!(
            said(&outcome).starts_with("stopped; cp-2 failed: engine.cancelled"),
            "{}",
            said(&outcome)
        );
        let took = world.now().checked_sub(begun).expect("time");
        assert!(took < Duration::from_mins(6), "{took:?}");
        assert!(directory.has("StepFailed"));
    });
}

#[test]
fn stop_ends_steps_that_only_wait_at_once() {
    simulate(async {
        let (world, directory) = World::created(&cluster(3, 0)).await;
        world.with(|model| model.machine("cp-2").services_take = Duration::from_mins(4));
        let stopped_at = Arc::new(Mutex::new(None));
        let (noted, clock) = (Arc::clone(&stopped_at), world.clone());
        world.once(
            "reboot cp-2",
            What::Meanwhile(Arc::new(move |engine: &Engine, _| {
                let (stop, noted, clock) = (engine.stop.clone(), Arc::clone(&noted), clock.clone());
                tokio::spawn(async move {
                    // It has booted by then, and its services start.
                    tokio::time::sleep(Duration::from_mins(2)).await;
                    *noted.lock().expect("no panic") = Some(clock.now());
                    stop.send_replace(true);
                });
            })),
        );
        let engine = Engine::new(&world, &directory);
        let outcome = engine.apply(&cluster_with(3, 0, WITH_REBOOT), &[]).await;
        assert!(said(&outcome).starts_with("stopped"), "{}", said(&outcome));
        assert!(!said(&outcome).contains("failed"), "{}", said(&outcome));
        let stopped_at = stopped_at.lock().expect("no panic").expect("a stop");
        let took = world.now().checked_sub(stopped_at).expect("time");
        assert!(took < Duration::from_secs(10), "{took:?}");
        assert!(directory.has("StepFailed"));
        drop(engine);
        let outcome =
            Engine::new(&world, &directory).apply(&cluster_with(3, 0, WITH_REBOOT), &[]).await;
        assert_eq!(said(&outcome), "complete");
        assert!(world.with(|model| model.machines.values().all(|machine| machine.reboots == 1)));
    });
}

#[test]
fn steps_that_do_not_end_after_a_stop_share_one_deadline() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 3)).await;
        world.with(|model| {
            for (name, minutes) in [("w-1", 4), ("w-2", 8), ("w-3", 12)] {
                model.machine(name).boot_takes = Duration::from_mins(minutes);
            }
        });
        world.once(
            "reboot w-3",
            What::Meanwhile(Arc::new(|engine: &Engine, _| {
                engine.stop.send_replace(true);
            })),
        );
        let engine = Engine::new(&world, &directory);
        let begun = world.now();
        let wanted = format!(
            "policy: {{workersAtOnce: 3}}\npools:\n  - name: workers\n    patches:\n{PATCH}    machines:\n"
        );
        let text = text(1, 3, "").replace("pools:\n  - name: workers\n    machines:\n", &wanted);
        let outcome = engine.apply(&parse(&text), &[]).await;
        assert!(said(&outcome).starts_with("stopped; "), "{}", said(&outcome));
        let took = world.now().checked_sub(begun).expect("time");
        assert!(took < Duration::from_mins(6), "{took:?}");
    });
}

const PATCH: &str =
    "      - |\n        machine:\n          env:\n            https_proxy: http://proxy:3128\n";

/// As many calls are stopped at as give a test of seconds; `ICHOR_CASES` asks for more.
const STOPS: u32 = 60;

/// A stop that comes while machines are observed leaves no question open.
#[test]
fn stop_before_the_approval_asks_for_none() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 1)).await;
        let engine = Engine::stopped_at(&world, &directory, 0);
        let outcome = engine.apply(&cluster_with(1, 1, WITHOUT_REBOOT), &[]).await;
        assert!(said(&outcome).starts_with("stopped; "), "{}", said(&outcome));
        assert!(!engine.log().contains(&"approve".to_owned()));
    });
}
