//! One engine's ports to the world, with everything that can go wrong on the way.
//!
//! Every call has a label, such as `reboot cp-1` or `append StepDone`. A fault is attached to a label; an engine can be
//! killed right before and right after the effect of any call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::engine::journal::{Entry, Journal, JournalError, Ledger, Record, Slot, SlotGuard};
use ::engine::provider::{MachineKey, ProvidedMachine, Provider, no_credentials};
use ::engine::{
    ApiError, Approver, Clock, Cluster, Component, Entropy, Error, EtcdMembers, Event, EventSink,
    Kubernetes, LeaseRecord, Lifecycle, ListedMember, MachineAddress, Machines, MemberState,
    NextBoot, NodeStatus, Observed, Outcome, OwnMachine, PortError, Ports, Put, Stop, Vault, Want,
    converge,
};
use async_trait::async_trait;
use domain::{
    ApplyMode, BootId, ClassName, Digest, Disk, ErrorKind, MemberId, NodeIdentity, NodeName,
    ProviderId, TalosVersion, Timestamp,
};
use plan::{Approval, Approved, Checked, Draft, Goal, Override, Plan};
use talos_config::{Bundle, Coded, Config, Secret, SourceId};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::Instant;

use super::cluster::{BASE, address, overriding};
use super::model::{Model, No, Setup, Sight, boot_id};

/// Runs a test under a clock that moves only when nothing else can.
pub fn simulate<T>(test: impl Future<Output = T>) -> T {
    paused_runtime().block_on(test)
}

pub fn paused_runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().expect("a runtime")
}

/// The world that engines share.
#[derive(Clone)]
pub struct World {
    model: Arc<Mutex<Model>>,
    faults: Arc<Mutex<Vec<Fault>>>,
    began: Instant,
    /// The release that all machines run.
    pub talos: TalosVersion,
    /// Calls that changed something, in their order.
    pub calls: Arc<Mutex<Vec<String>>>,
}

/// A cluster's directory on some computer.
#[derive(Clone)]
pub struct Directory {
    journal: Arc<Mutex<JournalState>>,
    slot: Arc<AtomicUsize>,
    id: &'static str,
}

#[derive(Clone, Default)]
struct JournalState {
    records: Vec<Record>,
    ledger: Ledger,
    plans: BTreeMap<Digest, String>,
    kubeconfig: bool,
}

/// A world and a directory, to begin from again and again.
#[derive(Clone)]
pub struct Snapshot {
    model: Model,
    journal: JournalState,
    talos: TalosVersion,
}

/// Something that goes wrong when a call is made.
#[derive(Clone)]
struct Fault {
    label: String,
    /// So many calls pass before.
    skip: usize,
    times: usize,
    what: What,
}

/// What goes wrong.
#[derive(Clone)]
pub enum What {
    /// Nothing answers.
    Unreachable,
    /// It is refused, and that may pass.
    RefuseNow,
    /// It is refused for good.
    Refuse,
    /// A provider misses its credentials.
    NoCredentials,
    /// It is done, and the answer is lost.
    LoseAnswer,
    /// It was done before, says the answer.
    AlreadyDone,
    Delay(Duration),
    /// Something happens elsewhere right before.
    Meanwhile(Meanwhile),
}

/// Happens with the engine that makes the call, and in the world.
type Meanwhile = Arc<dyn Fn(&Engine, &mut Model) + Send + Sync>;

impl What {
    /// Something happens elsewhere right before the call.
    pub fn meanwhile(act: impl Fn(&mut Model) + Send + Sync + 'static) -> Self {
        Self::Meanwhile(Arc::new(move |_, model| act(model)))
    }
}

/// Before or after the effect of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KillPhase {
    Before,
    After,
}

