//! An engine that is killed anywhere: the next one finishes, and does nothing twice.

use std::time::Duration;

use ::engine::{Cluster, Outcome};
use domain::NodeState;
use plan::{Goal, Override};

use crate::cluster::{
    WITH_REBOOT, WITHOUT_REBOOT, cluster, cluster_with, name, overriding, provided,
};
use crate::engine::{Directory, Engine, KillPhase, Snapshot, World, has_effect, said, simulate};
use crate::model::Model;

/// At every call there is, before and after it.
#[test]
fn killed_create_of_one_finishes() {
    let cluster = cluster(1, 0);
    let looks = usize::MAX;
    Case { creates: true, looks, ..Case::new(new_world(&cluster), cluster) }.sweep();
}

#[test]
fn killed_create_of_three_and_one_finishes() {
    let cluster = cluster(3, 1);
    Case { creates: true, ..Case::new(new_world(&cluster), cluster) }.sweep();
}

#[test]
fn twice_killed_create_finishes() {
    let cluster = cluster(3, 1);
    Case { creates: true, twice: true, ..Case::new(new_world(&cluster), cluster) }.sweep();
}

#[test]
fn killed_join_of_a_worker_finishes() {
    let before = created(&cluster(1, 0));
    Case { looks: usize::MAX, ..Case::new(before, cluster(1, 1)) }.sweep();
}

#[test]
fn killed_join_beside_a_change_finishes() {
    let before = created(&cluster(2, 1));
    Case::new(before, cluster_with(3, 2, WITHOUT_REBOOT)).sweep();
}

/// A person has said that the worker that was installed anew is the right one.
#[test]
fn killed_change_of_a_replaced_worker_finishes() {
    let before = simulate(async {
        let (world, directory) = World::created(&cluster(1, 1)).await;
        world.with(|model| model.reinstall("w-1"));
        world.snapshot(&directory)
    });
    let case = Case::new(before, cluster_with(1, 1, WITHOUT_REBOOT));
    Case { overrides: vec![overriding("identity.node=w-1")], ..case }.sweep();
}

/// A person has said that the only etcd is gone for good.
#[test]
fn killed_second_beginning_of_a_cluster_finishes() {
    let before = simulate(async {
        let (world, directory) = World::created(&cluster(1, 1)).await;
        world.with(|model| {
            model.may_lose_quorum = true;
            model.wipe("cp-1");
        });
        world.settle().await;
        world.snapshot(&directory)
    });
    let rules = ["identity.maintenance=cp-1", "bootstrap.again", "create.configured"];
    let overrides = rules.map(overriding).to_vec();
    Case { creates: true, overrides, ..Case::new(before, cluster(1, 1)) }.sweep();
}

#[test]
fn killed_join_of_a_control_plane_finishes() {
    let before = created(&cluster(2, 0));
    Case::new(before, cluster(3, 0)).sweep();
}

#[test]
fn killed_change_without_reboot_finishes() {
    let before = created(&cluster(3, 1));
    Case::new(before, cluster_with(3, 1, WITHOUT_REBOOT)).sweep();
}

#[test]
fn killed_change_with_reboot_finishes() {
    let before = created(&cluster(3, 1));
    let case = Case::new(before, cluster_with(3, 1, WITH_REBOOT));
    Case { reboots: 1, ..case }.sweep();
}

#[test]
fn killed_change_with_reboot_of_the_only_control_plane_finishes() {
    let before = created(&cluster(1, 1));
    let case = Case::new(before, cluster_with(1, 1, WITH_REBOOT));
    let overrides = vec![overriding("quorum.only-voter")];
    Case { reboots: 1, overrides, ..case }.sweep();
}

#[test]
fn killed_destroy_finishes() {
    let cluster = cluster(3, 1);
    let case = Case::new(created(&cluster), cluster);
    let overrides = vec![overriding("quorum.destroy")];
    Case { goal: Goal::Destroyed, overrides, resumes: BOOTS, ..case }.sweep();
}

