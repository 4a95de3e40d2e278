//! What can be seen of a cluster now: every machine at once, and what etcd and Kubernetes say.
//!
//! Always holds: a machine that does not answer is a fact and no failure, and keeps nothing back of the others.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::{join, join_all};
use plan::{
    Disk, Etcd, Fact, Inventory, MachineFacts, MachineName, Member, MemberId, Moment, NodeIdentity,
    NodeState, Renderings, Source, Standing,
};
use talos_config::Config;

use crate::cluster::{Cluster, Target};
use crate::error::{Error, Trouble};
use crate::event::Event;
use crate::journal::Entry;
use crate::ports::{Component, ListedMember, Machines, MemberState, Ports, Seen};

/// What was seen, and what every machine should have beside what it has.
pub(crate) struct Observation {
    pub(crate) inventory: Inventory,
    pub(crate) desired: Renderings,
}

pub(crate) async fn observe_all(
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<Observation, Error> {
    let (inventory, live) = look(cluster, ports).await?;
    let desired = cluster.render(&live, &inventory)?;
    Ok(Observation { inventory, desired })
}

/// What was seen of a cluster.
pub async fn observe(cluster: &Cluster, ports: &Ports<'_>) -> Result<Inventory, Error> {
    look(cluster, ports).await.map(|(inventory, _)| inventory)
}

/// The configurations are kept apart: they hold secrets.
async fn look(
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<(Inventory, BTreeMap<MachineName, Config>), Error> {
    let targets = cluster.targets();
    let (mut recorded, configuring) = recorded(ports).await?;
    let (seen, nodes) =
        join(join_all(targets.iter().map(|target| see(target, ports))), ports.kubernetes.nodes())
            .await;
    let now = ports.clock.now();
    let nodes = match nodes {
        Ok(nodes) => Ok(nodes.into_iter().collect::<BTreeMap<String, NodeState>>()),
        Err(trouble) => Err(trouble.message),
    };
    let mut machines = BTreeMap::new();
    let mut live = BTreeMap::new();
    let mut ours = Vec::new();
    let mut unseen = Vec::new();
    for (target, (seen, disks)) in targets.iter().zip(seen) {
        if let Seen::Unseen(why) = &seen {
            unseen.push((target.name.clone(), why.clone()));
        }
        if let Seen::Ours { node, .. } = &seen {
            if cluster.spec.is_control_plane(&target.name) {
                ours.push(target.clone());
            }
            // Whoever configured it did not live to write down which installation it became.
            if configuring.contains(&target.name) {
                let entry = Entry::Recorded { machine: target.name.clone(), node: node.clone() };
                ports.journal.append(entry).await?;
                recorded.insert(target.name.clone(), node.clone());
            }
        }
        let state = nodes.as_ref().map(|nodes| nodes.get(target.name.as_str()).copied());
        let kubernetes = match state {
            Ok(state) => known(state.unwrap_or(NodeState::Absent), now, Source::Kubernetes),
            Err(why) => Fact::NotKnown { why: why.clone() },
        };
        let recorded = recorded.get(&target.name);
        let disks = match disks {
            Ok(disks) => known(disks, now, Source::Maintenance),
            Err(why) => Fact::NotKnown { why },
        };
        let (facts, config) = facts(seen, recorded, disks, &kubernetes, cluster, now);
        machines.insert(target.name.clone(), facts);
        live.extend(config.map(|config| (target.name.clone(), config)));
    }
    ports.events.tell(&Event::Observed { machines: machines.len(), unseen });
    let etcd = etcd(cluster, &ours, ports).await;
    let kubeconfig = known(ports.vault.has_kubeconfig().await, now, Source::Directory);
    Ok((Inventory { taken: now, machines, etcd, kubeconfig }, live))
}

/// What runs on machines of ours, each asked for itself.
pub async fn components(
    targets: &[Target],
    machines: &dyn Machines,
) -> Vec<Result<Vec<Component>, Trouble>> {
    join_all(targets.iter().map(|target| machines.components(target))).await
}

/// What can be seen of a machine; while it waits for configuration, its disks too.
async fn see(target: &Target, ports: &Ports<'_>) -> (Seen, Result<Vec<Disk>, String>) {
    let seen = ports.machines.see(target).await;
    let disks = match seen {
        Seen::Maintenance => ports.machines.disks(target).await,
        _ => Err("it does not wait for configuration".to_owned()),
    };
    (seen, disks)
}

fn facts(
    seen: Seen,
    recorded: Option<&NodeIdentity>,
    disks: Fact<Vec<Disk>>,
    kubernetes: &Fact<NodeState>,
    cluster: &Cluster,
    now: Moment,
) -> (MachineFacts, Option<Config>) {
    let not_known = |why: &str| MachineFacts {
        standing: Fact::NotKnown { why: why.to_owned() },
        node: Fact::NotKnown { why: why.to_owned() },
        recorded: recorded.cloned(),
        boot: Fact::NotKnown { why: why.to_owned() },
        talos: Fact::NotKnown { why: why.to_owned() },
        config: Fact::NotKnown { why: why.to_owned() },
        disks: disks.clone(),
        kubernetes: kubernetes.clone(),
    };
    match seen {
        Seen::Unseen(why) => (not_known(&why), None),
        Seen::Maintenance => {
            let standing = known(Standing::Maintenance, now, Source::Maintenance);
            (MachineFacts { standing, ..not_known("it waits for configuration") }, None)
        }
        Seen::Another => {
            let standing = known(Standing::Another, now, Source::TalosApi);
            (MachineFacts { standing, ..not_known("it is another cluster's") }, None)
        }
        Seen::Ours { node, boot, talos, config } => {
            let facts = MachineFacts {
                standing: known(Standing::Ours, now, Source::TalosApi),
                node: known(node, now, Source::TalosApi),
                recorded: recorded.cloned(),
                boot: known(boot, now, Source::TalosApi),
                talos: known(talos, now, Source::TalosApi),
                config: known(cluster.key.config(&config), now, Source::TalosApi),
                disks,
                kubernetes: kubernetes.clone(),
            };
            (facts, Some(*config))
        }
    }
}

/// The members of etcd as they are now.
pub(crate) async fn etcd_now(cluster: &Cluster, ports: &Ports<'_>) -> Fact<Etcd> {
    let control_planes = cluster.control_planes();
    let seen = join_all(control_planes.iter().map(|target| ports.machines.see(target))).await;
    let ours = control_planes
        .into_iter()
        .zip(seen)
        .filter(|(_, seen)| matches!(seen, Seen::Ours { .. }))
        .map(|(target, _)| target);
    etcd(cluster, &ours.collect::<Vec<_>>(), ports).await
}

/// The members of etcd, put together from what every control plane that knows us says. `ours` are those.
async fn etcd(cluster: &Cluster, ours: &[Target], ports: &Ports<'_>) -> Fact<Etcd> {
    let now = ports.clock.now();
    if ours.is_empty() {
        return known(Etcd::default(), now, Source::Inference);
    }
    let states = join_all(ours.iter().map(|target| ports.machines.member(target))).await;
    let mut own: BTreeMap<MemberId, (&Target, MemberState)> = BTreeMap::new();
    let mut problem = None;
    for (target, state) in ours.iter().zip(states) {
        match state {
            Ok(Some(state)) => {
                own.insert(state.id, (target, state));
            }
            Ok(None) => {}
            Err(trouble) => problem = Some(format!("{}: {}", target.name, trouble.message)),
        }
    }
    // Whoever is a member knows the others.
    let mut listed = None;
    for (target, _) in own.values() {
        match ports.machines.members(target).await {
            Ok(members) => {
                listed = Some(members);
                break;
            }
            Err(trouble) => problem = Some(format!("{}: {}", target.name, trouble.message)),
        }
    }
    match (listed, problem) {
        (Some(listed), _) => known(combine(cluster, &listed, &own), now, Source::TalosApi),
        (None, Some(why)) => Fact::NotKnown { why },
        (None, None) => known(Etcd::default(), now, Source::TalosApi),
    }
}

fn combine(
    cluster: &Cluster,
    listed: &[ListedMember],
    own: &BTreeMap<MemberId, (&Target, MemberState)>,
) -> Etcd {
    let furthest = own.values().map(|(_, state)| state.applied).max().unwrap_or_default();
    let control_planes = cluster.control_planes();
    let members = listed.iter().map(|listed| {
        let state = own.get(&listed.id);
        let by_address = || {
            let mut targets = control_planes.iter();
            targets.find(|target| listed.addresses.contains(&target.address.to_string()))
        };
        let machine = state.map(|(target, _)| *target).or_else(by_address);
        let member = Member {
            machine: machine.map(|target| target.name.clone()),
            voter: listed.voter,
            started: !listed.name.is_empty(),
            lag: state.map(|(_, state)| furthest - state.applied),
        };
        (listed.id, member)
    });
    let leader = own.values().find_map(|(_, state)| state.leader);
    Etcd { members: members.collect(), leader }
}

/// Which installation each machine was when we last changed it, and the machines that were being configured when somebody
/// was interrupted.
async fn recorded(
    ports: &Ports<'_>,
) -> Result<(BTreeMap<MachineName, NodeIdentity>, BTreeSet<MachineName>), Error> {
    let mut recorded = BTreeMap::new();
    let mut configuring = BTreeSet::new();
    for record in ports.journal.read().await? {
        match record.entry {
            Entry::Configuring { machine } => {
                configuring.insert(machine);
            }
            Entry::Recorded { machine, node } => {
                configuring.remove(&machine);
                recorded.insert(machine, node);
            }
            _ => {}
        }
    }
    Ok((recorded, configuring))
}

fn known<T>(value: T, seen: Moment, source: Source) -> Fact<T> {
    Fact::Known { value, seen, source }
}
