//! Machines as files, so that engines of several processes act on the same ones; and an engine before them.
//!
//! A file in `holds` keeps something from going on until a test removes it.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::{
    ApplyMode, BootId, DigestKey, Disk, ErrorKind, MachineName, MemberId, NodeIdentity, Target,
    Timestamp,
};
use engine::journal::{Entry, FileJournal, Journal, Record};
use engine::live::{LiveKubernetes, SystemClock, SystemEntropy};
use engine::provider::Metal;
use engine::{
    Approver, Clock, Cluster, Component, Error, EtcdMembers, Event, EventSink, Lifecycle,
    ListedMember, MachineAddress, Machines, MemberState, NextBoot, Observed, Outcome, OwnMachine,
    PortError, Ports, Stop, Vault, Want,
};
use plan::{Approval, Checked, ClusterSpec, Goal, Layers, Plan};
use talos_config::yaml::Dialect;
use talos_config::{Bundle, Config, Mode, Secret, SourceId};
use tokio::time::{Instant, sleep, timeout};

/// All machines.
pub(crate) const NAMES: [&str; 5] = ["cp-1", "w-1", "w-2", "w-3", "w-4"];

/// The machines of a cluster whose workers all have to boot with another configuration.
#[derive(Clone)]
pub(crate) struct World(PathBuf);

impl World {
    pub(crate) fn create(directory: PathBuf, secrets: &Bundle) -> Self {
        let world = Self(directory);
        fs_err::create_dir_all(world.0.join("holds")).expect("a folder");
        let text = secrets.encode(Dialect::default());
        fs_err::write(world.0.join("secrets.yaml"), text.expose()).expect("a file");
        let before = world.cluster("");
        let mut renderer = before.renderer();
        for name in NAMES {
            let machine: MachineName = name.parse().expect("a name");
            let config = renderer.config(&machine).expect("a configuration");
            fs_err::create_dir_all(world.0.join(name)).expect("a folder");
            let text = renderer.text(&machine, &config);
            world.put(&format!("{name}/config"), text.expose());
            world.put(&format!("{name}/boot"), "1");
        }
        world
    }

