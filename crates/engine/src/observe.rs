//! Observation of a cluster: many machines at once, and what etcd and Kubernetes report.
//!
//! Always holds: a machine that does not answer is a fact, not a failure, and keeps nothing back of the others;
//! nothing is written, neither to machines nor to the journal. A fact is as old as the question for it. The
//! configuration of a machine is dropped when it has been compared: only of those machines that are asked at the same
//! time is one held.

mod etcd;
mod ownership;

use std::collections::BTreeMap;

use domain::{
    Fact, Inventory, MachineFacts, MachineName, NodeName, NodeState, Ownership, Source, Timestamp,
};
use futures_util::future::join;
use futures_util::stream::{Stream, StreamExt, iter};
use plan::{ConfigChange, Live, RenderError, Renderings};

use crate::cluster::{Cluster, MachineAddress};
use crate::error::{Error, PortError};
use crate::event::Event;
use crate::locate::{Known, locate};
use crate::ports::{
    ApiError, Component, Machines, NextBoot, NodeStatus, Observed, OwnMachine, Ports,
};

pub(crate) use etcd::etcd_now;
use etcd::{Addresses, members};
use ownership::{facts, has_no_etcd};

/// The observed facts, and the configuration that every machine should have beside what it has.
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
    let known = Known::new();
    let inventory = look(&known, cluster, ports, |name, own| {
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

/// Observes a cluster.
pub async fn observe(cluster: &Cluster, ports: &Ports<'_>) -> Result<Inventory, Error> {
    observe_from(&Known::new(), cluster, ports).await
}

/// Returns the same, with the addresses that machines had a while ago where their provider cannot be asked for a
/// moment.
pub(crate) async fn observe_from(
    known: &Known,
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<Inventory, Error> {
    look(known, cluster, ports, |_, _| Ok(())).await
}

/// A machine's configuration beside what it should be; where it has none to compare, the reason.
pub type Compared = Result<ConfigChange, NotCompared>;

/// A machine whose configuration could not be compared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NotCompared {
    /// Whose machine it is, if that is known.
    pub ownership: Option<Ownership>,
    /// The reason.
    pub why: String,
}

/// Compares every machine with the spec.
pub async fn compare_live(
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<BTreeMap<MachineName, Compared>, Error> {
    let Observation { inventory, desired } = observe_all(cluster, ports).await?;
    let compared = desired.into_iter().map(|(name, rendering)| {
        let why_not = || match inventory.machines.get(&name) {
            Some(facts) => NotCompared {
                ownership: facts.ownership.current(inventory.taken).copied(),
                why: facts.config.why_not(inventory.taken),
            },
            None => NotCompared { ownership: None, why: "not observed".to_owned() },
        };
        let change = rendering.change.ok_or_else(why_not);
        (name, change)
    });
    Ok(compared.collect())
}

/// Reads the components of machines of ours, each from the machine itself.
pub async fn components(
    addresses: &[MachineAddress],
    machines: &dyn Machines,
) -> Vec<Result<Vec<Component>, PortError>> {
    let addresses: Vec<_> = addresses.iter().collect();
    for_each_machine(&addresses, |address| machines.components(address)).await
}

/// Returns the parts of Kubernetes that a machine of ours should run and does not, each with its reason.
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
    known_at: &Known,
    cluster: &Cluster,
    ports: &Ports<'_>,
    mut compare: impl FnMut(&MachineName, Option<&OwnMachine>) -> Result<(), RenderError> + Send,
) -> Result<Inventory, Error> {
    let mut ledger = ports.journal.ledger().await?;
    let located = locate(known_at, cluster, ports).await?;
    let mut machines = BTreeMap::new();
    let mut unreachable = Vec::new();
    for located_machine in &located.machines {
        let Err(why) = &located_machine.address else { continue };
        let name = &located_machine.name;
        if matches!(located_machine.instance, Fact::Known { value: None, .. }) {
            ledger.saw_reset(name);
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
                Observed::Maintenance => ledger.saw_reset(name),
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
    ports.emit(&Event::Observed { machines: machines.len(), unreachable });
    let control_planes = located.control_planes();
    let ownerships: Vec<_> = control_planes
        .iter()
        .filter(|machine| !has_no_etcd(&machines[&machine.name]))
        .map(|machine| (*machine, machines[&machine.name].ownership.clone()))
        .collect();
    let asked = members(&control_planes, &ownerships, told, ports).await;
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

/// Returns the state of a machine's node in Kubernetes.
fn node_state(
    facts: &MachineFacts,
    name: &MachineName,
    nodes: &Result<Vec<NodeStatus>, ApiError>,
    now: Timestamp,
) -> Fact<NodeState> {
    let nodes = match nodes {
        Ok(nodes) => nodes,
        Err(error) => return not_known(error.message()),
    };
    let node_name = facts.node_name.current(now).cloned().unwrap_or_else(|| NodeName::from(name));
    let found = nodes.iter().find(|node| node.name == node_name);
    known(found.map_or(NodeState::Absent, |node| node.state), now, Source::Kubernetes)
}

/// Asks machines, not too many at once, and gives the answers in their order.
async fn for_each_machine<'a, T, F: Future<Output = T>>(
    addresses: &[&'a MachineAddress],
    ask: impl Fn(&'a MachineAddress) -> F,
) -> Vec<T> {
    let asking = addresses.iter().copied().map(ask).collect();
    at_once(asking).collect().await
}

/// Returns the answers of all who are asked, in their order and as they come. A list and no closure: the future of a
/// pass could not be sent to another thread otherwise.
fn at_once<T, F: Future<Output = T>>(asking: Vec<F>) -> impl Stream<Item = T> + Unpin {
    Box::pin(iter(asking).buffered(AT_ONCE))
}

fn known<T>(value: T, seen: Timestamp, source: Source) -> Fact<T> {
    Fact::Known { value, seen, source }
}

fn not_known<T>(why: &str) -> Fact<T> {
    Fact::NotKnown { why: why.to_owned() }
}

/// As many machines as are asked at the same time: enough to hide their latency, few enough for the limit of open
/// files.
pub(crate) const AT_ONCE: usize = 32;

/// The services that have to be healthy for a machine to serve. Other services come and go by themselves, and etcd is
/// judged by its members.
const CORE: [&str; 4] = ["kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler"];