/// One engine, from its start to its end.
pub struct Engine {
    pub world: World,
    pub directory: Directory,
    pub events: Mutex<Vec<Event>>,
    /// Labels of all calls.
    pub log: Mutex<Vec<String>>,
    kill_at: Option<(usize, KillPhase)>,
    kill_label: Option<(String, KillPhase)>,
    stop_at: Option<usize>,
    cancel_at: Option<usize>,
    /// How many calls it had made when it said that it stops.
    pub stopping_at: AtomicUsize,
    killed: watch::Sender<bool>,
    pub stop: watch::Sender<bool>,
    /// How far the time of day is ahead of the world's.
    pub wall_ahead: AtomicI64,
    /// How many seconds the monotonic clock is ahead of the world's, as one that counts a suspend is.
    pub monotonic_ahead: AtomicU64,
    approves: bool,
    random: AtomicU64,
    machine_calls: AtomicUsize,
    pub most_machine_calls: AtomicUsize,
    node_lists: AtomicUsize,
}

impl World {
    pub fn new(cluster: &Cluster) -> Self {
        Self::from_model(Model::new(cluster), cluster.spec.talos.clone())
    }

    fn from_model(model: Model, talos: TalosVersion) -> Self {
        Self {
            began: Instant::now() - model.now,
            model: Arc::new(Mutex::new(model)),
            faults: Arc::default(),
            talos,
            calls: Arc::default(),
        }
    }

    /// A world with a cluster that was created, and the directory that did it.
    pub async fn created(cluster: &Cluster) -> (Self, Directory) {
        let world = Self::new(cluster);
        let directory = Directory::new("first");
        let engine = Engine::new(&world, &directory);
        let outcome = engine.apply(cluster, &[]).await;
        assert_eq!(said(&outcome), "complete");
        assert_eq!(said(&engine.apply(cluster, &[]).await), "settled");
        world.calls().clear();
        world.settle().await;
        (world, directory)
    }

    /// Lets so much time pass that nothing is under way.
    pub async fn settle(&self) {
        self.wait(Duration::from_mins(3)).await;
    }

    pub async fn wait(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
        self.with(|_| ());
    }

    pub fn with<T>(&self, act: impl FnOnce(&mut Model) -> T) -> T {
        let now = self.began.elapsed();
        act(lock(&self.model).at(now))
    }

    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Nothing has happened that must never happen.
    pub fn assert_unharmed(&self) {
        assert_eq!(self.with(|model| model.violations.clone()), Vec::<String>::new());
    }

    pub fn calls(&self) -> MutexGuard<'_, Vec<String>> {
        lock(&self.calls)
    }

    /// Attaches a fault to the next call of this label.
    pub fn once(&self, label: &str, what: What) {
        self.fault(label, 0, 1, what);
    }

    /// Attaches a fault to all calls of this label.
    pub fn always(&self, label: &str, what: What) {
        self.fault(label, 0, usize::MAX, what);
    }

    pub fn fault(&self, label: &str, skip: usize, times: usize, what: What) {
        lock(&self.faults).push(Fault { label: label.to_owned(), skip, times, what });
    }

    /// Takes all faults of a label away.
    pub fn heal(&self, label: &str) {
        lock(&self.faults).retain(|fault| fault.label != label);
    }

    /// Something that happens right before a call.
    pub fn meanwhile(&self, label: &str, act: impl Fn(&mut Model) + Send + Sync + 'static) {
        self.once(label, What::meanwhile(act));
    }

    fn next_fault(&self, label: &str) -> Option<What> {
        let mut faults = lock(&self.faults);
        for fault in faults.iter_mut().filter(|fault| fault.times > 0) {
            let machine = label.split(' ').nth(1);
            if fault.label != label
                && label.split(' ').next() != Some(&fault.label)
                && machine != Some(&fault.label)
            {
                continue;
            }
            if fault.skip > 0 {
                fault.skip -= 1;
                continue;
            }
            fault.times = fault.times.saturating_sub(1);
            return Some(fault.what.clone());
        }
        None
    }

    pub fn snapshot(&self, directory: &Directory) -> Snapshot {
        let model = self.with(|model| model.clone());
        Snapshot { model, journal: lock(&directory.journal).clone(), talos: self.talos.clone() }
    }
}

impl Snapshot {
    pub fn bootstraps(&self) -> usize {
        self.model.bootstraps
    }

    pub fn restore(&self) -> (World, Directory) {
        let world = World::from_model(self.model.clone(), self.talos.clone());
        let directory = Directory::new("first");
        *lock(&directory.journal) = self.journal.clone();
        (world, directory)
    }
}

