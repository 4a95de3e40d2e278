//! Machines, their provider, their etcd and their Kubernetes, as they behave under a clock that a test moves.
//!
//! Always holds: what is asked for at some moment depends on nothing but what was done and when. Every look checks that
//! etcd has not lost the quorum that it had, and that there is one etcd.

use std::collections::BTreeMap;
use std::time::Duration;

use ::engine::provider::{MachineKey, ProvidedMachine};
use ::engine::{Cluster, LeaseRecord, Put};
use domain::{ApplyMode, Digest, Instance, MachineName, NodeState, ProviderId, Span};
use talos_config::{Config, SourceId};

use super::cluster::{self, address};

#[derive(Clone, Default)]
pub struct Model {
    pub now: Duration,
    pub machines: BTreeMap<String, Machine>,
    /// What etcd's own list says. A member whose machine has lost its data stays in it.
    pub members: BTreeMap<u64, Member>,
    pub leader: Option<u64>,
    pub lease: Option<LeaseRecord>,
    pub lease_versions: u64,
    pub nodes: BTreeMap<String, Node>,
    /// The provider's machines by its own identities of them, with the moments at which they were made.
    pub instances: BTreeMap<ProviderId, (MachineKey, Duration)>,
    /// How many machines the provider has made.
    pub made: usize,
    pub bootstraps: usize,
    /// An API answers for the cluster that is not that of its machines here.
    pub other_api: bool,
    /// What must never happen, as far as it has.
    pub violations: Vec<String>,
    /// A person has said so: the cluster ends, or its only voter boots again.
    pub may_lose_quorum: bool,
    had_quorum: bool,
    last_id: u64,
}

#[derive(Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fault of its own")]
pub struct Machine {
    pub control_plane: bool,
    /// What other members of etcd reach it at.
    pub peer_address: String,
    pub node_name: String,
    pub setup: Setup,
    /// Cut off from everything.
    pub cut: bool,
    /// Its provider has given it another address.
    pub moved: bool,
    pub install_takes: Duration,
    pub boot_takes: Duration,
    /// Its services run some seconds after its API.
    pub services_take: Duration,
    pub installation: u64,
    pub boot: u64,
    /// It does not answer before.
    pub up_from: Duration,
    pub down_at: Duration,
    /// The member whose data it has.
    pub member: Option<u64>,
    pub fault: Option<Fault>,
    /// What it runs fails with the next configuration that it gets.
    pub breaks: bool,
    /// When it last got a configuration while it ran, and whether what it runs fails with it.
    pub changed: Option<(Duration, bool)>,
    pub reboots: usize,
    pub resets: usize,
    pub configured: usize,
}

/// What is wrong with a machine's member of etcd.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// It learns, and is never promoted.
    StuckLearner,
    /// It is in another etcd than that of the cluster.
    Apart,
}

#[derive(Clone)]
pub enum Setup {
    Maintenance,
    Foreign,
    Ours {
        config: Config,
        staged: Option<Config>,
        given_at: Option<Duration>,
        installed_at: Duration,
    },
}

#[derive(Clone)]
pub struct Member {
    pub machine: String,
    pub voter: bool,
    pub joined: Duration,
}

