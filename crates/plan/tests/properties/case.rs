//! Clusters in every state of disrepair.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use plan::{
    Action, ApplyMode, Body, ClassName, ClusterSpec, Cni, ConfigChange, Digest, Disk, Etcd, Fact,
    FieldChange, Goal, InstallDisk, Instance, Inventory, MAX_LAG, MachineFacts, MachineName,
    MachineSource, Member, MemberId, NodeIdentity, NodeState, Orphan, Override, Ownership, Planned,
    PlanningInput, ProviderId, RebootClass, Refusal, Rendering, Renderings, Rule, Source, Step,
    plan as make_plan,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::world::{self, NOW, known, not_known, unseen};

/// A cluster in some state.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) spec: ClusterSpec,
    pub(crate) goal: Goal,
    pub(crate) desired: Renderings,
    pub(crate) inventory: Inventory,
    pub(crate) overrides: Vec<Override>,
}

impl Case {
    /// Whether a step takes away what no machine of the spec is.
    pub(crate) fn destroys_orphan(&self, step: &Step) -> bool {
        let mut orphans = self.inventory.orphans.current(NOW).into_iter().flatten();
        orphans.any(|orphan| step.action.destroys() == Some(&orphan.instance))
    }

    pub(crate) fn plan(&self) -> Result<Planned, Refusal> {
        make_plan(&self.input())
    }