#[test]
fn killed_create_of_provided_machines_finishes() {
    let cluster = provided(3, 1);
    Case { creates: true, ..Case::new(new_world(&cluster), cluster) }.sweep();
}

#[test]
fn killed_growth_of_a_provided_pool_finishes() {
    let before = created(&provided(1, 1));
    Case::new(before, provided(1, 2)).sweep();
}

#[test]
fn killed_destroy_of_provided_machines_finishes() {
    let cluster = provided(3, 1);
    let case = Case::new(created(&cluster), cluster);
    let overrides = vec![overriding("quorum.destroy")];
    Case { goal: Goal::Destroyed, overrides, resumes: BOOTS, ..case }.sweep();
}

fn new_world(cluster: &Cluster) -> Snapshot {
    simulate(async { World::new(cluster).snapshot(&Directory::new("first")) })
}

fn created(cluster: &Cluster) -> Snapshot {
    simulate(async {
        let (world, directory) = World::created(cluster).await;
        world.snapshot(&directory)
    })
}

struct Case {
    before: Snapshot,
    cluster: Cluster,
    goal: Goal,
    overrides: Vec<Override>,
    creates: bool,
    /// How often each machine may be booted again.
    reboots: usize,
    /// How often a person starts it again at most, a minute later each time.
    resumes: usize,
    /// The engine that follows is killed as well.
    twice: bool,
    /// As many calls without an effect are kill points.
    looks: usize,
}

impl Case {
    fn new(before: Snapshot, cluster: Cluster) -> Self {
        let (goal, overrides) = (Goal::Spec, Vec::new());
        let looks = usize::try_from(testkit::cases(LOOKS)).expect("a count");
        let (creates, twice) = (false, false);
        Self { before, cluster, goal, overrides, creates, reboots: 0, resumes: 1, twice, looks }
    }

    fn begin(&self) -> (World, Directory) {
        let (world, directory) = self.before.restore();
        world.with(|model| {
            model.add(&self.cluster);
            model.may_lose_quorum = !self.overrides.is_empty();
        });
        (world, directory)
    }

