//! A cluster to plan for: a spec, secrets, and what was seen, each changed as a test wants it.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "each test target uses its own part"
)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use plan::{
    BootId, ClusterSpec, Digest, DigestKey, Etcd, Fact, Goal, Instance, Inventory, Layers, Live,
    MachineFacts, MachineName, Member, MemberId, NodeIdentity, NodeState, Override, Ownership,
    Planned, PlanningInput, Refusal, RenderError, Renderer, Renderings, Source, SpecError,
    TalosVersion, Timestamp,
};
use talos_config::{Bundle, Confidential, Config, Contract, Mode, Secret, SecretSource};

pub struct World {
    pub spec: ClusterSpec,
    pub goal: Goal,
    pub patches: BTreeMap<String, Secret<String>>,
    pub encrypted: BTreeMap<String, Confidential>,
    pub key: DigestKey,
    pub live: BTreeMap<MachineName, Config>,
    /// What machines boot with next, where that is something else.
    pub staged: BTreeMap<MachineName, Config>,
    pub inventory: Inventory,
    pub overrides: Vec<Override>,
}

impl World {
    pub fn new(text: &str) -> Result<Self, SpecError> {
        let spec = ClusterSpec::parse(text, talos_config::SourceId(1))?;
        let machines = spec.machines().map(|(machine, _)| {
            let why = "not looked at".to_owned();
            (machine.name.clone(), unseen(&why))
        });
        let inventory = Inventory {
            taken: NOW,
            machines: machines.collect(),
            etcd: not_known("no control plane answered"),
            api: not_known("there is no kubeconfig"),
            begun: BTreeMap::new(),
            bootstrapping: None,
            kubeconfig: known(false, Source::Directory),
            orphans: known(Vec::new(), Source::Provider),
        };
        Ok(Self {
            spec,
            goal: Goal::Spec,
            patches: BTreeMap::new(),
            encrypted: BTreeMap::new(),
            key: DigestKey::new([7; 32]),
            live: BTreeMap::new(),
            staged: BTreeMap::new(),
            inventory,
            overrides: Vec::new(),
        })
    }

    /// The text of a spec with so many machines.
    pub fn text(control_planes: usize, workers: usize, more: &str) -> String {
        let machine = |name: &str, number: usize, net: usize| {
            format!(
                "      - {{name: {name}-{number}, address: 10.{net}.{}.{}}}\n",
                number / 250,
                number % 250
            )
        };
        let control_planes: String = (1..=control_planes).map(|at| machine("cp", at, 1)).collect();
        let workers: String = (1..=workers).map(|at| machine("w", at, 2)).collect();
        let pools = if workers.is_empty() {
            String::new()
        } else {
            format!("pools:\n  - name: workers\n    machines:\n{workers}")
        };
        format!(
            "ichor: v1\ncluster: home\n{more}controlPlane:\n    machines:\n{control_planes}{pools}"
        )
    }

    pub fn names(&self) -> Vec<MachineName> {
        self.spec.machines().map(|(machine, _)| machine.name.clone()).collect()
    }

    pub fn facts(&mut self, name: &MachineName) -> &mut MachineFacts {
        self.inventory.machines.entry(name.clone()).or_insert_with(|| unseen("not looked at"))
    }

    /// A machine that waits for configuration and was never ours.
    pub fn maintenance(&mut self, name: &MachineName) {
        self.reset(name);
        self.facts(name).recorded = None;
    }

    /// A machine that waits for configuration, whatever it was before.
    pub fn reset(&mut self, name: &MachineName) {
        let facts = self.facts(name);
        let MachineFacts { recorded, instance, generation, .. } = facts.clone();
        *facts =
            MachineFacts { recorded, instance, generation, ..unseen("it has no configuration") };
        facts.ownership = known(Ownership::Maintenance, Source::Maintenance);
        facts.kubernetes = known(NodeState::Absent, Source::Kubernetes);
        self.live.remove(name);
    }

    /// A machine that was configured by us, and boots.
    pub fn coming(&mut self, name: &MachineName) {
        self.maintenance(name);
        self.facts(name).ownership = known(Ownership::Booting, Source::Inference);
    }

    /// What the provider has for a machine: this one, or none.
    pub fn provided(&mut self, name: &MachineName, instance: Option<Instance>) {
        let generation = instance.as_ref().map_or(0, |instance| instance.generation);
        let facts = self.facts(name);
        let ownership = instance.as_ref().map_or(Ownership::NotProvided, |_| Ownership::Provided);
        facts.ownership = known(ownership, Source::Provider);
        facts.instance = known(instance, Source::Provider);
        facts.generation = facts.generation.max(generation);
    }

    /// Machines that run with the configuration that the spec gives them now.
    pub fn running(&mut self, names: &[MachineName]) -> Result<(), RenderError> {
        let layers = self.layers();
        let mut renderer = Renderer::new(&self.spec, &layers, &SECRETS, &self.key, Mode::Metal);
        let configs = names.iter().map(|name| Ok((name.clone(), renderer.config(name)?)));
        for (name, config) in configs.collect::<Result<Vec<_>, RenderError>>()? {
            let facts = ours(&name, self.key.config(&config), self.spec.talos.clone());
            let place = self.facts(&name);
            let MachineFacts { instance, generation, .. } = place.clone();
            *place = MachineFacts { instance, generation, ..facts };
            self.live.insert(name, config);
        }
        Ok(())
    }