    pub(crate) fn input(&self) -> PlanningInput<'_> {
        PlanningInput {
            spec: &self.spec,
            goal: self.goal,
            desired: &self.desired,
            inventory: &self.inventory,
            identity: digest(0),
            parent: None,
            overrides: &self.overrides,
        }
    }

    /// The end of a cluster has to be meant.
    fn with_goal(mut self, goal: Goal) -> Self {
        if goal == Goal::Destroyed {
            self.overrides.push(overriding(Rule::QuorumDestroy, None));
        }
        Self { goal, ..self }
    }

    /// Names every machine that is not what was recorded, as a person who has looked would.
    fn with_names(mut self) -> Self {
        let unknown = self.inventory.machines.iter().filter(|(name, _)| self.needs_name(name));
        let named = unknown.map(|(name, facts)| match facts.ownership.current(NOW) {
            Some(Ownership::Maintenance) => overriding(Rule::IdentityMaintenance, Some(name)),
            Some(Ownership::NotProvided) => overriding(Rule::IdentityGone, Some(name)),
            _ => overriding(Rule::IdentityNode, Some(name)),
        });
        let named: Vec<Override> = named.collect();
        self.overrides.extend(named);
        self
    }

    /// Whether steps on a machine need a person to name it.
    pub(crate) fn needs_name(&self, name: &MachineName) -> bool {
        let facts = &self.inventory.machines[name];
        let Some(recorded) = &facts.recorded else { return false };
        match facts.ownership.current(NOW) {
            Some(Ownership::Maintenance | Ownership::NotProvided) => true,
            Some(Ownership::Ours) => facts.node.current(NOW).is_some_and(|node| node != recorded),
            _ => false,
        }
    }

    /// Whether an override names a machine.
    pub(crate) fn names(&self, name: &MachineName) -> bool {
        self.overrides.iter().any(|given| given.machine.as_ref() == Some(name))
    }

    /// Whether a step is one of those on control planes that follow one another.
    pub(crate) fn touches_etcd(&self, body: &Body, step: &Step) -> bool {
        let begins = body.steps.iter().any(|step| matches!(step.action, Action::BootstrapEtcd(_)));
        let touches = match &step.action {
            Action::ApplyConfig(given) => given.mode != ApplyMode::Maintenance || !begins,
            Action::AwaitMachine(_)
            | Action::AwaitNode(_)
            | Action::FetchKubeconfig(_)
            | Action::ProvideMachine(_) => false,
            Action::AwaitVoter(_)
            | Action::BootstrapEtcd(_)
            | Action::DestroyMachine(_)
            | Action::HandOverLeadership(_)
            | Action::RebootMachine(_)
            | Action::ResetMachine(_) => true,
        };
        touches && step.on.machine().is_some_and(|name| self.spec.is_control_plane(name))
    }

    /// Whether etcd counts on a machine; where the members are not known, on every control plane.
    pub(crate) fn has_healthy_voter(&self, name: &MachineName) -> bool {
        let Some(etcd) = self.inventory.etcd.current(NOW) else {
            return self.spec.is_control_plane(name);
        };
        etcd.members.values().any(|member| {
            member.machine.as_ref() == Some(name) && member.voter && is_healthy(member)
        })
    }

    pub(crate) fn leader(&self) -> Option<MachineName> {
        let etcd = self.inventory.etcd.current(NOW)?;
        etcd.members.get(&etcd.leader?)?.machine.clone()
    }

    /// Whether a machine does not serve although it should, and no person has said that this does not matter.
    pub(crate) fn is_out(&self, name: &MachineName) -> bool {
        let facts = &self.inventory.machines[name];
        let node = facts.kubernetes.current(NOW);
        let members = self.inventory.etcd.current(NOW).map(|etcd| etcd.members.values());
        let own: Vec<&Member> = members
            .into_iter()
            .flatten()
            .filter(|member| member.voter && member.machine.as_ref() == Some(name))
            .collect();
        let missed = facts.recorded.is_some()
            || !own.is_empty()
            || node.is_some_and(|node| *node != NodeState::Absent);
        let ready = self.spec.network.cni != Cni::None;
        match facts.ownership.current(NOW) {
            Some(Ownership::Booting) => false,
            Some(Ownership::Away) => true,
            None
            | Some(
                Ownership::Foreign
                | Ownership::Maintenance
                | Ownership::NotProvided
                | Ownership::Provided,
            ) => missed,
            Some(Ownership::Ours) => {
                !own.is_empty() && !own.iter().any(|member| is_healthy(member))
                    || node == Some(&NodeState::Absent)
                    || node == Some(&NodeState::NotReady) && ready
                    || facts.unwell.current(NOW).is_some_and(|unwell| !unwell.is_empty())
                    || facts.disturbed.is_some()
            }
        }
    }

    /// The machines of which only so many may be out of service at once: control planes, or a domain of workers.
    pub(crate) fn beside(&self, name: &MachineName) -> (Vec<&MachineName>, usize) {
        let domain = |name| self.spec.machine(name).map(|(machine, _)| &machine.domain);
        let control_plane = self.spec.is_control_plane(name);
        let names = self.spec.machines().map(|(machine, _)| &machine.name);
        let beside = names.filter(|other| {
            self.spec.is_control_plane(other) == control_plane
                && (control_plane || domain(other) == domain(name))
        });
        let most = if control_plane { 1 } else { self.spec.policy.workers_at_once as usize };
        (beside.collect(), most)
    }

    pub(crate) fn last_worker(&self) -> Option<&MachineName> {
        let names = self.spec.machines().map(|(machine, _)| &machine.name);
        names.filter(|name| !self.spec.is_control_plane(name)).last()
    }

    /// Gives a step another action and all that belongs to it, so that nothing but the action is wrong.
    pub(crate) fn exchange(&self, step: &mut Step, action: Action) {
        step.time_out = action.limits(&self.spec.policy).time_out;
        step.action = action;
    }
}

/// Any cluster, with any overrides.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let rules: Vec<Rule> =
        Rule::ALL.iter().copied().filter(|rule| rule.can_be_overridden()).collect();
    let rules = vec((select(rules), any::<bool>()), 1..4);
    let overrides = prop_oneof![3 => Just(Vec::new()), 1 => rules];
    let first: MachineName = "cp-1".parse().expect("a name");
    (machines(3), etcd(), overrides, policy(), goal(), any::<bool>()).prop_map(
        move |(machines, etcd, rules, policy, goal, named)| {
            let overrides = rules.into_iter().map(|(rule, scoped)| {
                overriding(rule, (scoped || rule.is_for_one_machine()).then_some(&first))
            });
            let case = build(&machines, etcd, overrides.collect(), policy).with_goal(goal);
            if named { case.with_names() } else { case }
        },
    )
}

/// Most clusters are wanted.
fn goal() -> impl Strategy<Value = Goal> {
    prop_oneof![9 => Just(Goal::Spec), 1 => Just(Goal::Destroyed)]
}

fn overriding(rule: Rule, machine: Option<&MachineName>) -> Override {
    let rule = rule.name().to_owned();
    Override { rule, machine: machine.cloned(), reason: "a test".to_owned() }
}