    /// Kills at every call that has an effect, before and after it, and at some of the others.
    fn sweep(self) {
        let log = simulate(async {
            let (world, directory) = self.begin();
            let engine = Engine::new(&world, &directory);
            let want = ::engine::Want::Goal(self.goal, self.overrides.clone());
            let outcome = engine.run(&self.cluster, want).await.expect("an end");
            assert_eq!(said(&outcome), "complete");
            self.assert_done(&world, &directory).await;
            engine.log()
        });
        let looks = log.iter().filter(|label| !has_effect(label)).count();
        let stride = looks.div_ceil(self.looks).max(1);
        let mut look = 0;
        let mut wrong = Vec::new();
        for (number, label) in log.iter().enumerate() {
            look += usize::from(!has_effect(label));
            if !has_effect(label) && look % stride != 0 {
                continue;
            }
            for phase in &[KillPhase::Before, KillPhase::After] {
                let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    self.killed(number, *phase, label);
                }));
                if killed.is_err() {
                    wrong.push(format!("{phase:?} call {number}, {label}"));
                }
            }
        }
        assert!(wrong.is_empty(), "killed\n{}", wrong.join("\n"));
    }

    fn killed(&self, number: usize, phase: KillPhase, label: &str) {
        let at = format!("killed {phase:?} call {number}, {label}");
        simulate(async {
            let (world, directory) = self.begin();
            let engine = Engine::killed_at(&world, &directory, number, phase);
            let want = ::engine::Want::Goal(self.goal, self.overrides.clone());
            assert!(engine.run(&self.cluster, want).await.is_none(), "{at}: not reached");
            assert!(directory.is_free(), "{at}: the slot is not free");
            world.wait(Duration::from_secs(1)).await;
            if self.twice {
                // At another place each time; it may also come to its end before.
                let second = Engine::killed_at(&world, &directory, number * 7 % 101, phase);
                let _ = second.resume(&self.cluster, self.overrides.clone()).await;
                world.wait(Duration::from_secs(1)).await;
            }
            let mut outcomes = Vec::new();
            for _ in 0..self.resumes {
                let engine = Engine::new(&world, &directory);
                let goal = directory.ledger().unfinished.map_or(self.goal, |plan| plan.goal);
                assert_eq!(goal, self.goal, "{at}: goal");
                let want = ::engine::Want::Goal(goal, self.overrides.clone());
                let outcome = engine.run(&self.cluster, want).await.expect("an end");
                outcomes.push(said(&outcome));
                match outcome {
                    Ok(Outcome::Settled) => break,
                    Ok(Outcome::Ran(report))
                        if report.is_complete() && report.skipped.is_empty() =>
                    {
                        break;
                    }
                    _ => world.wait(Duration::from_mins(1)).await,
                }
            }
            let last = outcomes.last().map(String::as_str);
            assert!(matches!(last, Some("complete" | "settled")), "{at}: {outcomes:?}");
            self.assert_done(&world, &directory).await;
        });
    }

    async fn assert_done(&self, world: &World, directory: &Directory) {
        assert!(directory.is_free());
        let again = Engine::new(world, directory);
        let want = ::engine::Want::Goal(self.goal, self.overrides.clone());
        let outcome = again.run(&self.cluster, want).await.expect("an end");
        assert_eq!(said(&outcome), "settled");
        let ledger = directory.ledger();
        assert_eq!(ledger.configuring.len(), 0);
        assert_eq!(ledger.unfinished, None);
        world.settle().await;
        world.with(|model| {
            assert_eq!(model.bootstraps, usize::from(self.creates) + self.before.bootstraps());
            for (name, machine) in &model.machines {
                assert!(machine.reboots <= self.reboots, "{name} rebooted {}", machine.reboots);
                assert!(machine.resets <= 1, "{name} reset {} times", machine.resets);
            }
            let of_class =
                self.cluster.spec.machines().filter(|(machine, _)| machine.class().is_some());
            let of_class = of_class.count();
            assert_eq!(model.made, of_class, "machines made");
            match self.goal {
                Goal::Spec => {
                    assert_eq!(model.instances.len(), of_class, "machines at the provider");
                    self.assert_running(model, &ledger);
                }
                Goal::Destroyed => {
                    assert_eq!(model.instances.len(), 0, "machines at the provider");
                    assert!(model.machines.values().all(|machine| !machine.is_ours()));
                }
            }
        });
        if self.goal == Goal::Destroyed {
            // What is over does not stand in the way of a new beginning.
            assert_eq!((ledger.recorded.len(), ledger.resetting.len()), (0, 0));
            let creates = Engine::new(world, directory);
            assert_eq!(said(&creates.apply(&self.cluster, &[]).await), "complete");
        }
    }

    fn assert_running(&self, model: &Model, ledger: &::engine::journal::Ledger) {
        let mut renderer = self.cluster.renderer();
        for (machine, _) in self.cluster.spec.machines() {
            let wanted = renderer.config(&machine.name).expect("a configuration");
            let machine_name = machine.name.as_str();
            let has = model.machines[machine_name].config().expect("configured");
            let key = &self.cluster.key;
            assert_eq!(key.config(has), key.config(&wanted), "{machine_name}");
            let node =
                format!("node-{}-of-{machine_name}", model.machines[machine_name].installation);
            let recorded = ledger.recorded.get(&name(machine_name));
            assert_eq!(recorded.map(|node| node.0.as_str()), Some(node.as_str()));
        }
        let control_planes = self.cluster.spec.control_plane.machines.len();
        let voters = model.members.iter().filter(|(id, member)| member.voter && model.runs(**id));
        assert_eq!((voters.count(), model.members.len()), (control_planes, control_planes));
        let states = model.node_states();
        assert_eq!(states.len(), self.cluster.spec.machines().count());
        assert!(states.iter().all(|(_, state, _)| *state == NodeState::Ready));
    }
}

/// As many looks are kill points as give a test of seconds; `ICHOR_CASES` asks for more.
const LOOKS: u32 = 12;
/// A machine that is booting when an engine starts is left to the next one.
const BOOTS: usize = 3;
