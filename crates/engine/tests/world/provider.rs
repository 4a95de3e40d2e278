//! Machines that a provider makes and takes away.

use ::engine::provider::conformance;
use std::sync::Arc;

use ::engine::{Outcome, Proposal, Want, propose};

use crate::cluster::{WITH_REBOOT, cluster, name, parse, provided, provided_text};
use plan::Goal;

use crate::engine::{Directory, Engine, What, World, said, simulate};
use crate::model::Model;

#[test]
fn provider_of_the_model_conforms() {
    simulate(async {
        let world = World::new(&cluster(1, 0));
        let engine = Engine::new(&world, &Directory::new("first"));
        let class = "small".parse().expect("a class");
        conformance(&engine, &class, &name("w-8"), &name("w-9")).await;
        // The first one, the second one, and the next generation of the first one.
        assert_eq!(world.with(|model| model.made), 3);
    });
}

#[test]
fn lost_answer_of_a_provider_makes_no_second_machine() {
    simulate(async {
        let cluster = provided(3, 1);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        world.once("ensure cp-1 small 1", What::LoseAnswer);
        world.once("ensure workers-1 large 1", What::LoseAnswer);
        assert_eq!(said(&Engine::new(&world, &directory).apply(&cluster, &[]).await), "complete");
        assert_eq!(world.with(|model| model.made), 4);
        world.once("destroy", What::LoseAnswer);
        assert_eq!(said(&Engine::new(&world, &directory).destroy(&cluster).await), "complete");
        assert_eq!(world.with(|model| model.instances.len()), 0);
    });
}

/// A directory can be lost: what the provider has for the cluster is found again, and nothing is made.
#[test]
fn provided_machines_are_found_again_without_a_journal() {
    simulate(async {
        let cluster = provided(3, 1);
        let (world, _) = World::created(&cluster).await;
        let fresh = Directory::new("first");
        let outcome = Engine::new(&world, &fresh).apply(&cluster, &[]).await;
        assert!(matches!(said(&outcome).as_str(), "complete" | "settled"), "{}", said(&outcome));
        world.with(|model| {
            assert_eq!((model.made, model.bootstraps), (4, 1));
            assert!(model.machines.values().all(|machine| machine.configured == 1));
        });
    });
}

#[test]
fn two_engines_make_each_machine_once() {
    simulate(async {
        let cluster = provided(1, 2);
        let world = World::new(&cluster);
        let (one, other) = (Directory::new("first"), Directory::new("second"));
        let (one, other) = (Engine::new(&world, &one), Engine::new(&world, &other));
        let outcomes = tokio::join!(one.pass(&cluster, &[]), other.pass(&cluster, &[]));
        for outcome in [outcomes.0, outcomes.1] {
            assert!(matches!(outcome, Ok(Outcome::Ran(_))), "{}", said(&outcome));
        }
        assert_eq!(world.with(|model| model.made), 3);
    });
}

/// A journal that did not ask for a machine does not know that nothing was done with it.
#[test]
fn silent_control_plane_of_another_directory_keeps_its_member() {
    simulate(async {
        let cluster = provided(3, 0);
        let (world, _) = World::created(&cluster).await;
        world.with(|model| model.machine("cp-2").cut = true);
        let engine = Engine::without_approval(&world, &Directory::new("second"));
        let outcome = engine.pass(&provided(3, 1), &[]).await;
        let Ok(Outcome::NeedsApproval(plan)) = outcome else { panic!("{}", said(&outcome)) };
        let skipped: Vec<String> = plan.body().skipped.iter().map(ToString::to_string).collect();
        assert_eq!(skipped, ["cp-2: connection refused"]);
        let provides = plan.steps().iter().filter(|step| step.action.verb() == "provide");
        let provided: Vec<String> = provides.map(|step| step.on.to_string()).collect();
        assert_eq!(provided, ["workers-1"]);
    });
}

/// The secrets are the same, and so are the names of the machines.
#[test]
fn copied_and_renamed_directory_does_not_own_the_machines_of_the_original() {
    simulate(async {
        let (world, _) = World::created(&provided(1, 1)).await;
        let copy = parse(&provided_text(1, 1, "").replace("cluster: home", "cluster: copy"));
        let engine = Engine::new(&world, &Directory::new("second"));
        let want = Want::Goal(Goal::Destroyed, Vec::new());
        let proposal = propose(&copy, want, &engine.ports()).await.expect("a proposal");
        assert!(matches!(proposal, Proposal::Nothing), "{proposal:?}");
    });
}

/// What is in maintenance at the address that a machine had may be anybody's.
#[test]
fn machine_that_has_another_address_by_now_is_not_configured() {
    simulate(async {
        let cluster = provided(1, 1);
        let (world, directory) = (World::new(&cluster), Directory::new("first"));
        assert_eq!(said(&Engine::new(&world, &directory).pass(&cluster, &[]).await), "complete");
        world.meanwhile("append PlanStarted", |model| model.machine("workers-1").moved = true);
        let outcome = Engine::new(&world, &directory).pass(&cluster, &[]).await;
        let start = "workers-1 failed: engine.precondition";
        assert!(said(&outcome).starts_with(start), "{}", said(&outcome));
        assert_eq!(world.with(|model| model.machine("workers-1").configured), 0);
    });
}

/// Machines stay where they are while their provider cannot be asked.
#[test]
fn change_goes_on_while_the_provider_is_away() {
    simulate(async {
        let (world, directory) = World::created(&provided(3, 1)).await;
        let wanted = parse(&provided_text(3, 1, WITH_REBOOT));
        let away = |engine: &Engine, _: &mut Model| {
            engine.world.always("list-machines", What::Unreachable);
        };
        world.once("append PlanStarted", What::Meanwhile(Arc::new(away)));
        let outcome = Engine::new(&world, &directory).pass(&wanted, &[]).await;
        assert_eq!(said(&outcome), "complete");
    });
}