/// A cluster that most plans can be made for, where every machine that has to be named is.
pub(crate) fn sound_case() -> impl Strategy<Value = Case> {
    (machines(30), etcd(), policy(), goal()).prop_map(|(machines, etcd, policy, goal)| {
        let fresh = machines.control_planes.iter().all(|machine| machine.ownership != 1);
        let kind = if fresh || etcd.kind < 2 { etcd.kind } else { 3 };
        // Evidence of an etcd is for cases that are refused.
        let etcd = EtcdShape { kind, evidence: 0, apart: false, ..etcd };
        let machines = Machines { twice: false, ..machines };
        build(&machines, etcd, Vec::new(), policy).with_goal(goal).with_names()
    })
}

/// What a case is made of; numbers so that a failing one shrinks.
#[derive(Clone, Debug)]
struct Machines {
    control_planes: Vec<MachineShape>,
    workers: Vec<MachineShape>,
    /// The first two machines are one installation.
    twice: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "independent marks")]
#[derive(Clone, Debug)]
struct MachineShape {
    /// Maintenance, ours, not seen, another's, away, coming, not made, made and silent.
    ownership: u64,
    /// A provider makes it.
    provided: bool,
    class: RebootClass,
    recorded: bool,
    replaced: bool,
    /// It was ours before it was in maintenance.
    reset: bool,
    /// Node and boot are known.
    identified: bool,
    /// It told whether it has a member of etcd.
    member_known: bool,
    node: NodeState,
    domain: u64,
    /// It has the disk that Talos is to be installed to.
    disk: bool,
    /// Something that it should run is not well.
    unwell: bool,
    /// We disturbed it, and have not seen it in service since.
    disturbed: bool,
}

#[derive(Clone, Copy, Debug)]
struct EtcdShape {
    /// Not known, empty, members but for some, members on all that run.
    kind: u64,
    stopped: u64,
    learning: u64,
    lagging: u64,
    foreign: bool,
    leader: u64,
    /// The first machine has an old member as well, before or behind the one that runs.
    old: u64,
    /// The last machine has begun an etcd of its own.
    apart: bool,
    /// Where the members are not known: whether machines have some.
    absent: bool,
    /// Of an etcd without members: none, the API answers, nodes are registered, the journal has a member.
    evidence: u64,
}

/// `soundness` to one that a machine is as it should be in each respect.
fn machines(soundness: u64) -> impl Strategy<Value = Machines> {
    // Mostly one to three control planes, seldom more.
    let control_planes = prop_oneof![3 => 1..=3_usize, 1 => 4..=MOST_CONTROL_PLANES];
    let workers = prop_oneof![3 => 0..=3_usize, 1 => 4..=MOST_WORKERS];
    let most = MOST_CONTROL_PLANES + MOST_WORKERS;
    (0..7_u8, control_planes, workers, vec(any::<u64>(), most), 0..20_u8).prop_map(
        move |(all, control_planes, workers, dice, twice)| {
            // All run, all wait for configuration or boot with it, or some of each.
            let usual = |die: &mut Die| match (all, die.throw(6)) {
                (0..=2, _) => 1,
                (3..=4, 5) => 5,
                (3..=4, 4) => 6 + die.throw(2),
                (3..=4, _) => 0,
                (_, side) => side % 2,
            };
            let mut shapes = dice.into_iter().map(|die| {
                let mut die = Die(die);
                let usual = usual(&mut die);
                shape(&mut die, usual, soundness)
            });
            Machines {
                control_planes: shapes.by_ref().take(control_planes).collect(),
                workers: shapes.take(workers).collect(),
                twice: twice == 19,
            }
        },
    )
}

fn shape(die: &mut Die, usual: u64, soundness: u64) -> MachineShape {
    let mut mostly = || die.throw(soundness + 1) != soundness;
    let (usually, recorded, same, identified) = (mostly(), mostly(), mostly(), mostly());
    let (disk, fresh, member_known) = (mostly(), mostly(), mostly());
    let (well, undisturbed) = (mostly(), mostly());
    MachineShape {
        ownership: if usually { usual } else { die.throw(8) },
        provided: die.throw(4) == 3,
        class: match die.throw(4) {
            0..=1 => RebootClass::Nothing,
            2 => RebootClass::WithoutReboot,
            _ => RebootClass::WithReboot,
        },
        recorded,
        replaced: !same,
        reset: !fresh,
        identified,
        member_known,
        node: match die.throw(5) {
            0..=2 => NodeState::Ready,
            3 => NodeState::NotReady,
            _ => NodeState::Absent,
        },
        domain: die.throw(3),
        disk,
        unwell: !well,
        disturbed: !undisturbed,
    }
}