    /// The machine's member of etcd, voting and caught up.
    pub fn voter(&mut self, name: &MachineName) {
        let mut etcd = self.etcd();
        let id = MemberId(0xe0 + etcd.members.len() as u64 + 1);
        let machine = Some(name.clone());
        etcd.members.insert(id, Member { machine, voter: true, started: true, lag: Some(0) });
        etcd.leader = etcd.leader.or(Some(id));
        self.inventory.etcd = known(etcd, Source::TalosApi);
        self.facts(name).member = known(Some(id), Source::TalosApi);
        self.inventory.api = known(true, Source::Kubernetes);
    }

    pub fn etcd(&self) -> Etcd {
        self.inventory.etcd.current(self.inventory.taken).cloned().unwrap_or_default()
    }

    pub fn layers(&self) -> Layers {
        Layers::native(&self.spec, "ichor.yaml", &self.patches, &self.encrypted).expect("layers")
    }

    pub fn renderings(&self) -> Result<Renderings, RenderError> {
        let layers = self.layers();
        let mut renderer = Renderer::new(&self.spec, &layers, &SECRETS, &self.key, Mode::Metal);
        let mut renderings = Renderings::new();
        for (machine, _) in self.spec.machines() {
            let facts = self.inventory.machines.get(&machine.name);
            let talos = facts.and_then(|facts| facts.talos.current(self.inventory.taken));
            let staged = self.staged.get(&machine.name);
            let live = self.live.get(&machine.name).map(|config| Live { config, talos, staged });
            let rendering = renderer.render(&machine.name, live)?;
            renderings.insert(machine.name.clone(), rendering);
        }
        Ok(renderings)
    }

    pub fn input<'a>(&'a self, desired: &'a Renderings) -> PlanningInput<'a> {
        PlanningInput {
            spec: &self.spec,
            goal: self.goal,
            desired,
            inventory: &self.inventory,
            identity: self.key.cluster(&self.spec.cluster),
            parent: None,
            overrides: &self.overrides,
        }
    }

    pub fn plan(&self, desired: &Renderings) -> Result<Planned, Refusal> {
        plan::plan(&self.input(desired))
    }
}

/// Everything about a machine that runs and is in service.
pub fn ours(name: &MachineName, digest: Digest, talos: TalosVersion) -> MachineFacts {
    let node = NodeIdentity(format!("node-of-{name}"));
    MachineFacts {
        address: not_known(NO_PLACE),
        instance: not_known(NO_PLACE),
        generation: 0,
        ownership: known(Ownership::Ours, Source::TalosApi),
        node: known(node.clone(), Source::TalosApi),
        recorded: Some(node),
        boot: known(BootId(format!("boot-of-{name}")), Source::TalosApi),
        talos: known(talos, Source::TalosApi),
        config: known(digest, Source::TalosApi),
        staged: known(None, Source::TalosApi),
        disks: not_known("Talos is installed"),
        member: known(None, Source::TalosApi),
        node_name: known(name.into(), Source::TalosApi),
        kubernetes: known(NodeState::Ready, Source::Kubernetes),
        unwell: known(Vec::new(), Source::TalosApi),
        disturbed: None,
    }
}

/// Nothing about a machine.
pub fn unseen(why: &str) -> MachineFacts {
    MachineFacts {
        address: not_known(NO_PLACE),
        instance: not_known(NO_PLACE),
        generation: 0,
        ownership: not_known(why),
        node: not_known(why),
        recorded: None,
        boot: not_known(why),
        talos: not_known(why),
        config: not_known(why),
        staged: not_known(why),
        disks: not_known(why),
        member: not_known(why),
        node_name: not_known(why),
        kubernetes: not_known(why),
        unwell: not_known(why),
        disturbed: None,
    }
}

pub fn known<T>(value: T, source: Source) -> Fact<T> {
    Fact::Known { value, seen: NOW, source }
}

pub fn not_known<T>(why: &str) -> Fact<T> {
    Fact::NotKnown { why: why.to_owned() }
}

/// Planner and checker do not read addresses, and most machines here have one in the spec.
const NO_PLACE: &str = "the spec says where it is";

pub const NOW: Timestamp = Timestamp(1_800_000_000);

/// Secrets of no cluster: made of a counter instead of randomness.
pub static SECRETS: LazyLock<Bundle> = LazyLock::new(|| {
    let mut counter = 0_u8;
    let mut random = |bytes: &mut [u8]| {
        for byte in bytes {
            counter = counter.wrapping_mul(5).wrapping_add(3);
            *byte = counter;
        }
    };
    let mut rsa = || unreachable!("the contract below has other keys");
    let mut makers = SecretSource { now: NOW.0, random: &mut random, rsa: &mut rsa };
    Bundle::generate(Contract::new(1, 6), &mut makers)
});