impl Directory {
    pub fn new(id: &'static str) -> Self {
        Self { journal: Arc::default(), slot: Arc::default(), id }
    }

    pub fn ledger(&self) -> Ledger {
        lock(&self.journal).ledger.clone()
    }

    pub fn entries(&self) -> Vec<Entry> {
        lock(&self.journal).records.iter().map(|record| record.entry.clone()).collect()
    }

    pub fn has(&self, kind: &str) -> bool {
        self.entries().iter().any(|entry| kind_of(entry) == kind)
    }

    /// Does in one moment what `ichor cancel` does: a plan that no engine carries out is abandoned, another one is asked to
    /// stop.
    pub fn cancel(&self, at: Timestamp) {
        let Some(unfinished) = self.ledger().unfinished else { return };
        let plan = unfinished.plan;
        lock(&self.journal).add(
            at,
            if self.is_free() {
                Entry::PlanCancelled { plan }
            } else {
                Entry::CancelRequested { plan }
            },
        );
    }

    pub fn is_free(&self) -> bool {
        self.slot.load(Relaxed) == 0
    }

    /// The kinds of entries since a number of them.
    pub fn kinds_since(&self, count: usize) -> Vec<&'static str> {
        self.entries()[count..].iter().map(kind_of).collect()
    }
}

impl JournalState {
    fn add(&mut self, at: Timestamp, entry: Entry) {
        self.ledger.fold(at, &entry);
        let number = self.records.len() as u64 + 1;
        self.records.push(Record { number, at, entry });
    }
}

impl Engine {
    pub fn new(world: &World, directory: &Directory) -> Self {
        Self {
            world: world.clone(),
            directory: directory.clone(),
            events: Mutex::default(),
            log: Mutex::default(),
            kill_at: None,
            kill_label: None,
            stop_at: None,
            cancel_at: None,
            stopping_at: AtomicUsize::new(usize::MAX),
            killed: watch::Sender::new(false),
            stop: watch::Sender::new(false),
            wall_ahead: AtomicI64::new(0),
            monotonic_ahead: AtomicU64::new(0),
            approves: true,
            random: AtomicU64::new(7),
            machine_calls: AtomicUsize::new(0),
            most_machine_calls: AtomicUsize::new(0),
            node_lists: AtomicUsize::new(0),
        }
    }

    pub fn without_approval(world: &World, directory: &Directory) -> Self {
        Self { approves: false, ..Self::new(world, directory) }
    }

    pub fn killed_at(world: &World, directory: &Directory, call: usize, when: KillPhase) -> Self {
        Self { kill_at: Some((call, when)), ..Self::new(world, directory) }
    }

    /// Is killed at the first call of this label.
    pub fn killed_at_label(
        world: &World,
        directory: &Directory,
        label: &str,
        phase: KillPhase,
    ) -> Self {
        Self { kill_label: Some((label.to_owned(), phase)), ..Self::new(world, directory) }
    }

    /// Is asked to stop when it makes this call.
    pub fn stopped_at(world: &World, directory: &Directory, call: usize) -> Self {
        Self { stop_at: Some(call), ..Self::new(world, directory) }
    }

    /// Another process cancels when it makes this call.
    pub fn cancelled_at(world: &World, directory: &Directory, call: usize) -> Self {
        Self { cancel_at: Some(call), ..Self::new(world, directory) }
    }