    pub(crate) fn open(directory: PathBuf) -> Self {
        Self(directory)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Keeps something from going on.
    pub(crate) fn hold(&self, what: &str) {
        self.put(&format!("holds/{what}"), "");
    }

    /// Lets it go on.
    pub(crate) fn release(&self, what: &str) {
        fs_err::remove_file(self.0.join("holds").join(what)).expect("a hold");
    }

    /// The reboots that were asked for, each as `ENGINE MACHINE`, sorted.
    pub(crate) fn reboots(&self) -> Vec<String> {
        let entries = fs_err::read_dir(&self.0)
            .expect("the machines")
            .map(|entry| entry.expect("an entry").file_name());
        let mut reboots: Vec<String> = entries
            .filter_map(|name| Some(name.to_str()?.strip_prefix("reboot ")?.to_owned()))
            .collect();
        reboots.sort();
        reboots
    }

    /// Where an engine writes what it does.
    pub(crate) fn journal(&self, engine: &str) -> FileJournal {
        journal(&self.0.join(engine), Arc::new(SystemClock))
    }

    fn cluster(&self, workers: &str) -> Cluster {
        let text = format!("{SPEC}{workers}");
        let spec = ClusterSpec::parse(&text, SourceId(1)).expect("a spec");
        let (patches, encrypted) = (BTreeMap::new(), BTreeMap::new());
        let layers = Layers::native(&spec, "ichor.yaml", &patches, &encrypted);
        let secrets = fs_err::read_to_string(self.0.join("secrets.yaml")).expect("secrets");
        Cluster {
            layers: layers.expect("layers"),
            spec,
            secrets: Bundle::parse(&secrets, SourceId(2)).expect("secrets"),
            key: DigestKey::new([7; 32]),
            mode: Mode::Metal,
        }
    }

    fn is_held(&self, what: &str) -> bool {
        self.0.join("holds").join(what).exists()
    }

    async fn wait_while_held(&self, what: &str) {
        while self.is_held(what) {
            sleep(LOOK).await;
        }
    }

    fn is_off(&self, name: &MachineName) -> bool {
        self.0.join(name.as_str()).join("rebooted").exists()
            && self.is_held(&format!("boot {name}"))
    }

    fn own(&self, name: &MachineName) -> OwnMachine {
        let read = |file: &str| {
            fs_err::read_to_string(self.0.join(name.as_str()).join(file)).expect("a file")
        };
        OwnMachine {
            node: Some(NodeIdentity(format!("node-of-{name}"))),
            boot: Some(BootId(read("boot"))),
            talos: "v1.13.9".parse().expect("a release"),
            config: Some(Config::parse(&read("config"), SourceId(3)).expect("a configuration")),
            next_boot: match fs_err::read_to_string(self.0.join(name.as_str()).join("staged")) {
                Ok(staged) => NextBoot::Other(Box::new(
                    Config::parse(&staged, SourceId(3)).expect("a configuration"),
                )),
                Err(_) => NextBoot::Same,
            },
            addresses: Vec::new(),
            node_name: None,
            is_settled: true,
        }
    }

    /// Writes a file that others read at the same time.
    fn put(&self, path: &str, text: &str) {
        let written = tempfile::NamedTempFile::new_in(&self.0).expect("a file");
        fs_err::write(written.path(), text).expect("a file");
        written.persist(self.0.join(path)).expect("a file");
    }
}

/// An engine with all of its ports, of which only machines, approval and time are not the real ones.
pub(crate) struct Engine {
    name: &'static str,
    world: World,
    cluster: Cluster,
    kubernetes: LiveKubernetes,
    journal: FileJournal,
    provider: Metal,
    clock: Arc<dyn Clock>,
    events: Mutex<Vec<Event>>,
    /// Machines that wait for their boot with a new configuration, by this engine.
    staged: Mutex<BTreeSet<MachineName>>,
    /// Machines whose reboot has begun as a step, and was not asked for yet.
    begun: Mutex<BTreeSet<MachineName>>,
}

impl Engine {
    pub(crate) fn new(
        world: &World,
        name: &'static str,
        kubeconfig: Secret<String>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let mint = Box::new(move || Ok(kubeconfig.clone()));
        let cluster = world.cluster(CHANGE);
        Self {
            name,
            world: world.clone(),
            kubernetes: LiveKubernetes::new(mint, Arc::clone(&clock)),
            journal: journal(&world.0.join(name), Arc::clone(&clock)),
            provider: Metal,
            cluster,
            clock,
            events: Mutex::default(),
            staged: Mutex::default(),
            begun: Mutex::default(),
        }
    }

    /// One pass.
    pub(crate) async fn run(&self) -> Result<Outcome, Error> {
        let ports = Ports {
            machines: self,
            lifecycle: self,
            etcd: self,
            kubernetes: &self.kubernetes,
            provider: &self.provider,
            vault: self,
            journal: &self.journal,
            clock: &*self.clock,
            entropy: &SystemEntropy,
            approver: self,
            stop: self,
            events: self,
            holder: self.name,
        };
        engine::run(&self.cluster, Want::Goal(Goal::Spec, Vec::new()), &ports).await
    }

    /// What was told about the lease.
    pub(crate) fn lease_events(&self) -> Vec<Event> {
        let of_lease = |event: &&Event| {
            matches!(
                event,
                Event::LeaseAwaited { .. }
                    | Event::LeaseAcquired { .. }
                    | Event::LeaseUnavailable { .. }
                    | Event::LeaseLost { .. }
            )
        };
        self.events.lock().expect("no panic").iter().filter(of_lease).cloned().collect()
    }
}

#[async_trait]
impl Machines for Engine {
    async fn observe(&self, machine: &MachineAddress) -> Observed {
        let (engine, name) = (self.name, &machine.name);
        if self.staged.lock().expect("no panic").contains(name) {
            self.world.wait_while_held(&format!("look {engine} {name}")).await;
        }
        if self.begun.lock().expect("no panic").contains(name) {
            self.world.wait_while_held(&format!("reboot {engine} {name}")).await;
        }
        if self.world.is_off(name) || self.world.is_held(&format!("way {engine} {name}")) {
            return Observed::Unreachable("no answer".to_owned());
        }
        Observed::Ours(Box::new(self.world.own(name)))
    }

