//! The members of etcd, as the control planes tell them.
//!
//! Always holds: that there are no members is a fact only when every control plane that may have one has said so.

use std::collections::BTreeMap;

use domain::{Etcd, Fact, MachineName, Member, MemberId, Ownership, Source, Timestamp};
use futures_util::StreamExt;

use super::ownership::{is_without_etcd, ownership};
use super::{at_once, for_each_machine, known};
use crate::cluster::{Cluster, MachineAddress};
use crate::error::Error;
use crate::journal::Ledger;
use crate::locate::{Known, LocatedMachine, locate};
use crate::ports::{ListedMember, MemberState, Observed, Ports};

/// The members of etcd as they are now.
///
/// A control plane that does not answer counts as one without etcd where `is_waived` says so.
pub(crate) async fn etcd_now(
    known_at: &Known,
    cluster: &Cluster,
    ports: &Ports<'_>,
    is_waived: impl Fn(&MachineName) -> bool,
) -> Result<Fact<Etcd>, Error> {
    let ledger = ports.journal.ledger().await?;
    let located = locate(known_at, cluster, ports).await?;
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
    let mut ownerships = Vec::new();
    for (machine, observed) in control_planes.iter().copied().zip(observed) {
        let ownership = ownership(machine, &observed, &ledger, cluster, now);
        let is_seen = matches!(&ownership, Fact::Known { value, .. } if *value != Ownership::Away);
        let is_absent = is_without_etcd(&ownership, ledger.recorded.contains_key(&machine.name));
        if !is_absent && (is_seen || !is_waived(&machine.name)) {
            ownerships.push((machine, ownership));
        }
        if let Observed::Ours(own) = observed {
            told.insert(machine.name.clone(), own.addresses);
        }
    }
    let asked = members(&control_planes, &ownerships, told, ports).await;
    Ok(asked.combine(&ledger, ports).await)
}

/// What every control plane said about its own member.
pub(super) struct Asked<'a> {
    at: Timestamp,
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
pub(super) type Addresses = BTreeMap<MachineName, Vec<String>>;

/// Asks the control planes for their members: those of `ownerships`, since others certainly have none.
pub(super) async fn members<'a>(
    control_planes: &[&'a LocatedMachine],
    ownerships: &[(&'a LocatedMachine, Fact<Ownership>)],
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
    for (machine, ownership) in ownerships {
        let name = &machine.name;
        match (ownership, &machine.address) {
            (Fact::Known { value: Ownership::Ours, .. }, Ok(address)) => ours.push(address),
            (Fact::Known { value: Ownership::Maintenance | Ownership::Booting, .. }, _) => {
                asked.without.push(name);
            }
            (Fact::Known { value: Ownership::Foreign, .. }, _) => {
                asked.problem = Some(format!("{name} is foreign"));
            }
            (
                Fact::Known {
                    value:
                        ownership @ (Ownership::Away | Ownership::Provided | Ownership::NotProvided),
                    ..
                },
                _,
            ) => asked.unreachable = Some(format!("{name} is {ownership}")),
            (Fact::NotKnown { why }, _)
            | (Fact::Known { value: Ownership::Ours, .. }, Err(why)) => {
                asked.unreachable = Some(format!("{name} is unreachable ({why})"));
            }
        }
    }
    let states = for_each_machine(&ours, |address| ports.etcd.status(address)).await;
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
    pub(super) fn own_members(&self) -> Vec<(&'a MachineName, Fact<Option<MemberId>>)> {
        let own = self.own.iter().map(|(id, (address, _))| (&address.name, Some(*id)));
        let without = self.without.iter().map(|name| (*name, None));
        own.chain(without)
            .map(|(name, member)| (name, known(member, self.at, Source::TalosApi)))
            .collect()
    }

    /// The members of etcd. That there are none is a fact only when every control plane has said so.
    pub(super) async fn combine(&self, ledger: &Ledger, ports: &Ports<'_>) -> Fact<Etcd> {
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