#[derive(Clone)]
pub struct Node {
    pub machine: String,
    pub boot: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sight {
    Down,
    /// It has its configuration and no identity yet.
    Installing,
    Up,
}

/// Why a machine or an API does not do what it was asked.
#[derive(Clone, Debug)]
pub enum No {
    Unreachable,
    NotNow(&'static str),
    Already,
    Never(&'static str),
    Credentials,
}

impl Machine {
    fn new(name: &str, control_plane: bool) -> Self {
        Self {
            control_plane,
            peer_address: address(name),
            node_name: name.to_owned(),
            setup: Setup::Maintenance,
            cut: false,
            moved: false,
            install_takes: Duration::from_secs(30),
            boot_takes: Duration::from_secs(40),
            services_take: Duration::from_secs(3),
            installation: 0,
            boot: 0,
            up_from: Duration::ZERO,
            down_at: Duration::ZERO,
            member: None,
            fault: None,
            breaks: false,
            changed: None,
            reboots: 0,
            resets: 0,
            configured: 0,
        }
    }

    pub fn sight(&self, now: Duration) -> Sight {
        let installing = match &self.setup {
            Setup::Ours { given_at: Some(given), installed_at, .. } => {
                now >= *given + API_CHANGES_HANDS && now < *installed_at
            }
            _ => false,
        };
        if self.cut {
            Sight::Down
        } else if installing {
            Sight::Installing
        } else if now >= self.up_from {
            Sight::Up
        } else {
            Sight::Down
        }
    }

    fn is_apart(&self) -> bool {
        self.fault == Some(Fault::Apart)
    }

    pub fn is_ours(&self) -> bool {
        matches!(self.setup, Setup::Ours { .. })
    }

    /// Its services run.
    fn serves(&self, now: Duration) -> bool {
        self.is_ours() && self.sight(now) == Sight::Up && now >= self.up_from + self.services_take
    }

    fn go_down(&mut self, now: Duration, for_long: Duration) {
        self.down_at = now;
        self.up_from = now + for_long;
        self.boot += 1;
    }

    pub fn config(&self) -> Option<&Config> {
        match &self.setup {
            Setup::Ours { config, .. } => Some(config),
            _ => None,
        }
    }
}

impl Model {
    pub fn new(cluster: &Cluster) -> Self {
        let mut model = Self::default();
        model.add(cluster);
        model
    }

    /// Machines of a spec that are new in it, in maintenance. Those of a class do not answer before they are made.
    pub fn add(&mut self, cluster: &Cluster) {
        for (machine, _) in cluster.spec.machines() {
            let name = machine.name.as_str();
            let control_plane = cluster.spec.is_control_plane(&machine.name);
            let new =
                Machine { cut: machine.class().is_some(), ..Machine::new(name, control_plane) };
            self.machines.entry(name.to_owned()).or_insert(new);
        }
    }

    /// The provider makes a machine, unless it has made that one.
    pub fn ensure(&mut self, key: &MachineKey) -> ProvidedMachine {
        let found = self.instances.iter().find(|(_, (known, _))| known == key);
        let id = match found.map(|(id, _)| id.clone()) {
            Some(id) => id,
            None => {
                self.made += 1;
                let id = ProviderId(format!("server-{}", self.made));
                let made = Machine {
                    up_from: self.now + FIRST_BOOT,
                    ..Machine::new(key.machine.as_str(), self.is_control_plane(key))
                };
                self.machines.insert(key.machine.to_string(), made);
                self.instances.insert(id.clone(), (key.clone(), self.now));
                id
            }
        };
        self.provided(&id)
    }

    fn is_control_plane(&self, key: &MachineKey) -> bool {
        self.machines.get(key.machine.as_str()).is_some_and(|machine| machine.control_plane)
    }

    /// The provider takes a machine away, and everything that is on it.
    pub fn take_away(&mut self, id: &ProviderId) {
        let Some((key, _)) = self.instances.remove(id) else { return };
        // A twin goes, and the one that was used stays.
        if self.instances.values().any(|(other, _)| *other == key) {
            return;
        }
        let name = key.machine.as_str();
        let gone = Machine { cut: true, ..Machine::new(name, self.is_control_plane(&key)) };
        self.machines.insert(name.to_owned(), gone);
    }

    /// A person deletes a machine at the provider.
    pub fn lose_instance(&mut self, name: &MachineName) {
        let (id, _) = self.instance(name);
        self.take_away(&id);
    }

    /// The provider has another machine for the same key, which nothing was ever done with.
    pub fn add_twin(&mut self, name: &MachineName) {
        let (_, made) = self.instance(name);
        self.instances.insert(ProviderId(format!("{TWIN}{name}")), made);
    }

    fn instance(&self, name: &MachineName) -> (ProviderId, (MachineKey, Duration)) {
        let mut instances = self.instances.iter();
        let found = instances.find(|(_, (key, _))| key.machine == *name);
        let (id, made) = found.expect("a machine of the provider");
        (id.clone(), made.clone())
    }

    pub fn provided(&self, id: &ProviderId) -> ProvidedMachine {
        let (key, made) = &self.instances[id];
        let has_address = self.now >= *made + ADDRESS_TAKES;
        let name = key.machine.as_str();
        let moved =
            self.machines.get(name).is_some_and(|machine| machine.moved) || id.0.starts_with(TWIN);
        let address = if moved { "127.9.9.9".to_owned() } else { address(name) };
        let address = address.parse().expect("an address");
        ProvidedMachine {
            name: key.machine.clone(),
            instance: Instance { id: id.clone(), generation: key.generation },
            address: has_address.then_some(address),
        }
    }

    pub fn all_provided(&self, cluster: Digest) -> Vec<ProvidedMachine> {
        let own = self.instances.iter().filter(|(_, (key, _))| key.cluster == cluster);
        own.map(|(id, _)| self.provided(id)).collect()
    }

    pub fn machine(&mut self, name: &str) -> &mut Machine {
        self.machines.get_mut(name).unwrap_or_else(|| panic!("no machine {name}"))
    }

    fn id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// What has happened until now by itself.
    pub fn at(&mut self, now: Duration) -> &mut Self {
        self.now = now;
        self.promote();
        self.join();
        if !self.leader.is_some_and(|leader| self.runs(leader)) {
            let next = {
                let apart = |id: &u64| {
                    let mut machines = self.machines.values();
                    machines.any(|machine| machine.is_apart() && machine.member == Some(*id))
                };
                let next = self.voters().find(|id| self.runs(*id) && !apart(id));
                next.filter(|_| self.has_quorum())
            };
            self.leader = next;
        }
        if self.api_answers() {
            self.register();
        }
        let quorum = self.has_quorum();
        if self.had_quorum && !quorum && !self.may_lose_quorum {
            self.violations.push(format!("quorum lost at {}s", now.as_secs()));
        }
        self.had_quorum = quorum;
        self
    }

    /// Control planes join one at a time, and only where a majority can say yes.
    fn join(&mut self) {
        let learns = self.members.values().any(|member| !member.voter);
        if learns || !self.has_quorum() {
            return;
        }
        let now = self.now;
        let joins = self.machines.iter().find(|(_, machine)| {
            machine.control_plane && machine.member.is_none() && machine.serves(now)
        });
        if let Some(name) = joins.map(|(name, _)| name.clone()) {
            let id = self.id() + 0xe0;
            self.machine(&name).member = Some(id);
            self.members.insert(id, Member { machine: name, voter: false, joined: now });
        }
    }

    fn promote(&mut self) {
        if !self.has_quorum() {
            return;
        }
        let now = self.now;
        let learner = self.members.iter().find(|(id, member)| {
            let machine = &self.machines[&member.machine];
            !member.voter
                && machine.fault != Some(Fault::StuckLearner)
                && self.runs(**id)
                && now >= member.joined + LEARNS
        });
        if let Some(id) = learner.map(|(id, _)| *id)
            && let Some(member) = self.members.get_mut(&id)
        {
            member.voter = true;
        }
    }

    fn register(&mut self) {
        let now = self.now;
        for (name, machine) in &self.machines {
            if machine.serves(now) {
                let (machine_name, boot) = (name.clone(), boot_id(name, machine));
                let node = Node { machine: machine_name, boot };
                self.nodes.insert(machine.node_name.clone(), node);
            }
        }
    }

    fn voters(&self) -> impl Iterator<Item = u64> {
        self.members.iter().filter(|(_, member)| member.voter).map(|(id, _)| *id)
    }

    /// The process of a member runs.
    pub fn runs(&self, id: u64) -> bool {
        self.members.get(&id).is_some_and(|member| {
            let machine = &self.machines[&member.machine];
            machine.member == Some(id)
                && !machine.is_apart()
                && machine.serves(self.now)
                && self.now >= member.joined + MEMBER_STARTS
        })
    }

    pub fn has_quorum(&self) -> bool {
        let (all, running) = (self.voters().count(), self.voters().filter(|id| self.runs(*id)));
        2 * running.count() > all
    }

    pub fn api_answers(&self) -> bool {
        if self.other_api {
            return true;
        }
        let serves = |machine: &Machine| machine.control_plane && machine.serves(self.now);
        self.has_quorum() && self.machines.values().any(serves)
    }

    /// The last entry of etcd.
    fn index(at: Duration) -> u64 {
        1_000 + at.as_secs() * 1_000
    }

    pub fn status(&self, name: &str) -> Result<Option<(u64, Option<u64>, u64)>, No> {
        let machine = self.reach(name)?;
        let Some(id) = machine.member else { return Ok(None) };
        if machine.is_apart() {
            return Ok(Some((id, Some(id), Self::index(self.now))));
        }
        if !self.runs(id) {
            return Err(No::NotNow("etcd is starting"));
        }
        let joined = self.members.get(&id).map_or(Duration::ZERO, |member| member.joined);
        let caught_up = self.now >= machine.up_from.max(joined) + CATCHES_UP;
        let applied = if caught_up { Self::index(self.now) } else { Self::index(machine.down_at) };
        Ok(Some((id, self.leader.filter(|_| self.has_quorum()), applied)))
    }

    pub fn list(&self, name: &str) -> Result<Vec<(u64, String, String, bool)>, No> {
        let machine = self.reach(name)?;
        match machine.member {
            Some(id) if machine.is_apart() => {
                Ok(vec![(id, name.to_owned(), machine.peer_address.clone(), true)])
            }
            Some(id) if self.runs(id) => Ok(self
                .members
                .iter()
                .map(|(id, member)| {
                    let address = self.machines[&member.machine].peer_address.clone();
                    (*id, member.machine.clone(), address, member.voter)
                })
                .collect()),
            _ => Err(No::NotNow("etcd does not run")),
        }
    }

    pub fn bootstrap(&mut self, name: &str) -> Result<bool, No> {
        let now = self.now;
        let machine = self.reach(name)?;
        if machine.member.is_some() {
            return Ok(false);
        }
        if !machine.serves(now) {
            return Err(No::NotNow("bootstrap is not available yet"));
        }
        if self.members.keys().any(|id| self.runs(*id)) {
            self.violations.push(format!("a second etcd was bootstrapped on {name}"));
        }
        let id = self.id() + 0xe0;
        self.machine(name).member = Some(id);
        self.members.clear();
        self.nodes.clear();
        self.lease = None;
        self.had_quorum = false;
        self.members.insert(id, Member { machine: name.to_owned(), voter: true, joined: now });
        self.bootstraps += 1;
        Ok(true)
    }

    /// A machine boots again before its etcd has started, and does not know of a bootstrap any more.
    pub fn forget_bootstrap(&mut self, name: &str) {
        let now = self.now;
        self.members.clear();
        let machine = self.machine(name);
        machine.member = None;
        machine.go_down(now, machine.boot_takes);
    }

    pub fn forfeit(&mut self, name: &str) -> Result<(), No> {
        self.reach(name)?;
        let own = self.machines[name].member;
        if self.leader == own {
            let next = self.voters().find(|id| Some(*id) != own && self.runs(*id));
            self.leader = next;
        }
        Ok(())
    }

    pub fn apply(&mut self, name: &str, text: &str, mode: ApplyMode) -> Result<(), No> {
        let now = self.now;
        let new = Config::parse(text, SourceId(2)).map_err(|_| No::Never("not a configuration"))?;
        let installation = self.id();
        let machine = self.machine(name);
        if machine.sight(now) == Sight::Down {
            return Err(No::Unreachable);
        }
        match (&mut machine.setup, mode) {
            (Setup::Maintenance, ApplyMode::Maintenance) => {
                let installed_at = now + machine.install_takes;
                machine.setup =
                    Setup::Ours { config: new, staged: None, given_at: Some(now), installed_at };
                machine.go_down(now, machine.install_takes + machine.boot_takes);
                machine.installation = installation;
                machine.configured += 1;
                Ok(())
            }
            (Setup::Ours { config, staged, .. }, ApplyMode::NoReboot) => {
                *staged = None;
                *config = new;
                machine.changed = Some((now, std::mem::take(&mut machine.breaks)));
                machine.configured += 1;
                Ok(())
            }
            (Setup::Ours { staged, .. }, ApplyMode::Staged) => {
                *staged = Some(new);
                Ok(())
            }
            _ => Err(No::Never("not in this state")),
        }
    }

    pub fn reboot(&mut self, name: &str) -> Result<(), No> {
        let now = self.now;
        self.reach(name)?;
        let machine = self.machine(name);
        machine.go_down(now, machine.boot_takes);
        machine.reboots += 1;
        if let Setup::Ours { config, staged, .. } = &mut machine.setup
            && let Some(new) = staged.take()
        {
            *config = new;
        }
        Ok(())
    }

    pub fn reset(&mut self, name: &str) -> Result<(), No> {
        self.reach(name)?;
        self.wipe(name);
        self.machine(name).resets += 1;
        Ok(())
    }

    /// The same by other means than the engine.
    pub fn wipe(&mut self, name: &str) {
        let now = self.now;
        let machine = self.machine(name);
        machine.setup = Setup::Maintenance;
        machine.go_down(now, machine.boot_takes);
        machine.member = None;
    }

    /// The configuration of another machine is staged by hand.
    pub fn stage_another(&mut self, name: &str) {
        let other = self.machines.iter().find(|(other, _)| *other != name);
        let other = other.and_then(|(_, machine)| machine.config().cloned());
        if let Setup::Ours { staged, .. } = &mut self.machine(name).setup {
            *staged = other;
        }
    }

    /// Installed anew by hand, with the same configuration.
    pub fn reinstall(&mut self, name: &str) {
        let installation = self.id();
        self.machine(name).installation = installation;
    }

    fn reach(&self, name: &str) -> Result<&Machine, No> {
        let machine = &self.machines[name];
        if machine.sight(self.now) == Sight::Down || !machine.is_ours() {
            return Err(No::Unreachable);
        }
        Ok(machine)
    }

    /// The part of Kubernetes on a machine that is not well, if it is one.
    pub fn unwell(&self, name: &str) -> Result<Option<&'static str>, No> {
        let machine = self.reach(name)?;
        Ok(match machine.changed {
            Some((at, _)) if self.now < at + PODS_ARE_READ => Some("it still runs as before"),
            Some((_, true)) => Some("CrashLoopBackOff"),
            _ => None,
        })
    }

    pub fn node_states(&self) -> Vec<(String, NodeState, String)> {
        let state = |node: &Node| {
            let machine = &self.machines[&node.machine];
            // The control plane takes a node for ready until it has been silent for a while.
            let silent = self.now >= machine.down_at + NODE_GRACE;
            let serves = machine.serves(self.now) && boot_id(&node.machine, machine) == node.boot;
            if serves || !silent { NodeState::Ready } else { NodeState::NotReady }
        };
        self.nodes
            .iter()
            .map(|(name, node)| (name.clone(), state(node), node.boot.clone()))
            .collect()
    }

    pub fn put_lease(&mut self, lease: &LeaseRecord) -> Put {
        if self.lease.as_ref().and_then(|found| found.version.clone()) != lease.version {
            return Put::Conflict;
        }
        self.lease_versions += 1;
        let version = Some(self.lease_versions.to_string());
        self.lease = Some(LeaseRecord { version, ..lease.clone() });
        Put::Written
    }
}

/// Something that happens to a machine by other means than the engine.
pub fn happening(name: &str, state: &str) -> impl Fn(&mut Model) + Send + Sync + 'static {
    let (name, state) = (name.to_owned(), state.to_owned());
    move |model: &mut Model| match state.split(' ').collect::<Vec<_>>().as_slice() {
        ["dead"] => model.machine(&name).cut = true,
        ["alive"] => model.machine(&name).cut = false,
        ["foreign"] => model.machine(&name).setup = Setup::Foreign,
        ["installed", "anew"] => model.reinstall(&name),
        ["wiped"] => model.wipe(&name),
        ["deleted", "at", "the", "provider"] => {
            model.lose_instance(&cluster::name(&name));
            model.may_lose_quorum = true;
        }
        ["made", "twice", "by", "the", "provider"] => model.add_twin(&cluster::name(&name)),
        ["without", "its", "etcd"] => {
            model.machine(&name).member = None;
            model.may_lose_quorum = true;
        }
        ["boots", "in", span] => {
            model.machine(&name).boot_takes = span.parse::<Span>().expect("a span").duration();
        }
        ["has", "another", "configuration", "staged"] => model.stage_another(&name),
        ["breaks", "when", "changed"] => model.machine(&name).breaks = true,
        ["node", node] => model.machine(&name).node_name = (*node).to_owned(),
        other => panic!("no state {other:?}"),
    }
}

pub fn boot_id(name: &str, machine: &Machine) -> String {
    format!("boot-{}-of-{name}", machine.boot)
}

/// How identities of machines begin that were made beside another one.
const TWIN: &str = "other-";
/// A provider has a machine before it has its address.
const ADDRESS_TAKES: Duration = Duration::from_secs(5);
const FIRST_BOOT: Duration = Duration::from_secs(25);
/// From the anonymous API to the one that knows us.
const API_CHANGES_HANDS: Duration = Duration::from_secs(2);
const MEMBER_STARTS: Duration = Duration::from_secs(2);
const LEARNS: Duration = Duration::from_secs(4);
const CATCHES_UP: Duration = Duration::from_secs(8);
const NODE_GRACE: Duration = Duration::from_secs(40);
/// How often a machine reads the state of its pods.
const PODS_ARE_READ: Duration = Duration::from_secs(15);
