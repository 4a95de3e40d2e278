//! What a plan leaves out is in its report; what takes long is waited for, and not for ever.

use std::time::Duration;

use ::engine::journal::{Entry, Journal};
use ::engine::{Clock, Outcome, Want};
use plan::Approval;

use crate::cluster::{WITHOUT_REBOOT, cluster, cluster_with};
use crate::engine::{Directory, Engine, What, World, said, simulate};
use crate::model::Setup;

#[test]
fn report_names_machines_that_were_skipped() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 2)).await;
        world.with(|model| model.machine("w-1").cut = true);
        let wanted = cluster_with(1, 2, WITHOUT_REBOOT);
        let outcome = Engine::new(&world, &directory).apply(&wanted, &[]).await;
        let Ok(Outcome::Ran(report)) = &outcome else { panic!("{}", said(&outcome)) };
        assert!(report.is_complete());
        let skipped: Vec<String> = report.skipped.iter().map(ToString::to_string).collect();
        assert_eq!(
            skipped,
            [
                "w-1: connection refused",
                "w-2: order.out-of-service: w-2 is not changed while w-1 is out of service: \
                 connection refused"
            ]
        );
        let engine = Engine::new(&world, &directory);
        assert_eq!(said(&engine.apply(&wanted, &[]).await), "order.out-of-service");
        // It is gone for good.
        let outcome = engine.apply(&wanted, &["order.out-of-service=w-1"]).await;
        assert_eq!(said(&outcome), "complete; skipped w-1: connection refused");
        let outcome = engine.apply(&wanted, &[]).await;
        assert_eq!(said(&outcome), "blocked: w-1: connection refused");
    });
}

#[test]
fn machine_that_was_configured_and_died_is_waited_for_as_long_as_the_policy_says() {
    simulate(async {
        let cluster = cluster_with(1, 1, "policy: {installWithin: 10m}\n");
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.meanwhile("append MachineConfiguring", |model| {
            model.machine("w-1").install_takes = Duration::from_hours(1000);
        });
        let engine = Engine::new(&world, &directory);
        let outcome = engine.pass(&cluster, &[]).await;
        assert_eq!(said(&outcome), "w-1 failed: engine.timed-out; 1 steps left");
        world.with(|model| model.machine("w-1").cut = true);
        world.wait(Duration::from_secs(10)).await;
        let begun = world.now();
        let outcome = engine.apply(&cluster, &[]).await;
        let skipped = said(&outcome);
        assert!(skipped.starts_with("blocked: w-1: connection refused; it was"), "{skipped}");
        assert!(skipped.contains("look at its console"), "{skipped}");
        assert!(world.now().saturating_sub(begun) < Duration::from_mins(1));
    });
}

#[test]
fn foreign_worker_is_skipped_and_not_touched() {
    simulate(async {
        let cluster = cluster(1, 2);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.with(|model| model.machine("w-1").setup = Setup::Foreign);
        let outcome = Engine::new(&world, &directory).apply(&cluster, &[]).await;
        assert!(
            said(&outcome).starts_with("complete; skipped w-1: identity.foreign"),
            "{}",
            said(&outcome)
        );
        assert_eq!(world.with(|model| model.machine("w-1").configured), 0);
    });
}

#[test]
fn install_of_a_quarter_of_an_hour_is_waited_for() {
    simulate(async {
        let cluster = cluster(1, 1);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.with(|model| {
            for machine in model.machines.values_mut() {
                machine.install_takes = Duration::from_mins(8);
                machine.boot_takes = Duration::from_mins(7);
            }
        });
        assert_eq!(said(&Engine::new(&world, &directory).pass(&cluster, &[]).await), "complete");
    });
}

#[test]
fn install_that_takes_longer_than_the_policy_fails_alone() {
    simulate(async {
        let cluster = cluster_with(1, 2, "policy: {installWithin: 10m}\n");
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.with(|model| model.machine("w-1").install_takes = Duration::from_mins(30));
        let outcome = Engine::new(&world, &directory).pass(&cluster, &[]).await;
        assert_eq!(said(&outcome), "w-1 failed: engine.timed-out; 1 steps left");
        assert!(world.with(|model| model.nodes.contains_key("w-2")));
    });
}

/// A person who approves a plan in a file has approved that plan, and no other one.
#[test]
fn plan_from_a_file_is_followed_by_no_other() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 2)).await;
        let wanted = cluster_with(1, 2, WITHOUT_REBOOT);
        let proposes = Engine::without_approval(&world, &directory);
        let Ok(Outcome::NeedsApproval(plan)) = proposes.pass(&wanted, &[]).await else {
            panic!("a plan")
        };
        world.once("apply-config w-1 no-reboot", What::RefuseNow);
        let before = directory.entries().len();
        let engine = Engine::new(&world, &directory);
        let want = Want::Plan(Box::new(plan.into_draft()));
        let outcome = engine.run(&wanted, want).await.expect("an end");
        assert!(said(&outcome).starts_with("w-1 failed: machine.not-now"), "{}", said(&outcome));
        let kinds = directory.kinds_since(before);
        assert_eq!(kinds.iter().filter(|kind| **kind == "PlanStarted").count(), 1);
    });
}

#[test]
fn approval_that_was_given_beforehand_is_recorded_once() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 1)).await;
        let wanted = cluster_with(1, 1, WITHOUT_REBOOT);
        let engine = Engine::without_approval(&world, &directory);
        let Ok(Outcome::NeedsApproval(plan)) = engine.pass(&wanted, &[]).await else {
            panic!("a plan")
        };
        let approval = Approval { plan: plan.hash(), by: "another".to_owned(), at: engine.now() };
        engine.append(Entry::PlanApproved(approval)).await.expect("a journal");
        let before = directory.entries().len();
        let want = Want::Plan(Box::new(plan.into_draft()));
        let outcome = engine.run(&wanted, want).await.expect("an end");
        assert_eq!(said(&outcome), "complete");
        assert!(!directory.kinds_since(before).contains(&"PlanApproved"));
    });
}
