//! Level `interop`: engines that share a cluster, before its real Kubernetes API.

mod machines;
mod proxy;
mod site;

use std::process::{Child, Command};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use domain::Timestamp;
use engine::journal::{Entry, Journal, Record};
use engine::live::SystemClock;
use engine::{Event, Kubernetes, Outcome};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use talos_config::{Coded, Secret};
use tokio::runtime;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

use machines::{Disturbance, Engine, Origin, World, disturbances, failures, until};
use proxy::Proxy;
use site::{LeaseState, Site};

#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn of_two_engines_that_find_no_lease_one_runs() {
    race(LeaseState::None, 40).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn of_two_engines_that_find_an_expired_lease_one_runs() {
    race(LeaseState::Expired, 20).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn of_two_engines_that_find_a_released_lease_one_runs() {
    race(LeaseState::Released, 40).await;
}

/// Lets two engines start at the same moment, again and again.
async fn race(state: LeaseState, count: usize) {
    let site = Site::start().await;
    let origin = Origin::now();
    for number in 0..count {
        let before = site.set_lease(state).await;
        let world = site.world(&number.to_string());
        // The engine that gets the lease is at work for as long as the other one tries.
        world.hold("boot w-1");
        let engine = |name| site.engine(&world, name, site.address(), origin.clock(FAST, 0));
        let (one, other) = (engine("a"), engine("b"));
        let (mut one_runs, mut other_runs) = (start(&one), start(&other));
        let (winner, won, loser, lost) = tokio::select! {
            biased;
            lost = one_runs.ended() => (other, other_runs, one, lost),
            lost = other_runs.ended() => (one, one_runs, other, lost),
        };
        let lost = lost.expect_err("one engine has to stay out");
        assert_eq!(lost.code(), "lease.held", "{state:?} {number}: {lost}");
        world.release("boot w-1");
        assert_complete(&won.end().await);

        let fencing = before + 1;
        let events = winner.lease_events();
        assert_eq!(events.last(), Some(&Event::LeaseAcquired { fencing }), "{number}");
        let events = loser.lease_events();
        assert!(
            events.iter().all(|event| matches!(event, Event::LeaseAwaited { .. })),
            "{number}: {events:?}"
        );
        let of = |engine: &str| ["w-1", "w-2", "w-3", "w-4"].map(|name| format!("{engine} {name}"));
        let reboots = world.reboots();
        assert!(reboots == of("a") || reboots == of("b"), "{number}: {reboots:?}");
        let (a, b) = (world.journal("a"), world.journal("b"));
        let (of_a, of_b) = (disturbances(&a).await, disturbances(&b).await);
        assert!(of_a.is_empty() != of_b.is_empty(), "{number}: {of_a:?} {of_b:?}");
        let (winner, loser) = if of_b.is_empty() { (a, b) } else { (b, a) };
        let started = winner.read().await.expect("a journal").into_iter().find_map(|record| {
            match record.entry {
                Entry::PlanStarted { fencing, .. } => Some(fencing),
                _ => None,
            }
        });
        assert_eq!(started, Some(Some(fencing)), "{number}");
        assert!(!has_started(&loser.read().await.expect("a journal")), "{number}");
    }
}

/// While an engine is at work its lease says what it carries out.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn a_lease_names_the_plan_that_is_carried_out() {
    let site = Site::start().await;
    let world = site.world("named");
    world.hold("boot w-1");
    let engine = site.engine(&world, "a", site.address(), Origin::now().clock(FAST, 0));
    let runs = start(&engine);
    until("a reboot", async || is_rebooted(&world, "a w-1")).await;
    let lease = site.kubernetes().lease().await.expect("an answer").expect("a lease");
    let unfinished = world.journal("a").ledger().await.unwrap().unfinished.expect("a plan");
    assert_eq!(lease.plan, Some(unfinished.plan));
    world.release("boot w-1");
    assert_complete(&runs.end().await);
    let lease = site.kubernetes().lease().await.expect("an answer").expect("a lease");
    assert_eq!((lease.holder, lease.plan), (None, None));
}

/// An API that answers and refuses is not one that is away: nothing is disturbed without its lease.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn an_engine_that_the_api_refuses_disturbs_nothing() {
    let (site, other) = (Site::start().await, Site::start().await);
    let origin = Origin::now();
    // Signed by the authority of another cluster, and without any rights here.
    for (name, kubeconfig, said) in [
        ("foreign", site.kubeconfig_with(&other.users()), "Unauthorized"),
        ("powerless", site.kubeconfig_with(&[]), "forbidden"),
    ] {
        let world = site.world(name);
        let engine = Engine::new(&world, "a", kubeconfig, origin.clock(FAST, 0));
        let refused = engine.run().await.expect_err("a refusal");
        assert!(refused.to_string().contains(said), "{name}: {refused}");
        assert_eq!(world.reboots(), Vec::<String>::new(), "{name}: {refused}");
        assert!(!has_started(&world.journal("a").read().await.unwrap()), "{name}: {refused}");
    }
}