    pub fn ports(&self) -> Ports<'_> {
        Ports {
            machines: self,
            lifecycle: self,
            etcd: self,
            kubernetes: self,
            provider: self,
            vault: self,
            journal: self,
            clock: self,
            entropy: self,
            approver: self,
            stop: self,
            events: self,
            holder: self.directory.id,
        }
    }

    /// Until it ends or is killed.
    pub async fn run(&self, cluster: &Cluster, want: Want) -> Option<Result<Outcome, Error>> {
        let mut killed = self.killed.subscribe();
        let ports = self.ports();
        let outcome = tokio::select! {
            biased;
            _ = killed.wait_for(|killed| *killed) => None,
            outcome = converge(cluster, want, &ports) => Some(outcome),
        };
        self.world.assert_unharmed();
        outcome
    }

    pub async fn apply(&self, cluster: &Cluster, rules: &[&str]) -> Result<Outcome, Error> {
        let overrides = rules.iter().map(|rule| overriding(rule)).collect();
        self.run(cluster, Want::Goal(Goal::Spec, overrides)).await.expect("an end")
    }

    /// One pass and no more.
    pub async fn pass(&self, cluster: &Cluster, rules: &[&str]) -> Result<Outcome, Error> {
        let overrides = rules.iter().map(|rule| overriding(rule)).collect();
        let outcome =
            ::engine::run(cluster, Want::Goal(Goal::Spec, overrides), &self.ports()).await;
        self.world.assert_unharmed();
        outcome
    }

    pub async fn destroy(&self, cluster: &Cluster) -> Result<Outcome, Error> {
        self.world.with(|model| model.may_lose_quorum = true);
        let overrides = vec![overriding("quorum.destroy")];
        let outcome = self.run(cluster, Want::Goal(Goal::Destroyed, overrides)).await;
        self.world.with(|model| model.may_lose_quorum = false);
        outcome.expect("an end")
    }

    /// What the journal says was interrupted, or what the spec says.
    pub async fn resume(
        &self,
        cluster: &Cluster,
        overrides: Vec<Override>,
    ) -> Option<Result<Outcome, Error>> {
        let goal = self.directory.ledger().unfinished.map_or(Goal::Spec, |plan| plan.goal);
        self.run(cluster, Want::Goal(goal, overrides)).await
    }

    pub fn events(&self) -> Vec<Event> {
        lock(&self.events).clone()
    }

    pub fn log(&self) -> Vec<String> {
        lock(&self.log).clone()
    }

    pub fn node_lists(&self) -> usize {
        self.node_lists.load(Relaxed)
    }

    async fn call<T>(&self, label: String, act: impl FnOnce(&mut Model) -> T) -> Result<T, Lost> {
        let number = {
            let mut log = lock(&self.log);
            log.push(label.clone());
            log.len() - 1
        };
        if self.stop_at == Some(number) {
            self.stop.send_replace(true);
        }
        if self.cancel_at == Some(number) {
            self.directory.cancel(self.now());
        }
        self.die_at(number, &label, KillPhase::Before).await;
        let fault = self.world.next_fault(&label);
        tokio::time::sleep(LATENCY).await;
        match &fault {
            Some(What::Unreachable) => return Err(Lost::new(No::Unreachable)),
            Some(What::RefuseNow) => return Err(Lost::new(No::NotNow("not now"))),
            Some(What::Refuse) => return Err(Lost::new(No::Never("never"))),
            Some(What::NoCredentials) => return Err(Lost::new(No::Credentials)),
            Some(What::Delay(duration)) => tokio::time::sleep(*duration).await,
            Some(What::Meanwhile(act)) => self.world.with(|model| act(self, model)),
            Some(What::LoseAnswer | What::AlreadyDone) | None => {}
        }
        // Another call of this engine may have been the last one.
        if *self.killed.borrow() {
            std::future::pending::<()>().await;
        }
        if let Some(What::AlreadyDone) = fault {
            return Err(Lost::new(No::Already));
        }
        let value = self.world.with(act);
        self.die_at(number, &label, KillPhase::After).await;
        match fault {
            Some(What::LoseAnswer) => Err(Lost { happened: true, ..Lost::new(No::Unreachable) }),
            _ => Ok(value),
        }
    }

    /// Calls of other engines than the first are told apart.
    fn tag(&self) -> String {
        if self.directory.id == "first" {
            String::new()
        } else {
            format!(" ({})", self.directory.id)
        }
    }

    async fn die_at(&self, number: usize, label: &str, phase: KillPhase) {
        let by_label =
            self.kill_label.as_ref().is_some_and(|(at, when)| at == label && *when == phase);
        if by_label || self.kill_at == Some((number, phase)) {
            self.killed.send_replace(true);
        }
        if *self.killed.borrow() {
            std::future::pending::<()>().await;
        }
    }

    async fn machine_call<T>(
        &self,
        label: String,
        act: impl FnOnce(&mut Model) -> T,
    ) -> Result<T, Lost> {
        let _counted = Counted::new(&self.machine_calls, &self.most_machine_calls);
        self.call(label, act).await
    }

    /// A call to a machine that fails as the machine says, or on the way.
    async fn ask<T>(
        &self,
        label: String,
        act: impl FnOnce(&mut Model) -> Result<T, No>,
    ) -> Result<T, PortError> {
        let line = format!("{label}{}", self.tag());
        let is_change = changes(&label);
        let recorded = |model: &mut Model| {
            let done = act(model)?;
            if is_change {
                self.world.calls().push(line);
            }
            Ok(done)
        };
        match self.machine_call(label, recorded).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(no)) => Err(Lost::new(no).error()),
            Err(lost) => Err(lost.error()),
        }
    }

    async fn api<T>(&self, label: &str, act: impl FnOnce(&mut Model) -> T) -> Result<T, ApiError> {
        let answered = self.call(label.to_owned(), |model| model.api_answers().then(|| act(model)));
        match answered.await {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(ApiError::Unreachable(Lost::new(No::Unreachable).error())),
            Err(lost) if matches!(lost.no, No::Unreachable) => {
                Err(ApiError::Unreachable(lost.error()))
            }
            Err(lost) => Err(ApiError::Refused(lost.error())),
        }
    }

    async fn write<T>(
        &self,
        label: String,
        act: impl FnOnce(&mut JournalState, Timestamp) -> T,
    ) -> Result<T, JournalError> {
        let now = self.now();
        let journal = &self.directory.journal;
        let written = self.call(label, |_| act(&mut lock(journal), now)).await;
        written.map_err(|lost| std::io::Error::other(lost.error()).into())
    }
}

