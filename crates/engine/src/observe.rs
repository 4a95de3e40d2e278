//! What can be seen of a cluster now: many machines at once, and what etcd and Kubernetes say.
//!
//! Always holds: a machine that does not answer is a fact, not a failure, and keeps nothing back of the others; nothing is
//! written, neither to machines nor to the journal. A fact is as old as the question for it. The configuration of a machine
//! is dropped when it has been compared: only of those machines that are asked at the same time is one held.

use std::collections::BTreeMap;

use domain::{
    Etcd, Fact, Inventory, MachineFacts, MachineName, Member, MemberId, Moment, NodeName,
    NodeState, Source, Standing,
};
use futures_util::future::join;
use futures_util::stream::{Stream, StreamExt, iter};
use plan::{Live, RETURNS_WITHIN, RenderError, Renderings};

use crate::cluster::{Cluster, MachineAddress};
use crate::error::{Error, PortError};
use crate::event::Event;
use crate::journal::Ledger;
use crate::locate::{LocatedMachine, locate};
use crate::ports::{
    ApiError, Component, ListedMember, Machines, MemberState, NextBoot, NodeStatus, Observed,
    OwnMachine, Ports,
};

/// What was seen, and what every machine should have beside what it has.
pub(crate) struct Observation {
    pub(crate) inventory: Inventory,
    pub(crate) desired: Renderings,
}