/// One random number, of which several small ones are taken: faster than as many strategies, and what
/// shrinks to zero shrinks to a machine that is as it should be.
struct Die(u64);

impl Die {
    fn throw(&mut self, sides: u64) -> u64 {
        let side = self.0 % sides;
        self.0 /= sides;
        side
    }
}

fn etcd() -> impl Strategy<Value = EtcdShape> {
    any::<u64>().prop_map(|die| {
        let mut die = Die(die);
        let mask = |die: &mut Die| if die.throw(5) == 4 { die.throw(256) } else { 0 };
        EtcdShape {
            kind: 3_u64.saturating_sub(die.throw(8).saturating_sub(4)),
            stopped: mask(&mut die),
            learning: mask(&mut die),
            lagging: mask(&mut die),
            foreign: die.throw(10) == 9,
            leader: die.throw(6),
            old: die.throw(16).saturating_sub(13),
            apart: die.throw(20) == 19,
            absent: die.throw(2) == 0,
            evidence: die.throw(8).saturating_sub(4),
        }
    })
}

/// Workers at once, windows, a network plug-in.
fn policy() -> impl Strategy<Value = (u32, bool, bool)> {
    (1..=3_u32, any::<bool>(), any::<bool>())
}

fn build(
    machines: &Machines,
    etcd: EtcdShape,
    overrides: Vec<Override>,
    policy: (u32, bool, bool),
) -> Case {
    let (at_once, windows, plug_in) = policy;
    let mut spec = LARGEST.clone();
    spec.control_plane.machines.truncate(machines.control_planes.len());
    spec.pools[0].machines.truncate(machines.workers.len());
    spec.policy.workers_at_once = at_once;
    if !windows {
        spec.policy.windows.clear();
    }
    if !plug_in {
        spec.network.cni = Cni::None;
    }
    let (mut desired, mut seen) = (Renderings::new(), BTreeMap::new());
    let pools = spec.pools.iter_mut().flat_map(|pool| &mut pool.machines);
    let shapes = || machines.control_planes.iter().chain(&machines.workers);
    for (at, (machine, shape)) in
        spec.control_plane.machines.iter_mut().chain(pools).zip(shapes()).enumerate()
    {
        if shape.provided || shape.ownership > 5 {
            machine.source = MachineSource::Class(class(CLASS));
        }
        machine.domain =
            ["a", "b"].get(index(shape.domain)).map(|name| name.parse().expect("a name"));
        let at = u32::try_from(at).expect("few machines");
        let (facts, rendering) = facts(&machine.name, shape, at);
        seen.insert(machine.name.clone(), facts);
        desired.insert(machine.name.clone(), rendering);
    }
    if machines.twice {
        let node = seen.values().find_map(|facts| facts.node.current(NOW).cloned());
        if let (Some(node), Some(facts)) = (node, seen.values_mut().nth(1)) {
            facts.node = known(node, Source::TalosApi);
        }
    }
    let members = members(&spec, &seen, &etcd);
    let has_members = members.current(NOW).is_none_or(|etcd| !etcd.members.is_empty());
    for (machine, shape) in spec.control_plane.machines.iter().zip(&machines.control_planes) {
        let facts = seen.get_mut(&machine.name).expect("facts");
        if facts.ownership.current(NOW) == Some(&Ownership::Ours) {
            let member = own_member(&machine.name, members.current(NOW), etcd.absent);
            facts.member = known(member, Source::TalosApi);
        }
        if !shape.member_known {
            facts.member = not_known("not asked");
        }
    }
    // Nodes are registered by an API that has an etcd.
    let absent = !has_members || etcd.kind == 0 && etcd.absent;
    if absent && etcd.evidence != 2 {
        for facts in seen.values_mut() {
            facts.kubernetes = known(NodeState::Absent, Source::Kubernetes);
        }
    }
    // One that the spec does not name any more, and one whose place another one has taken.
    let mut orphans = Vec::new();
    if machines.workers.last().is_some_and(|shape| shape.provided) {
        for name in ["gone-1", "cp-1"] {
            let instance = Instance { id: ProviderId(format!("left-of-{name}")), generation: 1 };
            orphans.push(Orphan { name: name.parse().expect("a name"), instance });
        }
    }
    let begun = (etcd.evidence == 3).then(|| (MemberId(7), "cp-1".parse().expect("a name")));
    let api = known(!absent || etcd.evidence == 1, Source::Kubernetes);
    let kubeconfig = known(at_once == 1, Source::Directory);
    Case {
        spec,
        goal: Goal::Spec,
        desired,
        inventory: Inventory {
            taken: NOW,
            machines: seen,
            etcd: members,
            api,
            begun: begun.into_iter().collect(),
            bootstrapping: None,
            kubeconfig,
            orphans: known(orphans, Source::Provider),
        },
        overrides,
    }
}