/// A call that failed on its way.
struct Lost {
    no: No,
    happened: bool,
}

impl Lost {
    fn new(no: No) -> Self {
        Self { no, happened: false }
    }

    fn error(self) -> PortError {
        let (code, kind, message) = match self.no {
            No::Credentials => return no_credentials("model", "MODEL_TOKEN is not set"),
            No::Unreachable => ("machine.unreachable", ErrorKind::Retryable, "connection refused"),
            No::NotNow(why) => ("machine.not-now", ErrorKind::Retryable, why),
            No::Already => (ALREADY, ErrorKind::Permanent, "it was done before"),
            No::Never(why) => ("machine.refused", ErrorKind::Permanent, why),
        };
        let may_have_happened = self.happened;
        PortError { may_have_happened, ..PortError::new(code, kind, message) }
    }
}

/// Counts calls that are under way.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(now: &'a AtomicUsize, most: &AtomicUsize) -> Self {
        most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
        Self(now)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[async_trait]
impl Machines for Engine {
    async fn observe(&self, machine: &MachineAddress) -> Observed {
        let name = machine.name.as_str();
        let talos = self.world.talos.clone();
        let look = |model: &mut Model| {
            let now = model.now;
            let machine = model.machine(name);
            let sight = machine.sight(now);
            match (&machine.setup, sight) {
                (_, Sight::Down) => Observed::Unreachable("connection refused".to_owned()),
                (Setup::Maintenance, _) => Observed::Maintenance,
                (Setup::Foreign, _) => Observed::Foreign,
                (Setup::Ours { config, staged, .. }, sight) => {
                    let installed = sight == Sight::Up;
                    let node = NodeIdentity(format!("node-{}-of-{name}", machine.installation));
                    let boot = boot_id(name, machine);
                    let boot = if installed { boot } else { format!("{boot}-installing") };
                    let node_name: NodeName = machine.node_name.parse().expect("a name");
                    Observed::Ours(Box::new(OwnMachine {
                        node: installed.then_some(node),
                        boot: Some(BootId(boot)),
                        talos,
                        config: Some(config.clone()),
                        next_boot: match staged {
                            Some(staged) => NextBoot::Other(Box::new(staged.clone())),
                            None => NextBoot::Same,
                        },
                        addresses: vec![address(name), machine.peer_address.clone()],
                        node_name: installed.then_some(node_name),
                        is_settled: installed,
                    }))
                }
            }
        };
        match self.machine_call(format!("observe {name}"), look).await {
            Ok(observed) => observed,
            Err(lost) => Observed::Unreachable(lost.error().message),
        }
    }