/// A list comes in pages.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn all_nodes_of_a_large_cluster_are_listed() {
    let site = Site::start().await;
    let before = site.kubernetes().nodes().await.expect("nodes").len();
    site.add_nodes(1100).await;
    assert_eq!(site.kubernetes().nodes().await.expect("nodes").len(), before + 1100);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn an_engine_whose_clock_is_an_hour_off_takes_only_the_lease_of_a_dead_one() {
    let site = Site::start().await;
    for skew in [3600, -3600] {
        site.set_lease(LeaseState::None).await;
        let world = site.world(&skew.to_string());
        world.hold("boot w-1");
        world.hold("look a w-2");
        let origin = Origin::now();
        let a = site.engine(&world, "a", site.address(), origin.clock(FAST, 0));
        let a_runs = start(&a);
        until("a reboot", async || is_rebooted(&world, "a w-1")).await;

        let b = site.engine(&world, "b", site.address(), origin.clock(FAST, skew));
        let held = start(&b).end().await.expect_err("the first engine is alive");
        assert_eq!(held.code(), "lease.held");
        assert!(matches!(b.lease_events()[..], [Event::LeaseAwaited { .. }]));
        assert!(!has_started(&world.journal("b").read().await.unwrap()), "skew {skew}");

        drop(a_runs);
        world.release("boot w-1");
        let b = site.engine(&world, "b", site.address(), origin.clock(FAST, skew));
        assert_complete(&start(&b).end().await);
        let [Event::LeaseAwaited { .. }, acquired] = &b.lease_events()[..] else {
            panic!("skew {skew}: {:?}", b.lease_events());
        };
        assert_eq!(*acquired, Event::LeaseAcquired { fencing: 2 });
        assert_eq!(world.reboots(), ["a w-1", "a w-3", "a w-4", "b w-2"], "skew {skew}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn an_engine_that_is_cut_off_from_the_api_disturbs_nothing_beside_the_next_one() {
    let site = Site::start().await;
    let world = site.world("cut");
    hold_for_takeover(&world);
    let proxy = Proxy::start(site.address()).await;
    let origin = Origin::now();
    let a = site.engine(&world, "a", proxy.address, origin.clock(BRISK, 0));
    let a_runs = start(&a);
    disturbed_by_first(&world).await;
    proxy.cut();

    let b = site.engine(&world, "b", site.address(), origin.clock(BRISK, 0));
    let b_runs = start(&b);
    until("a reboot by the second engine", async || is_rebooted(&world, "b w-2")).await;
    world.release("look a w-3");
    let journal = world.journal("a");
    until("the end of the first engine's step", async || {
        !failures(&journal.read().await.unwrap()).is_empty()
    })
    .await;
    assert_eq!(failures(&journal.read().await.unwrap()), ["lease.unavailable"]);

    proxy.heal();
    until("the loss of the lease", async || {
        matches!(
            a.lease_events()[..],
            [Event::LeaseAcquired { fencing: 1 }, Event::LeaseLost { .. }]
        )
    })
    .await;
    world.release("look a w-2");
    assert_incomplete(&a_runs.end().await);
    world.release("look b w-3");
    world.release("boot w-2");
    assert_complete(&b_runs.end().await);
    assert_taken_over(&world).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn an_engine_that_was_cut_off_does_not_go_on_under_a_lease_that_is_free_again() {
    let site = Site::start().await;
    let world = site.world("free");
    for machine in ["w-2", "w-3", "w-4"] {
        world.hold(&format!("look a {machine}"));
    }
    // A machine that the second engine leaves alone.
    world.hold("way b w-4");
    let proxy = Proxy::start(site.address()).await;
    let origin = Origin::now();
    let a = site.engine(&world, "a", proxy.address, origin.clock(BRISK, 0));
    let a_runs = start(&a);
    until("a reboot", async || is_rebooted(&world, "a w-1")).await;
    proxy.cut();

    let b = site.engine(&world, "b", site.address(), origin.clock(BRISK, 0));
    assert_complete(&start(&b).end().await);
    proxy.heal();
    world.release("look a w-4");
    let journal = world.journal("a");
    until("the end of the first engine's step", async || {
        !failures(&journal.read().await.unwrap()).is_empty() || is_rebooted(&world, "a w-4")
    })
    .await;
    world.release("look a w-2");
    world.release("look a w-3");
    // What its plan was checked against is not what is there any more.
    assert_incomplete(&a_runs.end().await);
    assert_eq!(world.reboots(), ["a w-1", "b w-2", "b w-3"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn an_engine_that_is_held_up_in_a_step_disturbs_nothing_once_its_lease_has_run_out() {
    let site = Site::start().await;
    let world = site.world("held");
    // On one machine the first engine stands between the start of its step and the call.
    for what in ["reboot a w-3", "look a w-2", "look b w-3", "boot w-2"] {
        world.hold(what);
    }
    let proxy = Proxy::start(site.address()).await;
    let origin = Origin::now();
    let a = site.engine(&world, "a", proxy.address, origin.clock(BRISK, 0));
    let a_runs = start(&a);
    disturbed_by_first(&world).await;
    let journal = world.journal("a");
    until("the start of the step", async || {
        disturbances(&journal).await.iter().any(|step| step.on.to_string() == "w-3")
    })
    .await;
    proxy.cut();

    let b = site.engine(&world, "b", site.address(), origin.clock(BRISK, 0));
    let b_runs = start(&b);
    until("a reboot by the second engine", async || is_rebooted(&world, "b w-2")).await;
    world.release("reboot a w-3");
    until("the end of the first engine's step", async || {
        let steps = disturbances(&journal).await;
        steps.iter().any(|step| step.on.to_string() == "w-3" && step.to.is_some())
    })
    .await;
    let steps = disturbances(&journal).await;
    let step = steps.iter().find(|step| step.on.to_string() == "w-3").unwrap();
    assert_eq!(step.failed.as_deref(), Some("lease.unavailable"));
    proxy.heal();
    world.release("look a w-2");
    assert_incomplete(&a_runs.end().await);
    world.release("look b w-3");
    world.release("boot w-2");
    assert_complete(&b_runs.end().await);
    assert_eq!(world.reboots(), ["a w-1", "a w-4", "b w-2", "b w-3"]);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn a_lease_that_was_deleted_is_made_again() {
    let site = Site::start().await;
    let before = site.set_lease(LeaseState::Released).await;
    let world = site.world("deleted");
    world.hold("boot w-1");
    let origin = Origin::now();
    let a = site.engine(&world, "a", site.address(), origin.clock(FAST, 0));
    let a_runs = start(&a);
    until("a reboot", async || is_rebooted(&world, "a w-1")).await;
    site.set_lease(LeaseState::None).await;
    let kubernetes = site.kubernetes();
    until("the lease", async || kubernetes.lease().await.unwrap().is_some()).await;
    let lease = kubernetes.lease().await.unwrap().unwrap();
    assert!(lease.holder.is_some_and(|holder| holder.starts_with("a ")));
    assert_eq!(lease.fencing, before + 1, "the number of the plan that goes on");
    world.release("boot w-1");
    assert_complete(&a_runs.end().await);
}

/// The first engine is a process of its own: this test once more, with a variable that names the machines.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "level interop: needs etcd and kube-apiserver (cargo xtask test)"]
async fn an_engine_that_was_stopped_for_two_minutes_disturbs_nothing_beside_the_next_one() {
    if let Some(directory) = environment(STOPPED) {
        let world = World::open(directory.into());
        let kubeconfig = fs_err::read_to_string(world.path().join("kubeconfig")).unwrap();
        let a = Engine::new(&world, "a", Secret::new(kubeconfig), Arc::new(SystemClock));
        return assert_incomplete(&a.run().await);
    }
    let site = Site::start().await;
    let world = site.world("stopped");
    let kubeconfig = site.kubeconfig(site.address());
    fs_err::write(world.path().join("kubeconfig"), kubeconfig.expose()).unwrap();
    hold_for_takeover(&world);
    let mut a = Process::start(
        "an_engine_that_was_stopped_for_two_minutes_disturbs_nothing_beside_the_next_one",
        &world,
    );
    disturbed_by_first(&world).await;
    a.signal(Signal::SIGSTOP);
    let two_minutes = Instant::now() + Duration::from_mins(2);

    let b = site.engine(&world, "b", site.address(), Arc::new(SystemClock));
    let b_runs = start(&b);
    until("a reboot by the second engine", async || is_rebooted(&world, "b w-2")).await;
    sleep_until(two_minutes).await;
    // The first thing that the engine does after it was stopped is to start its next disruptive step.
    world.release("look a w-3");
    world.release("look a w-2");
    let awake = SystemClock::time();
    a.signal(Signal::SIGCONT);
    assert!(a.0.wait().unwrap().success(), "the engine that was stopped ends without harm");

    world.release("look b w-3");
    world.release("boot w-2");
    assert_complete(&b_runs.end().await);
    assert_taken_over(&world).await;
    let journal = world.journal("a");
    assert!(disturbances(&journal).await.iter().all(|step| step.from < awake));
    // One machine is the other engine's by the lease, and one has left the plan's facts by that engine's reboot: which of
    // the two is seen first is a matter of luck.
    let failed = failures(&journal.read().await.unwrap());
    let expected = ["lease.held", "engine.precondition"];
    assert!(
        !failed.is_empty() && failed.iter().all(|code| expected.contains(&code.as_str())),
        "{failed:?}"
    );
}

/// An engine of this test executable.
struct Process(Child);

impl Process {
    fn start(test: &str, world: &World) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this executable"));
        command.args(["--exact", test, "--ignored", "--nocapture"]).env(STOPPED, world.path());
        Self(command.spawn().expect("a process"))
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.0.id().try_into().expect("an id of a process"));
        kill(pid, signal).expect("a process");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What lets a second engine take over in the middle: the first one stands before its steps on two machines, the second
/// one is in the middle of the one and stands before the other.
fn hold_for_takeover(world: &World) {
    for what in ["look a w-2", "look a w-3", "look b w-3", "boot w-2"] {
        world.hold(what);
    }
}

/// Waits until the first engine has done what it is not held back from.
async fn disturbed_by_first(world: &World) {
    let journal = world.journal("a");
    until("the first engine's steps", async || {
        let steps = disturbances(&journal).await;
        let done =
            |name: &str| steps.iter().any(|step| step.on.to_string() == name && step.to.is_some());
        done("w-1") && done("w-4")
    })
    .await;
}

/// The one engine has disturbed two machines, and the other one the rest: by both journals at different times.
async fn assert_taken_over(world: &World) {
    assert_eq!(world.reboots(), ["a w-1", "a w-4", "b w-2", "b w-3"]);
    let a = disturbances(&world.journal("a")).await;
    let b = disturbances(&world.journal("b")).await;
    let on = |steps: &[Disturbance]| {
        let mut on: Vec<String> = steps.iter().map(|step| step.on.to_string()).collect();
        on.sort();
        on
    };
    assert_eq!(
        (on(&a), on(&b)),
        (["w-1", "w-4"].map(str::to_owned).into(), ["w-2", "w-3"].map(str::to_owned).into())
    );
    for one in &a {
        for other in &b {
            let apart = |first: &Disturbance, second: &Disturbance| {
                first.to.is_some_and(|end: Timestamp| end <= second.from)
            };
            assert!(apart(one, other) || apart(other, one), "{one:?} {other:?}");
        }
    }
}

/// An engine that runs on a thread of its own, until its end or that of this value: then it was killed.
struct Running {
    ended: oneshot::Receiver<Result<Outcome, engine::Error>>,
    thread: Option<JoinHandle<()>>,
}

fn start(engine: &Arc<Engine>) -> Running {
    let engine = Arc::clone(engine);
    let (mut end, ended) = oneshot::channel();
    let thread = std::thread::spawn(move || {
        let runtime =
            runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            tokio::select! {
                biased;
                outcome = engine.run() => drop(end.send(outcome)),
                () = end.closed() => {}
            }
        });
    });
    Running { ended, thread: Some(thread) }
}

impl Running {
    async fn ended(&mut self) -> Result<Outcome, engine::Error> {
        (&mut self.ended).await.expect("an engine that does not panic")
    }

    async fn end(mut self) -> Result<Outcome, engine::Error> {
        self.ended().await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ended.close();
        // What has panicked has said so.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn is_rebooted(world: &World, what: &str) -> bool {
    world.reboots().iter().any(|reboot| reboot == what)
}

fn has_started(records: &[Record]) -> bool {
    records.iter().any(|record| matches!(record.entry, Entry::StepStarted { .. }))
}

#[track_caller]
fn assert_complete(outcome: &Result<Outcome, engine::Error>) {
    assert!(
        matches!(outcome, Ok(Outcome::Ran(report)) if report.is_complete()),
        "not complete: {outcome:?}"
    );
}

#[track_caller]
fn assert_incomplete(outcome: &Result<Outcome, engine::Error>) {
    assert!(
        matches!(outcome, Ok(Outcome::Ran(report)) if !report.is_complete()),
        "complete: {outcome:?}"
    );
}

#[expect(clippy::disallowed_methods, reason = "how a test reaches itself in another process")]
fn environment(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

/// The directory of the machines, for the engine that is stopped.
const STOPPED: &str = "ICHOR_TEST_STOPPED";
/// A minute takes three seconds: long enough for an API server on a busy machine to answer many times.
const FAST: u32 = 20;
/// For tests in which an API that does not answer, within the five seconds that it is given, has to cost less than a
/// minute.
const BRISK: u32 = 10;