    async fn disks(&self, _machine: &MachineAddress) -> Result<Vec<Disk>, String> {
        Err("Talos is installed".to_owned())
    }

    async fn components(&self, _machine: &MachineAddress) -> Result<Vec<Component>, PortError> {
        Ok(Vec::new())
    }

    async fn kubeconfig(&self, _machine: &MachineAddress) -> Result<Secret<String>, PortError> {
        Err(off())
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
        assert_eq!(mode, ApplyMode::Staged);
        if self.world.is_off(&machine.name) {
            return Err(off());
        }
        self.world.put(&format!("{}/staged", machine.name), config.expose());
        self.staged.lock().expect("no panic").insert(machine.name.clone());
        Ok(())
    }

    async fn reboot(&self, machine: &MachineAddress) -> Result<(), PortError> {
        let name = &machine.name;
        if self.world.is_off(name) {
            return Err(off());
        }
        self.begun.lock().expect("no panic").remove(name);
        self.world.put(&format!("reboot {} {name}", self.name), "");
        let path = |file: &str| self.world.0.join(name.as_str()).join(file);
        let boot: u32 =
            fs_err::read_to_string(path("boot")).expect("a boot").parse().expect("a number");
        self.world.put(&format!("{name}/rebooted"), "");
        fs_err::rename(path("staged"), path("config")).expect("what was staged");
        self.world.put(&format!("{name}/boot"), &(boot + 1).to_string());
        Ok(())
    }

    async fn reset(&self, _machine: &MachineAddress) -> Result<(), PortError> {
        Err(off())
    }

    async fn bootstrap(&self, _machine: &MachineAddress) -> Result<bool, PortError> {
        Ok(false)
    }

    async fn forfeit_leadership(&self, _machine: &MachineAddress) -> Result<(), PortError> {
        Ok(())
    }
}

#[async_trait]
impl EtcdMembers for Engine {
    async fn status(&self, _machine: &MachineAddress) -> Result<Option<MemberState>, PortError> {
        Ok(Some(MemberState { id: MEMBER, leader: Some(MEMBER), applied: 1 }))
    }

    async fn list(&self, machine: &MachineAddress) -> Result<Vec<ListedMember>, PortError> {
        Ok(vec![ListedMember {
            id: MEMBER,
            name: machine.name.to_string(),
            addresses: vec![machine.address.to_string()],
            voter: true,
        }])
    }
}

#[async_trait]
impl Vault for Engine {
    async fn read(&self) -> Result<Option<Bundle>, PortError> {
        Ok(Some(self.cluster.secrets.clone()))
    }

    async fn has_kubeconfig(&self) -> bool {
        true
    }

    async fn keep_kubeconfig(&self, _kubeconfig: &Secret<String>) -> Result<(), PortError> {
        Ok(())
    }
}

#[async_trait]
impl Approver for Engine {
    async fn approve(&self, plan: &Plan<Checked>) -> Result<Option<Approval>, PortError> {
        let by = self.name.to_owned();
        Ok(Some(Approval { plan: plan.hash(), by, at: self.clock.now() }))
    }
}

#[async_trait]
impl Stop for Engine {
    async fn requested(&self) {
        std::future::pending::<()>().await;
    }
}

impl EventSink for Engine {
    fn emit(&self, event: &Event) {
        if let Event::StepBegun(place) = event
            && place.verb == "reboot"
            && let Some(machine) = place.on.machine()
        {
            self.begun.lock().expect("no panic").insert(machine.clone());
        }
        self.events.lock().expect("no panic").push(event.clone());
    }
}

/// A clock that goes faster than the system's, and tells another time of day.
pub(crate) struct FastClock {
    origin: Origin,
    speed: u32,
    /// In seconds.
    skew: i64,
}

/// The moment from which clocks of several engines go on alike.
#[derive(Clone, Copy)]
pub(crate) struct Origin(Instant, Timestamp);

impl Origin {
    pub(crate) fn now() -> Self {
        Self(Instant::now(), SystemClock::time())
    }

