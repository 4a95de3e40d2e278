//! The age of a fact is counted from before it was asked for: it is never too young.

use std::time::Duration;

use ::engine::{Clock, observe};
use domain::{Fact, Timestamp};

use crate::cluster::{cluster, name};
use crate::engine::{Engine, What, World, simulate};

#[test]
fn facts_are_as_old_as_the_question_for_them() {
    simulate(async {
        let cluster = cluster(3, 40);
        let (world, directory) = World::created(&cluster).await;
        // More machines than are asked at the same time, so that the last ones are asked when the first have answered.
        world.always("observe", What::Delay(MINUTE));
        world.always("nodes", What::Delay(MINUTE));
        world.always("status", What::Delay(MINUTE));
        let engine = Engine::new(&world, &directory);
        let begun = engine.now();
        let seen = observe(&cluster, &engine.ports()).await.expect("an inventory");
        let minutes = |fact: Timestamp| fact.since(begun).duration().as_secs() / MINUTE.as_secs();
        assert_eq!(minutes(seen.taken), 3, "two rounds of machines, and one of members");
        for (machine, asked) in [("cp-1", 0), ("w-29", 0), ("w-30", 1), ("w-40", 1)] {
            let facts = &seen.machines[&name(machine)];
            assert_eq!(minutes(when(&facts.ownership)), asked, "{machine}");
            assert_eq!(minutes(when(&facts.config)), asked, "{machine}");
            assert_eq!(minutes(when(&facts.kubernetes)), 0, "{machine}");
        }
        assert_eq!(minutes(when(&seen.machines[&name("cp-1")].member)), 2);
        assert_eq!(minutes(when(&seen.etcd)), 2);
        assert_eq!(minutes(when(&seen.api)), 0);
    });
}

fn when<T>(fact: &Fact<T>) -> Timestamp {
    match fact {
        Fact::Known { seen, .. } => *seen,
        Fact::NotKnown { why } => panic!("not known: {why}"),
    }
}

const MINUTE: Duration = Duration::from_mins(1);