    async fn disks(&self, machine: &MachineAddress) -> Result<Vec<Disk>, String> {
        let label = format!("disks {}", machine.name);
        self.machine_call(label, |_| ()).await.map_err(|lost| lost.error().message)?;
        Err("Talos is installed already".to_owned())
    }

    async fn components(&self, machine: &MachineAddress) -> Result<Vec<Component>, PortError> {
        let name = machine.name.as_str();
        let unwell = self.ask(format!("components {name}"), |model| model.unwell(name)).await?;
        Ok(vec![Component {
            name: "kube-scheduler".to_owned(),
            state: "Running".to_owned(),
            is_healthy: unwell.is_none(),
            reason: unwell.unwrap_or_default().to_owned(),
        }])
    }

    async fn kubeconfig(&self, machine: &MachineAddress) -> Result<Secret<String>, PortError> {
        let name = machine.name.as_str();
        self.ask(format!("kubeconfig {name}"), |model| model.list(name)).await?;
        Ok(Secret::new("credentials".to_owned()))
    }
}

#[async_trait]
impl Lifecycle for Engine {
    async fn apply_config(
        &self,
        machine: &MachineAddress,
        config: &Secret<String>,
        mode: ApplyMode,
    ) -> Result<(), PortError> {
        let name = machine.name.as_str();
        let how = match mode {
            ApplyMode::Maintenance => "maintenance",
            ApplyMode::NoReboot => "no-reboot",
            ApplyMode::Staged => "staged",
        };
        let text = config.expose();
        // A machine in maintenance installs the release that it is given.
        if mode != ApplyMode::Maintenance {
            let given = Config::parse(text, SourceId::default()).expect("a configuration");
            for (what, since) in given.newer_than(self.world.talos.contract()) {
                let violation = format!("{name} was given {what}, which came with Talos {since}");
                self.world.with(|model| model.violations.push(violation));
            }
        }
        self.ask(format!("apply-config {name} {how}"), |model| model.apply(name, text, mode)).await
    }

    async fn reboot(&self, machine: &MachineAddress) -> Result<(), PortError> {
        let name = machine.name.as_str();
        self.ask(format!("reboot {name}"), |model| model.reboot(name)).await
    }

    async fn reset(&self, machine: &MachineAddress) -> Result<(), PortError> {
        let name = machine.name.as_str();
        self.ask(format!("reset {name}"), |model| model.reset(name)).await
    }

    async fn bootstrap(&self, machine: &MachineAddress) -> Result<bool, PortError> {
        let name = machine.name.as_str();
        let called = self.ask(format!("bootstrap {name}"), |model| model.bootstrap(name)).await;
        called.or_else(|error| if error.code == ALREADY { Ok(false) } else { Err(error) })
    }

    async fn forfeit_leadership(&self, machine: &MachineAddress) -> Result<(), PortError> {
        let name = machine.name.as_str();
        self.ask(format!("forfeit {name}"), |model| model.forfeit(name)).await
    }
}

#[async_trait]
impl EtcdMembers for Engine {
    async fn status(&self, machine: &MachineAddress) -> Result<Option<MemberState>, PortError> {
        let name = machine.name.as_str();
        let state = self.ask(format!("status {name}"), |model| model.status(name)).await?;
        Ok(state.map(|(id, leader, applied)| MemberState {
            id: MemberId(id),
            leader: leader.map(MemberId),
            applied,
        }))
    }

    async fn list(&self, machine: &MachineAddress) -> Result<Vec<ListedMember>, PortError> {
        let name = machine.name.as_str();
        let members = self.ask(format!("members {name}"), |model| model.list(name)).await?;
        let listed = members.into_iter().map(|(id, name, address, voter)| ListedMember {
            id: MemberId(id),
            name,
            addresses: vec![address],
            voter,
        });
        Ok(listed.collect())
    }
}

#[async_trait]
impl Kubernetes for Engine {
    async fn nodes(&self) -> Result<Vec<NodeStatus>, ApiError> {
        self.node_lists.fetch_add(1, Relaxed);
        let nodes = self.api("nodes", |model| model.node_states()).await?;
        let status = |(name, state, boot): (String, _, _)| {
            let name = name.parse().expect("a name");
            NodeStatus { name, state, boot }
        };
        Ok(nodes.into_iter().map(status).collect())
    }

