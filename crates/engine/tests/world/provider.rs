//! Machines that a provider makes and takes away.

use ::engine::Outcome;
use ::engine::provider::conformance;

use crate::cluster::{cluster, name, provided};
use crate::engine::{Directory, Engine, What, World, said, simulate};

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
