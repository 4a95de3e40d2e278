//! The end of a cluster, also when it is interrupted, and a new beginning after it.

use ::engine::Outcome;
use plan::Goal;

use crate::cluster::{cluster, overriding};
use crate::engine::{Engine, KillPhase, World, said, simulate};

#[test]
fn destroyed_cluster_can_be_created_again() {
    simulate(async {
        let cluster = cluster(3, 1);
        let (world, directory) = World::created(&cluster).await;
        assert_eq!(said(&Engine::new(&world, &directory).destroy(&cluster).await), "complete");
        let ledger = directory.ledger();
        assert_eq!((ledger.recorded.len(), ledger.members.len()), (0, 0));
        assert_eq!(said(&Engine::new(&world, &directory).destroy(&cluster).await), "settled");
        world.settle().await;
        assert_eq!(said(&Engine::new(&world, &directory).apply(&cluster, &[]).await), "complete");
        assert_eq!(world.with(|model| model.bootstraps), 2);
    });
}

#[test]
fn destroy_needs_its_override() {
    simulate(async {
        let cluster = cluster(1, 0);
        let (world, directory) = World::created(&cluster).await;
        let want = ::engine::Want::Goal(Goal::Destroyed, Vec::new());
        let outcome = Engine::new(&world, &directory).run(&cluster, want).await.expect("an end");
        assert_eq!(said(&outcome), "quorum.destroy");
        assert_eq!(*world.calls(), Vec::<String>::new());
    });
}

#[test]
fn goal_of_an_interrupted_destroy_is_in_the_ledger() {
    simulate(async {
        let cluster = cluster(3, 1);
        let (world, directory) = World::created(&cluster).await;
        world.with(|model| model.may_lose_quorum = true);
        let killed = Engine::killed_at_label(&world, &directory, "reset cp-1", KillPhase::After);
        let want = ::engine::Want::Goal(Goal::Destroyed, vec![overriding("quorum.destroy")]);
        assert!(killed.run(&cluster, want).await.is_none());
        // Without any kept plan.
        let unfinished = directory.ledger().unfinished.expect("an interrupted plan");
        assert_eq!(unfinished.goal, Goal::Destroyed);
        world.settle().await;
        let next = Engine::new(&world, &directory);
        let outcome =
            next.resume(&cluster, vec![overriding("quorum.destroy")]).await.expect("an end");
        assert_eq!(said(&outcome), "complete");
        assert!(world.with(|model| model.machines.values().all(|machine| machine.resets == 1)));
        assert_eq!(directory.ledger().unfinished, None);
    });
}

#[test]
fn destroy_tells_the_machines_that_it_could_not_reach() {
    simulate(async {
        let cluster = cluster(1, 2);
        let (world, directory) = World::created(&cluster).await;
        world.with(|model| model.machine("w-2").cut = true);
        let outcome = Engine::new(&world, &directory).destroy(&cluster).await;
        assert_eq!(said(&outcome), "complete; skipped w-2: connection refused");
        let Ok(Outcome::Ran(report)) = outcome else { panic!("it ran") };
        assert_eq!(report.skipped.len(), 1);
        assert!(world.with(|model| model.machine("w-2").is_ours()));
    });
}
