//! Machines that are out of service, looked at in the middle of a plan.

mod world;

use plan::{NodeState, Source, out_of_service_finding};
use world::{NOW, World, known};

/// That an earlier step of the plan has disturbed a machine does not let it be disturbed beside others.
#[test]
fn own_mark_does_not_hide_others_that_are_out_of_service() {
    let mut world = World::new(&World::text(3, 0, "")).expect("a spec");
    world.running(&world.names()).expect("configurations");
    for name in world.names() {
        world.voter(&name);
    }
    let (first, second) = (world.names()[0].clone(), world.names()[1].clone());
    let finding = |world: &World, is_meant: bool| {
        out_of_service_finding(&first, &world.spec, &world.inventory, |_| is_meant)
    };
    world.facts(&first).disturbed = Some(NOW);
    assert_eq!(finding(&world, false), None);
    world.facts(&second).kubernetes = known(NodeState::NotReady, Source::Kubernetes);
    assert!(finding(&world, false).is_some());
    assert_eq!(finding(&world, true), None);
    // One that does not serve itself may be cured.
    world.facts(&first).kubernetes = known(NodeState::NotReady, Source::Kubernetes);
    assert_eq!(finding(&world, false), None);
}