    async fn lease(&self) -> Result<Option<LeaseRecord>, ApiError> {
        self.api("lease", |model| model.lease.clone()).await
    }

    async fn put_lease(&self, lease: &LeaseRecord) -> Result<Put, ApiError> {
        self.api("put-lease", |model| model.put_lease(lease)).await
    }
}

#[async_trait]
impl Provider for Engine {
    fn name(&self) -> &'static str {
        "model"
    }

    async fn ensure(
        &self,
        key: &MachineKey,
        class: &ClassName,
    ) -> Result<ProvidedMachine, PortError> {
        let label = format!("ensure {} {class} {}", key.machine, key.generation);
        self.ask(label, |model| Ok(model.ensure(key))).await
    }

    async fn destroy(&self, id: &ProviderId) -> Result<(), PortError> {
        self.ask(format!("destroy {id}"), |model| {
            model.take_away(id);
            Ok(())
        })
        .await
    }

    async fn list(&self, cluster: Digest) -> Result<Vec<ProvidedMachine>, PortError> {
        self.ask("list-machines".to_owned(), |model| Ok(model.all_provided(cluster))).await
    }
}

#[async_trait]
impl Vault for Engine {
    async fn read(&self) -> Result<Option<Bundle>, PortError> {
        Ok(None)
    }

    async fn has_kubeconfig(&self) -> bool {
        lock(&self.directory.journal).kubeconfig
    }

    async fn keep_kubeconfig(&self, _kubeconfig: &Secret<String>) -> Result<(), PortError> {
        let keep = self.write("keep-kubeconfig".to_owned(), |state, _| state.kubeconfig = true);
        keep.await.map_err(|_| Lost::new(No::Never("the disk is full")).error())
    }
}

#[async_trait]
impl Journal for Engine {
    async fn read(&self) -> Result<Vec<Record>, JournalError> {
        Ok(lock(&self.directory.journal).records.clone())
    }

    async fn ledger(&self) -> Result<Ledger, JournalError> {
        Ok(self.directory.ledger())
    }

    async fn append(&self, entry: Entry) -> Result<(), JournalError> {
        let label = format!("append {}", kind_of(&entry));
        self.write(label, |state, at| state.add(at, entry)).await
    }

    async fn acquire(&self, _slot: Slot) -> Result<SlotGuard, JournalError> {
        let slot = &self.directory.slot;
        let acquired = self.write("acquire".to_owned(), |state, _| {
            match slot.compare_exchange(0, 1, Relaxed, Relaxed) {
                Ok(_) => Ok(Held(Arc::clone(slot))),
                Err(_) => Err(state.ledger.holder.clone()),
            }
        });
        match acquired.await? {
            Ok(held) => Ok(SlotGuard::new(self.directory.id.to_owned(), held)),
            Err(holder) => Err(JournalError::Busy(holder)),
        }
    }

    async fn store_plan(&self, plan: &Plan<Approved>) -> Result<(), JournalError> {
        let (hash, text) = (plan.hash(), plan.encode());
        let stored = self.write("store-plan".to_owned(), |state, _| state.plans.insert(hash, text));
        stored.await.map(drop)
    }

    async fn stored_plan(&self, plan: Digest) -> Option<Plan<Draft>> {
        let state = lock(&self.directory.journal);
        state.plans.get(&plan).and_then(|text| Plan::decode(text).ok())
    }
}

/// A slot of the journal, until it is dropped.
struct Held(Arc<AtomicUsize>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(0, Relaxed);
    }
}

#[async_trait]
impl Clock for Engine {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.world.now().as_secs()).expect("seconds");
        Timestamp(BASE.0 + passed + self.wall_ahead.load(Relaxed))
    }

    fn monotonic(&self) -> Duration {
        self.world.now() + Duration::from_secs(self.monotonic_ahead.load(Relaxed))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

impl Entropy for Engine {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            let step = |state: u64| state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let state = self.random.fetch_update(Relaxed, Relaxed, |state| Some(step(state)));
            *byte = state.unwrap_or_else(|state| state).to_be_bytes()[0];
        }
    }
}