/// What a machine says about its own member.
fn own_member(name: &MachineName, etcd: Option<&Etcd>, absent: bool) -> Option<MemberId> {
    let Some(etcd) = etcd else { return (!absent).then_some(MemberId(1)) };
    let own = || etcd.members.iter().filter(|(_, member)| member.machine.as_ref() == Some(name));
    let apart = etcd.apart.contains(name).then_some(MemberId(77));
    own().find(|(_, member)| member.started).or(own().next()).map(|(id, _)| *id).or(apart)
}

/// What the spec of every case is cut from.
static LARGEST: LazyLock<ClusterSpec> = LazyLock::new(|| {
    let more = "policy: {windows: [{from: \"01:00\", to: \"05:00\"}]}\n";
    let text = world::World::text(MOST_CONTROL_PLANES, MOST_WORKERS, more);
    ClusterSpec::parse(&text, talos_config::SourceId(1)).expect("a spec")
});

const MOST_CONTROL_PLANES: usize = 5;
const MOST_WORKERS: usize = 7;

fn facts(name: &MachineName, shape: &MachineShape, at: u32) -> (MachineFacts, Rendering) {
    let wanted = digest(100 + at);
    let has = if shape.class == RebootClass::Nothing { wanted } else { digest(200 + at) };
    let talos = "v1.13.9".parse().expect("a version");
    let mut facts = world::ours(name, has, talos);
    let recorded = facts.recorded.clone().filter(|_| shape.recorded);
    facts.kubernetes = known(shape.node, Source::Kubernetes);
    match shape.ownership {
        0 => {
            facts = unseen("it has no configuration");
            facts.ownership = known(Ownership::Maintenance, Source::Maintenance);
            facts.disks = known(disks(shape.disk), Source::Maintenance);
            facts.recorded = recorded.filter(|_| shape.reset);
        }
        1 => facts.recorded = recorded,
        2 => facts = unseen("connection refused"),
        3 => facts.ownership = known(Ownership::Foreign, Source::TalosApi),
        4 => {
            facts = MachineFacts { kubernetes: facts.kubernetes, ..unseen("connection refused") };
            facts.ownership = known(Ownership::Away, Source::Directory);
            facts.recorded = recorded;
        }
        5 => {
            facts = unseen("connection refused");
            facts.ownership = known(Ownership::Booting, Source::Inference);
        }
        6 => {
            facts = unseen("its provider does not have it");
            facts.ownership = known(Ownership::NotProvided, Source::Provider);
            facts.recorded = recorded.filter(|_| shape.reset);
        }
        _ => {
            facts = unseen("connection refused");
            facts.ownership = known(Ownership::Provided, Source::Provider);
        }
    }
    if shape.provided || shape.ownership > 5 {
        let made = shape.ownership != 6;
        facts.generation = u32::try_from(shape.domain).expect("few") + u32::from(made);
        let instance =
            Instance { id: ProviderId(format!("of-{name}")), generation: facts.generation };
        facts.instance = known(made.then_some(instance), Source::Provider);
    }
    if shape.replaced && shape.ownership == 1 {
        facts.node = known(NodeIdentity(format!("another-of-{name}")), Source::TalosApi);
    }
    if shape.unwell && shape.ownership == 1 {
        facts.unwell = known(vec!["kube-scheduler: it fails".to_owned()], Source::TalosApi);
    }
    // What is away was disturbed.
    if shape.disturbed && shape.ownership == 1 || shape.ownership == 4 {
        facts.disturbed = Some(NOW);
    }
    if !shape.identified {
        facts.node = not_known("not asked");
        facts.boot = not_known("not asked");
    }
    let field = FieldChange {
        document: "v1alpha1".to_owned(),
        path: "machine.env.A".to_owned(),
        before: None,
        after: Some("1".to_owned()),
    };
    let changes = shape.class != RebootClass::Nothing;
    let change = (shape.ownership == 1).then(|| ConfigChange {
        from: has,
        class: shape.class,
        changes_role: false,
        changes_kubernetes: false,
        fields: changes.then_some(field).into_iter().collect(),
    });
    let disk = InstallDisk::At(DISK.to_owned());
    (facts, Rendering { digest: wanted, disk, change, too_new: None })
}

