//! Etcd begins once: not where one is, was or may be, and not by an answer that says something else.

use std::time::Duration;

use crate::cluster::{cluster, parse, text_of};
use crate::engine::{Directory, Engine, KillPhase, What, World, said, simulate};
use crate::model::Model;

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn bootstrap_refused_when_the_only_control_plane_was_exchanged() {
    simulate(async {
        let (world, directory) = World::created(&cluster(1, 1)).await;
        let before = directory.entries().len();
        let exchanged = parse(&text_of(&list(&["cp-2"]), &list(&["w-1"]), ""));
        world.with(|model| model.add(&exchanged));
        let outcome = Engine::new(&world, &directory).apply(&exchanged, &[]).await;
        assert_eq!(said(&outcome), "bootstrap.again");
        assert_eq!(*world.calls(), Vec::<String>::new());
        assert_eq!(directory.entries().len(), before);
    });
}

#[test]
fn bootstrap_refused_when_all_control_planes_were_exchanged_and_the_journal_is_new() {
    simulate(async {
        let (world, _) = World::created(&cluster(3, 0)).await;
        let exchanged = parse(&text_of(&list(&["cp-4", "cp-5", "cp-6"]), &[], ""));
        world.with(|model| model.add(&exchanged));
        let clone = Directory::new("second");
        let outcome = Engine::new(&world, &clone).apply(&exchanged, &[]).await;
        assert_eq!(said(&outcome), "bootstrap.again");
        assert_eq!(*world.calls(), Vec::<String>::new());
    });
}

#[test]
fn bootstrap_refused_when_etcd_was_lost() {
    simulate(async {
        let cluster = cluster(1, 1);
        let (world, directory) = World::created(&cluster).await;
        world.with(|model| {
            model.may_lose_quorum = true;
            model.machine("cp-1").member = None;
        });
        let outcome = Engine::new(&world, &directory).apply(&cluster, &[]).await;
        assert_eq!(said(&outcome), "bootstrap.again");
        assert_eq!(*world.calls(), Vec::<String>::new());
        // A person who knows that the data are gone says so.
        let engine = Engine::new(&world, &directory);
        let outcome = engine.apply(&cluster, &["bootstrap.again"]).await;
        assert_eq!(said(&outcome), "complete");
        assert_eq!(*world.calls(), ["bootstrap cp-1"]);
    });
}

#[test]
fn bootstrap_refused_when_the_only_control_plane_was_reset_by_hand() {
    simulate(async {
        let cluster = cluster(1, 1);
        let (world, directory) = World::created(&cluster).await;
        world.with(|model| {
            model.may_lose_quorum = true;
            model.wipe("cp-1");
        });
        world.settle().await;
        let outcome = Engine::new(&world, &directory).apply(&cluster, &[]).await;
        assert_eq!(said(&outcome), "identity.maintenance");
        assert_eq!(*world.calls(), Vec::<String>::new());
    });
}

#[test]
fn bootstrap_refused_first_and_already_there_then_is_no_success() {
    simulate(async {
        let cluster = cluster(1, 0);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.once("bootstrap cp-1", What::RefuseNow);
        world.always("bootstrap cp-1", What::AlreadyDone);
        let outcome = Engine::new(&world, &directory).pass(&cluster, &[]).await;
        assert!(
            said(&outcome).starts_with("cp-1 failed: engine.precondition"),
            "{}",
            said(&outcome)
        );
        assert_eq!(world.with(|model| model.bootstraps), 0);
    });
}

#[test]
fn bootstrap_whose_answer_was_lost_is_success_when_it_is_already_there() {
    simulate(async {
        let cluster = cluster(1, 0);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.once("bootstrap cp-1", What::LoseAnswer);
        let outcome = Engine::new(&world, &directory).pass(&cluster, &[]).await;
        assert_eq!(said(&outcome), "complete");
        assert_eq!(world.with(|model| model.bootstraps), 1);
    });
}

#[test]
fn bootstrap_looks_again_before_it_tries_again() {
    simulate(async {
        let cluster = cluster(2, 0);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.always("bootstrap cp-1", What::RefuseNow);
        let engine = Engine::new(&world, &directory);
        let elsewhere = async {
            while !engine.log().contains(&"bootstrap cp-1".to_owned()) {
                world.wait(Duration::from_millis(100)).await;
            }
            world.with(|model| model.bootstrap("cp-2")).expect("etcd")
        };
        let (outcome, began) = tokio::join!(engine.pass(&cluster, &[]), elsewhere);
        assert!(began);
        let tries = engine.log().iter().filter(|call| *call == "bootstrap cp-1").count();
        assert_eq!(tries, 1);
        assert!(said(&outcome).contains("cp-1 failed: engine.precondition"), "{}", said(&outcome));
    });
}

#[test]
fn bootstrap_waits_for_every_control_plane_to_answer() {
    simulate(async {
        let cluster = cluster(3, 0);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.with(|model| model.machine("cp-3").cut = true);
        let outcome = Engine::new(&world, &directory).apply(&cluster, &[]).await;
        assert_eq!(said(&outcome), "bootstrap.unseen");
        assert_eq!(*world.calls(), Vec::<String>::new());
    });
}

/// That there are no members has to be a fact right before etcd begins, and not only when it was planned.
#[test]
fn bootstrap_is_not_done_on_what_was_seen_before() {
    let silent = |model: &mut Model| model.machine("cp-3").cut = true;
    let answers = |model: &mut Model| model.other_api = true;
    for happens in [What::meanwhile(silent), What::meanwhile(answers)] {
        simulate(async {
            let cluster = cluster(3, 0);
            let (world, directory) = (World::new(&cluster), Directory::new("first"));
            world.once("append MachineRecorded", happens);
            let outcome = Engine::new(&world, &directory).pass(&cluster, &[]).await;
            let said = said(&outcome);
            assert!(said.contains("cp-1 failed: engine.precondition"), "{said}");
            assert_eq!(world.with(|model| model.bootstraps), 0);
        });
    }
}

/// Talos keeps a bootstrap in memory until etcd has started.
#[test]
fn bootstrap_that_a_machine_forgot_is_done_again_there_and_nowhere_else() {
    simulate(async {
        let cluster = cluster(3, 0);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        let killed =
            Engine::killed_at_label(&world, &directory, "bootstrap cp-1", KillPhase::After);
        assert!(killed.resume(&cluster, Vec::new()).await.is_none());
        world.with(|model| {
            model.forget_bootstrap("cp-1");
            model.machine("cp-1").cut = true;
        });
        // It may still begin there at any moment: even a person who leaves it out does not begin another one.
        world.wait(Duration::from_mins(30)).await;
        let rules = ["bootstrap.unseen"];
        let outcome = Engine::new(&world, &directory).apply(&cluster, &rules).await;
        assert_eq!(said(&outcome), "bootstrap.again");
        world.with(|model| model.machine("cp-1").cut = false);
        world.settle().await;
        world.calls().clear();
        let outcome = Engine::new(&world, &directory).apply(&cluster, &[]).await;
        assert_eq!(said(&outcome), "complete");
        assert_eq!(*world.calls(), ["bootstrap cp-1"]);
        assert_eq!(world.with(|model| model.members.len()), 3);
    });
}