#[async_trait]
impl Approver for Engine {
    async fn approve(&self, plan: &Plan<Checked>) -> Result<Option<Approval>, PortError> {
        self.call("approve".to_owned(), |_| ()).await.map_err(Lost::error)?;
        let before = self.directory.ledger().approved.filter(|given| given.plan == plan.hash());
        let now = || Approval { plan: plan.hash(), by: "a test".to_owned(), at: self.now() };
        Ok(before.or_else(|| self.approves.then(now)))
    }
}

#[async_trait]
impl Stop for Engine {
    async fn requested(&self) {
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }
}

impl EventSink for Engine {
    fn emit(&self, event: &Event) {
        // The model looks whether anything is broken now.
        self.world.with(|_| ());
        if *event == Event::Stopping {
            self.stopping_at.store(lock(&self.log).len(), Relaxed);
        }
        lock(&self.events).push(event.clone());
    }
}

/// How it ended, in a word or two; machines that were left out included.
pub fn said(outcome: &Result<Outcome, Error>) -> String {
    match outcome {
        Ok(Outcome::Settled) => "settled".to_owned(),
        Ok(Outcome::Blocked(skipped)) => format!("blocked: {}", list(skipped)),
        Ok(Outcome::NeedsApproval(_)) => "needs approval".to_owned(),
        Ok(Outcome::Outdated(refusal)) => format!("outdated: {}", refusal.code()),
        Ok(Outcome::Ran(report)) => {
            let mut parts = Vec::new();
            if report.stopped {
                parts.push("stopped".to_owned());
            }
            for failure in &report.failures {
                parts.push(format!("{} failed: {}", failure.on, failure.error.code));
            }
            if !report.left.is_empty() {
                parts.push(format!("{} steps left", report.left.len()));
            }
            if parts.is_empty() {
                parts.push("complete".to_owned());
            }
            if !report.skipped.is_empty() {
                parts.push(format!("skipped {}", list(&report.skipped)));
            }
            parts.join("; ")
        }
        Err(error) => error.code().to_owned(),
    }
}

fn list(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Whether a call changes a machine, the cluster or what is kept.
fn changes(label: &str) -> bool {
    const CHANGES: [&str; 7] =
        ["apply-config", "reboot", "reset", "bootstrap", "forfeit", "ensure", "destroy"];
    CHANGES.iter().any(|verb| label.starts_with(verb))
}

/// Whether a kill at this call is another case than at the call before.
pub fn has_effect(label: &str) -> bool {
    const EFFECTS: [&str; 5] = ["append", "acquire", "store-plan", "keep-kubeconfig", "put-lease"];
    changes(label) || EFFECTS.iter().any(|verb| label.starts_with(verb))
}

pub fn kind_of(entry: &Entry) -> &'static str {
    match entry {
        Entry::PlanApproved(_) => "PlanApproved",
        Entry::PlanStarted { .. } => "PlanStarted",
        Entry::StepStarted { .. } => "StepStarted",
        Entry::StepDone { .. } => "StepDone",
        Entry::StepFailed { .. } => "StepFailed",
        Entry::MachineConfiguring { .. } => "MachineConfiguring",
        Entry::MachineRejected { .. } => "MachineRejected",
        Entry::MachineRecorded { .. } => "MachineRecorded",
        Entry::MachineResetting { .. } => "MachineResetting",
        Entry::EtcdBootstrapping { .. } => "EtcdBootstrapping",
        Entry::MachineForgotten { .. } => "MachineForgotten",
        Entry::MachineProviding { .. } => "MachineProviding",
        Entry::MachineDestroying { .. } => "MachineDestroying",
        Entry::MachineDestroyed { .. } => "MachineDestroyed",
        Entry::PlanEnded { .. } => "PlanEnded",
        Entry::CancelRequested { .. } => "CancelRequested",
        Entry::PlanCancelled { .. } => "PlanCancelled",
    }
}

pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const ALREADY: &str = "machine.already-done";
/// A call over a network.
const LATENCY: Duration = Duration::from_millis(10);