pub(crate) fn disks(has_it: bool) -> Vec<Disk> {
    let disk = |device: &str| Disk { device: device.to_owned(), ..Disk::default() };
    ["/dev/sdb", DISK].into_iter().filter(|device| has_it || *device != DISK).map(disk).collect()
}

/// The disk that Talos is to be installed to.
const DISK: &str = "/dev/sda";

fn members(
    spec: &ClusterSpec,
    seen: &BTreeMap<MachineName, MachineFacts>,
    shape: &EtcdShape,
) -> Fact<Etcd> {
    let ours = |name: &MachineName| match seen[name].ownership.current(NOW) {
        None | Some(Ownership::Ours) => true,
        Some(Ownership::NotProvided) => seen[name].recorded.is_some(),
        Some(_) => false,
    };
    let runs =
        spec.control_plane.machines.iter().map(|machine| &machine.name).filter(|name| ours(name));
    let bit = |mask: u64, at: usize| mask >> (at % 8) & 1 == 1;
    let members = runs.enumerate().filter(|(at, _)| shape.kind == 3 || !bit(shape.leader, *at));
    let mut members: BTreeMap<MemberId, Member> = members
        .map(|(at, name)| {
            let stopped = bit(shape.stopped, at)
                || seen[name].ownership.current(NOW) != Some(&Ownership::Ours);
            let lag = if bit(shape.lagging, at) { MAX_LAG + 1 } else { 0 };
            let member = Member {
                machine: Some(name.clone()),
                voter: !bit(shape.learning, at),
                started: !stopped,
                lag: (!stopped).then_some(lag),
            };
            (MemberId(at as u64 + 1), member)
        })
        .collect();
    // Sometimes there is none.
    let at = index(shape.leader) % members.len().max(1);
    let leader = members.keys().nth(at).copied().filter(|_| shape.leader < 5);
    let mut apart = Vec::new();
    if shape.apart && members.len() > 1 {
        let last = members.pop_last().and_then(|(_, member)| member.machine);
        apart.extend(last);
    }
    let first = members.values().find_map(|member| member.machine.clone());
    if let (Some(machine), Some(id)) = (first, [0, 50].get(index(shape.old).wrapping_sub(1))) {
        let old = Member { machine: Some(machine), voter: true, started: false, lag: None };
        members.insert(MemberId(*id), old);
    }
    if shape.foreign && !members.is_empty() {
        let member = Member { machine: None, voter: true, started: true, lag: Some(0) };
        members.insert(MemberId(99), member);
    }
    match shape.kind {
        0 => not_known("no answer"),
        1 => known(Etcd::default(), Source::TalosApi),
        _ => known(Etcd { members, leader, apart }, Source::TalosApi),
    }
}

pub(crate) fn is_healthy(member: &Member) -> bool {
    member.started && member.lag.is_some_and(|lag| lag <= MAX_LAG)
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a small number")
}

/// The class of all machines that a provider makes.
pub(crate) const CLASS: &str = "small";

pub(crate) fn class(name: &str) -> ClassName {
    name.parse().expect("a class")
}

pub(crate) fn digest(number: u32) -> Digest {
    format!("{number:064x}").parse().expect("a digest")
}