    pub(crate) fn clock(self, speed: u32, skew: i64) -> Arc<FastClock> {
        Arc::new(FastClock { origin: self, speed, skew })
    }
}

#[async_trait]
impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.monotonic().as_secs()).expect("a short test");
        Timestamp(self.origin.1.0 + passed + self.skew)
    }

    fn monotonic(&self) -> Duration {
        self.origin.0.elapsed() * self.speed
    }

    async fn sleep(&self, duration: Duration) {
        sleep(duration / self.speed).await;
    }
}

/// A disruptive step, from its start to its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Disturbance {
    pub(crate) on: Target,
    pub(crate) from: Timestamp,
    /// None when the journal has no end of it.
    pub(crate) to: Option<Timestamp>,
    /// The code of the error that it ended with.
    pub(crate) failed: Option<String>,
}

/// The disruptive steps of a journal, in the order of their starts.
pub(crate) async fn disturbances(journal: &FileJournal) -> Vec<Disturbance> {
    let records = journal.read().await.expect("a journal");
    let mut found = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let Entry::StepStarted { plan, step, on, .. } = &record.entry else { continue };
        let stored = journal.stored_plan(*plan).await.expect("the plan of the journal");
        if !stored.step(*step).expect("a step of the plan").action.nature().disturbs {
            continue;
        }
        let end = records[index..].iter().find_map(|later| match &later.entry {
            Entry::StepDone { plan: of, step: number } if of == plan && number == step => {
                Some((later.at, None))
            }
            Entry::StepFailed { plan: of, step: number, code, .. }
                if of == plan && number == step =>
            {
                Some((later.at, Some(code.clone())))
            }
            _ => None,
        });
        let (to, failed) = end.map_or((None, None), |(at, failed)| (Some(at), failed));
        found.push(Disturbance { on: on.clone(), from: record.at, to, failed });
    }
    found
}

/// The codes of all steps that have failed, with what they were on.
pub(crate) fn failures(records: &[Record]) -> Vec<String> {
    let failed = records.iter().filter_map(|record| match &record.entry {
        Entry::StepFailed { code, .. } => Some(code.clone()),
        _ => None,
    });
    failed.collect()
}

/// Waits for something that a test has brought about.
pub(crate) async fn until(what: &str, mut is_there: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !is_there().await {
            sleep(LOOK).await;
        }
    };
    timeout(LONGEST, wait).await.unwrap_or_else(|_| panic!("waited in vain for {what}"));
}

fn journal(directory: &Path, clock: Arc<dyn Clock>) -> FileJournal {
    FileJournal::new(directory, clock, Arc::new(SystemEntropy))
}

fn off() -> PortError {
    PortError::new("machine.unreachable", ErrorKind::Retryable, "the machine is off")
}

/// All workers may boot at the same time, so that a test decides which one is next.
const SPEC: &str = "ichor: v1
cluster: home
talos: v1.13.9
policy: {workersAtOnce: 4}
controlPlane:
  machines:
    - {name: cp-1, address: 127.1.0.1}
pools:
  - name: workers
    machines:
      - {name: w-1, address: 127.1.1.1}
      - {name: w-2, address: 127.1.1.2}
      - {name: w-3, address: 127.1.1.3}
      - {name: w-4, address: 127.1.1.4}
";
/// What is to change, at the end of the text above.
const CHANGE: &str = "    patches:
      - |
        machine:
          env:
            https_proxy: http://proxy.example:3128
";
const MEMBER: MemberId = MemberId(0xe1);
const LOOK: Duration = Duration::from_millis(10);
/// Only so that a test that waits in vain says for what.
const LONGEST: Duration = Duration::from_mins(4);