pub(crate) async fn observe_all(
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<Observation, Error> {
    let mut renderer = cluster.renderer();
    let mut desired = Renderings::new();
    let inventory = look(cluster, ports, |name, own| {
        let live = own.and_then(|own| {
            let staged = match &own.next_boot {
                NextBoot::Other(config) => Some(&**config),
                NextBoot::NotKnown | NextBoot::Same => None,
            };
            Some(Live { config: own.config.as_ref()?, talos: Some(&own.talos), staged })
        });
        desired.insert(name.clone(), renderer.render(name, live)?);
        Ok(())
    });
    Ok(Observation { inventory: inventory.await?, desired })
}

/// What was seen of a cluster.
pub async fn observe(cluster: &Cluster, ports: &Ports<'_>) -> Result<Inventory, Error> {
    look(cluster, ports, |_, _| Ok(())).await
}

/// What runs on machines of ours, each asked for itself.
pub async fn components(
    addresses: &[MachineAddress],
    machines: &dyn Machines,
) -> Vec<Result<Vec<Component>, PortError>> {
    let addresses: Vec<_> = addresses.iter().collect();
    each(&addresses, |address| machines.components(address)).await
}

/// What a machine of ours should run as a part of Kubernetes and does not, each with its reason.
pub(crate) async fn unwell(
    address: &MachineAddress,
    machines: &dyn Machines,
) -> Result<Vec<String>, PortError> {
    let components = machines.components(address).await?.into_iter();
    let unwell = components
        .filter(|component| CORE.contains(&component.name.as_str()) && !component.is_healthy);
    Ok(unwell
        .map(|Component { name, state, reason, .. }| match reason.as_str() {
            "" => format!("{name}: {state}"),
            _ => format!("{name}: {reason}"),
        })
        .collect())
}

/// Looks at everything. What a machine of ours says is given to `compare`, and only digests of it are kept.
async fn look(
    cluster: &Cluster,
    ports: &Ports<'_>,
    mut compare: impl FnMut(&MachineName, Option<&OwnMachine>) -> Result<(), RenderError> + Send,
) -> Result<Inventory, Error> {
    let mut ledger = ports.journal.ledger().await?;
    let located = locate(cluster, ports).await?;
    let mut machines = BTreeMap::new();
    let mut unreachable = Vec::new();
    for located_machine in &located.machines {
        let Err(why) = &located_machine.address else { continue };
        let name = &located_machine.name;
        if matches!(located_machine.instance, Fact::Known { value: None, .. }) {
            ledger.saw_absence(name);
        }
        compare(name, None)?;
        let observed = Observed::Unreachable(why.clone());
        let mut facts = facts(located_machine, observed, &ledger, cluster, located.at);
        if has_no_etcd(&facts) {
            facts.member = known(None, located.at, Source::Provider);
        }
        machines.insert(name.clone(), facts);
        unreachable.push((name.clone(), why.clone()));
    }
    let asking = located.machines.iter().filter_map(|located_machine| {
        let address = located_machine.address.as_ref().ok()?;
        Some((located_machine, address))
    });
    let asking = asking.map(|(located_machine, address)| async move {
        let asked = ports.clock.now();
        let observed = ports.machines.observe(address).await;
        let disks = match observed {
            Observed::Maintenance => ports.machines.disks(address).await,
            _ => Err("not in maintenance".to_owned()),
        };
        let unwell = match observed {
            Observed::Ours(_) if located_machine.control_plane => {
                unwell(address, ports.machines).await.map_err(|error| error.message)
            }
            _ => Err("not asked".to_owned()),
        };
        (located_machine, asked, observed, disks, unwell)
    });
    let mut told = Addresses::new();
    let mut answers = at_once(asking.collect());
    let observing = async {
        while let Some((located_machine, asked, observed, disks, unwell)) = answers.next().await {
            let name = &located_machine.name;
            let mut own = None;
            match &observed {
                Observed::Unreachable(why) => unreachable.push((name.clone(), why.clone())),
                Observed::Maintenance => ledger.saw_maintenance(name),
                Observed::Ours(machine) => {
                    told.insert(name.clone(), machine.addresses.clone());
                    own = Some(&**machine);
                }
                Observed::Foreign => {}
            }
            compare(name, own)?;
            let mut facts = facts(located_machine, observed, &ledger, cluster, asked);
            facts.disks = match disks {
                Ok(disks) => known(disks, asked, Source::Maintenance),
                Err(why) => Fact::NotKnown { why },
            };
            facts.unwell = match unwell {
                Ok(unwell) => known(unwell, asked, Source::TalosApi),
                Err(why) => Fact::NotKnown { why },
            };
            machines.insert(name.clone(), facts);
        }
        Ok::<_, RenderError>(())
    };
    let nodes_asked = ports.clock.now();
    let (observed, nodes) = join(observing, ports.kubernetes.nodes()).await;
    observed?;
    for (name, facts) in &mut machines {
        facts.kubernetes = node_state(facts, name, &nodes, nodes_asked);
    }
    ports.events.emit(&Event::Observed { machines: machines.len(), unreachable });
    let control_planes = located.control_planes();
    let standings: Vec<_> = control_planes
        .iter()
        .filter(|machine| !has_no_etcd(&machines[&machine.name]))
        .map(|machine| (*machine, machines[&machine.name].standing.clone()))
        .collect();
    let asked = members(&control_planes, &standings, told, ports).await;
    for (name, member) in asked.own_members() {
        if let Some(facts) = machines.get_mut(name) {
            facts.member = member;
        }
    }
    let etcd = asked.combine(&ledger, ports).await;
    let api = match nodes {
        Ok(_) | Err(ApiError::Refused(_)) => known(true, nodes_asked, Source::Kubernetes),
        Err(ApiError::Unreachable(error)) => Fact::NotKnown { why: error.message },
    };
    let vault_asked = ports.clock.now();
    let kubeconfig = known(ports.vault.has_kubeconfig().await, vault_asked, Source::Directory);
    let (begun, bootstrapping) = (ledger.members, ledger.bootstrapping);
    let (orphans, taken) = (located.orphans, ports.clock.now());
    Ok(Inventory { taken, machines, etcd, api, begun, bootstrapping, kubeconfig, orphans })
}

/// The members of etcd as they are now.
///
/// A control plane that does not answer counts as one without etcd where `is_waived` says so.
pub(crate) async fn etcd_now(
    cluster: &Cluster,
    ports: &Ports<'_>,
    is_waived: impl Fn(&MachineName) -> bool,
) -> Result<Fact<Etcd>, Error> {
    let ledger = ports.journal.ledger().await?;
    let located = locate(cluster, ports).await?;
    let now = ports.clock.now();
    let control_planes = located.control_planes();
    let asking = control_planes.iter().map(|machine| async move {
        match &machine.address {
            Ok(address) => ports.machines.observe(address).await,
            Err(why) => Observed::Unreachable(why.clone()),
        }
    });
    let observed: Vec<Observed> = at_once(asking.collect()).collect().await;
    let mut told = Addresses::new();
    let mut standings = Vec::new();
    for (machine, observed) in control_planes.iter().copied().zip(observed) {
        let standing = standing(machine, &observed, &ledger, cluster, now);
        let is_seen = matches!(&standing, Fact::Known { value, .. } if *value != Standing::Away);
        let is_absent = is_without_etcd(&standing, ledger.recorded.contains_key(&machine.name));
        if !is_absent && (is_seen || !is_waived(&machine.name)) {
            standings.push((machine, standing));
        }
        if let Observed::Ours(own) = observed {
            told.insert(machine.name.clone(), own.addresses);
        }
    }
    let asked = members(&control_planes, &standings, told, ports).await;
    Ok(asked.combine(&ledger, ports).await)
}

/// Whether a machine certainly has no etcd because it is not there, or was never configured.
fn has_no_etcd(facts: &MachineFacts) -> bool {
    is_without_etcd(&facts.standing, facts.recorded.is_some())
}

fn is_without_etcd(standing: &Fact<Standing>, recorded: bool) -> bool {
    match standing {
        Fact::Known { value: Standing::Starting, .. } => true,
        // What is gone may have taken an etcd along.
        Fact::Known { value: Standing::Absent, .. } => !recorded,
        _ => false,
    }
}

fn standing(
    machine: &LocatedMachine,
    observed: &Observed,
    ledger: &Ledger,
    cluster: &Cluster,
    now: Moment,
) -> Fact<Standing> {
    let name = &machine.name;
    if let Fact::Known { value: None, .. } = machine.instance {
        return known(Standing::Absent, now, Source::Provider);
    }
    let configured = ledger.configuring.get(name).map(|since| now.since(*since));
    match observed {
        Observed::Maintenance => known(Standing::Maintenance, now, Source::Maintenance),
        // It answers while it is installed, before it is any installation.
        Observed::Ours(own) if configured.is_some() && !(own.is_settled && own.node.is_some()) => {
            known(Standing::Coming, now, Source::TalosApi)
        }
        Observed::Ours(_) => known(Standing::Ours, now, Source::TalosApi),
        Observed::Foreign => known(Standing::Another, now, Source::TalosApi),
        Observed::Unreachable(why) => {
            let generation = match &machine.instance {
                Fact::Known { value: Some(instance), .. } => Some(&instance.generation),
                _ => None,
            };
            let disturbed = ledger.disturbed.get(name).map(|since| now.since(*since));
            match (configured, disturbed) {
                (Some(ago), _) if ago <= cluster.spec.policy.install_within => {
                    known(Standing::Coming, now, Source::Directory)
                }
                (Some(ago), _) => Fact::NotKnown {
                    why: format!(
                        "{why}; it was configured {ago} ago and has not been seen since: look at its \
                         console, and boot it into maintenance to begin again"
                    ),
                },
                // What was reset is not expected as it was.
                (None, Some(ago)) if ago <= RETURNS_WITHIN && !ledger.resetting.contains(name) => {
                    known(Standing::Away, now, Source::Directory)
                }
                // This journal asked for it, and nothing was done with it since. A journal that did not ask does not know.
                (None, None)
                    if ledger.generations.get(name) == generation
                        && generation.is_some()
                        && !ledger.recorded.contains_key(name) =>
                {
                    known(Standing::Starting, now, Source::Provider)
                }
                (None, _) => Fact::NotKnown { why: why.clone() },
            }
        }
    }
}

fn facts(
    machine: &LocatedMachine,
    observed: Observed,
    ledger: &Ledger,
    cluster: &Cluster,
    now: Moment,
) -> MachineFacts {
    let name = &machine.name;
    let standing = standing(machine, &observed, ledger, cluster, now);
    let why = match &observed {
        Observed::Maintenance => "in maintenance",
        Observed::Ours(_) => "not told",
        Observed::Foreign => "foreign",
        Observed::Unreachable(why) => why,
    };
    let mut facts = MachineFacts {
        address: match &machine.address {
            Ok(known_at) => {
                let source = match machine.instance {
                    Fact::Known { .. } => Source::Provider,
                    Fact::NotKnown { .. } => Source::Directory,
                };
                known(known_at.address, now, source)
            }
            Err(why) => not_known(why),
        },
        instance: machine.instance.clone(),
        generation: ledger.generations.get(name).copied().unwrap_or_default(),
        standing,
        node: not_known(why),
        recorded: ledger.recorded.get(name).cloned(),
        boot: not_known(why),
        talos: not_known(why),
        config: not_known(why),
        staged: not_known(why),
        disks: not_known(why),
        member: not_known(why),
        node_name: not_known(why),
        kubernetes: not_known(why),
        unwell: not_known(why),
        disturbed: ledger.disturbed.get(name).copied(),
    };
    let Observed::Ours(own) = observed else { return facts };
    let OwnMachine { node, boot, talos, config, next_boot, addresses: _, node_name, is_settled: _ } =
        *own;
    facts.talos = known(talos, now, Source::TalosApi);
    facts.node = fact(node, now);
    facts.boot = fact(boot, now);
    facts.node_name = fact(node_name, now);
    facts.config = fact(config.as_ref().map(|config| cluster.key.config(config)), now);
    match next_boot {
        NextBoot::NotKnown => {}
        NextBoot::Same => facts.staged = known(None, now, Source::TalosApi),
        NextBoot::Other(staged) => {
            let digest = cluster.key.config(&staged);
            let differs = !matches!(&facts.config, Fact::Known { value, .. } if *value == digest);
            facts.staged = known(differs.then_some(digest), now, Source::TalosApi);
        }
    }
    // What configured it did not live to write down which installation it became.
    if ledger.configuring.contains_key(name)
        && let Fact::Known { value, .. } = &facts.node
    {
        facts.recorded = Some(value.clone());
    }
    facts
}

/// What Kubernetes says about a machine's node.
fn node_state(
    facts: &MachineFacts,
    name: &MachineName,
    nodes: &Result<Vec<NodeStatus>, ApiError>,
    now: Moment,
) -> Fact<NodeState> {
    let nodes = match nodes {
        Ok(nodes) => nodes,
        Err(error) => return not_known(error.message()),
    };
    let node_name = facts.node_name.current(now).cloned().unwrap_or_else(|| NodeName::from(name));
    let found = nodes.iter().find(|node| node.name == node_name);
    known(found.map_or(NodeState::Absent, |node| node.state), now, Source::Kubernetes)
}

/// What every control plane said about its own member.
struct Asked<'a> {
    at: Moment,
    /// Members of machines of ours.
    own: BTreeMap<MemberId, (&'a MachineAddress, MemberState)>,
    /// Machines that certainly have none.
    without: Vec<&'a MachineName>,
    /// A control plane that does not answer.
    unreachable: Option<String>,
    /// Why something else is not known.
    problem: Option<String>,
    control_planes: Vec<&'a MachineAddress>,
    told: Addresses,
}

/// All addresses of each machine that told them.
type Addresses = BTreeMap<MachineName, Vec<String>>;

/// Asks the control planes for their members: those of `standings`, since others certainly have none.
async fn members<'a>(
    control_planes: &[&'a LocatedMachine],
    standings: &[(&'a LocatedMachine, Fact<Standing>)],
    told: Addresses,
    ports: &Ports<'_>,
) -> Asked<'a> {
    let mut asked = Asked {
        at: ports.clock.now(),
        own: BTreeMap::new(),
        without: Vec::new(),
        unreachable: None,
        problem: None,
        control_planes: control_planes
            .iter()
            .filter_map(|machine| machine.address.as_ref().ok())
            .collect(),
        told,
    };
    let mut ours = Vec::new();
    for (machine, standing) in standings {
        let name = &machine.name;
        match (standing, &machine.address) {
            (Fact::Known { value: Standing::Ours, .. }, Ok(address)) => ours.push(address),
            (Fact::Known { value: Standing::Maintenance | Standing::Coming, .. }, _) => {
                asked.without.push(name);
            }
            (Fact::Known { value: Standing::Another, .. }, _) => {
                asked.problem = Some(format!("{name} is foreign"));
            }
            (Fact::Known { value: Standing::Away | Standing::Starting, .. }, _) => {
                asked.unreachable = Some(format!("{name} is not back yet"));
            }
            (Fact::Known { value: Standing::Absent, .. }, _) => {
                asked.unreachable = Some(format!("{name} is gone"));
            }
            (Fact::NotKnown { why }, _) | (Fact::Known { value: Standing::Ours, .. }, Err(why)) => {
                asked.unreachable = Some(format!("{name} is unreachable ({why})"));
            }
        }
    }
    let states = each(&ours, |address| ports.etcd.status(address)).await;
    for (address, state) in ours.into_iter().zip(states) {
        match state {
            Ok(Some(state)) => {
                asked.own.insert(state.id, (address, state));
            }
            Ok(None) => asked.without.push(&address.name),
            Err(error) => asked.problem = Some(format!("{}: {}", address.name, error.message)),
        }
    }
    asked
}

impl<'a> Asked<'a> {
    /// The member of each machine that told about it.
    fn own_members(&self) -> Vec<(&'a MachineName, Fact<Option<MemberId>>)> {
        let own = self.own.iter().map(|(id, (address, _))| (&address.name, Some(*id)));
        let without = self.without.iter().map(|name| (*name, None));
        own.chain(without)
            .map(|(name, member)| (name, known(member, self.at, Source::TalosApi)))
            .collect()
    }

    /// The members of etcd. That there are none is a fact only when every control plane has said so.
    async fn combine(&self, ledger: &Ledger, ports: &Ports<'_>) -> Fact<Etcd> {
        let now = self.at;
        let mut problem = self.problem.clone().or_else(|| self.unreachable.clone());
        // A member that answers knows the others.
        for (address, _) in self.own.values() {
            match ports.etcd.list(address).await {
                Ok(listed) => return known(self.members(&listed, ledger), now, Source::TalosApi),
                Err(error) => problem = Some(format!("{}: {}", address.name, error.message)),
            }
        }
        match problem {
            Some(why) => Fact::NotKnown { why },
            None => known(Etcd::default(), now, Source::TalosApi),
        }
    }

    fn members(&self, listed: &[ListedMember], ledger: &Ledger) -> Etcd {
        let max_applied = self.own.values().map(|(_, state)| state.applied).max();
        let leader = self.leader(listed);
        let members = listed.iter().map(|listed| {
            let state = self.own.get(&listed.id);
            // By its own word, by what was recorded, and only then by the addresses that peers use.
            let machine = state
                .map(|(address, _)| address.name.clone())
                .or_else(|| ledger.members.get(&listed.id).cloned())
                .or_else(|| self.by_address(listed));
            let member = Member {
                machine,
                voter: listed.voter,
                started: !listed.name.is_empty(),
                // A member that follows no leader, or another one, is cut off from the others: it answers and does not vote.
                lag: state
                    .filter(|(_, state)| leader.is_some() && state.leader == leader)
                    .map(|(_, state)| max_applied.unwrap_or_default() - state.applied),
            };
            (listed.id, member)
        });
        let members: BTreeMap<MemberId, Member> = members.collect();
        let apart = self
            .own
            .iter()
            .filter(|(id, _)| !members.contains_key(id))
            .map(|(_, (address, _))| address.name.clone())
            .collect();
        Etcd { members, leader, apart }
    }

    /// The leader that most members follow, if it is one of those that are listed.
    fn leader(&self, listed: &[ListedMember]) -> Option<MemberId> {
        let mut followers: BTreeMap<MemberId, usize> = BTreeMap::new();
        for leader in self.own.values().filter_map(|(_, state)| state.leader) {
            *followers.entry(leader).or_default() += 1;
        }
        followers.retain(|leader, _| listed.iter().any(|member| member.id == *leader));
        followers.into_iter().max_by_key(|(_, count)| *count).map(|(leader, _)| leader)
    }

    fn by_address(&self, listed: &ListedMember) -> Option<MachineName> {
        let mut machines = self.control_planes.iter();
        let found = machines.find(|known| listed.addresses.contains(&known.address.to_string()));
        if let Some(found) = found {
            return Some(found.name.clone());
        }
        // Peers may talk over a network that the spec does not name. An address that two machines have, as one that moves
        // between them, says nothing.
        let has = |told: &[String]| told.iter().any(|address| listed.addresses.contains(address));
        let mut machines = self.told.iter().filter(|(_, told)| has(told));
        match (machines.next(), machines.next()) {
            (Some((name, _)), None) => Some(name.clone()),
            _ => None,
        }
    }
}

/// Asks machines, not too many at once, and gives the answers in their order.
async fn each<'a, T, F: Future<Output = T>>(
    addresses: &[&'a MachineAddress],
    ask: impl Fn(&'a MachineAddress) -> F,
) -> Vec<T> {
    let asking = addresses.iter().copied().map(ask).collect();
    at_once(asking).collect().await
}

/// The answers of all who are asked, in their order and as they come. A list and no closure: the future of a pass could not be
/// sent to another thread otherwise.
fn at_once<T, F: Future<Output = T>>(asking: Vec<F>) -> impl Stream<Item = T> + Unpin {
    Box::pin(iter(asking).buffered(AT_ONCE))
}

fn fact<T>(value: Option<T>, now: Moment) -> Fact<T> {
    match value {
        Some(value) => known(value, now, Source::TalosApi),
        None => not_known("the machine does not tell yet"),
    }
}

fn known<T>(value: T, seen: Moment, source: Source) -> Fact<T> {
    Fact::Known { value, seen, source }
}

fn not_known<T>(why: &str) -> Fact<T> {
    Fact::NotKnown { why: why.to_owned() }
}

/// As many machines as are asked at the same time: enough to hide their latency, few enough for the limit of open files.
pub(crate) const AT_ONCE: usize = 32;

/// What has to be well on a machine for it to serve. Other services come and go by themselves, and etcd is judged by its
/// members.
const CORE: [&str; 4] = ["kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
