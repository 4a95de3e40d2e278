//! The addresses of machines: from the spec, or from the provider that makes them.
//!
//! Always holds: a provider is asked once for all of its machines, and only where the spec names one. A provider that
//! cannot be asked for a moment leaves its machines unknown; one that refuses stops the pass before anything is
//! touched.

use std::collections::BTreeMap;

use domain::{ErrorKind, Fact, Instance, MachineName, Orphan, Source, Timestamp};
use plan::Membership;

use crate::cluster::{Cluster, MachineAddress};
use crate::error::Error;
use crate::ports::Ports;
use crate::provider::ProvidedMachine;

/// The machines of a cluster, and where they are.
pub(crate) struct Located {
    /// Control planes first, in the order of the spec.
    pub(crate) machines: Vec<LocatedMachine>,
    /// Machines of the provider that no machine of the spec is.
    pub(crate) orphans: Fact<Vec<Orphan>>,
    pub(crate) at: Timestamp,
}

/// One machine, and where it is.
pub(crate) struct LocatedMachine {
    pub(crate) name: MachineName,
    pub(crate) control_plane: bool,
    /// The address, from the spec or the provider; the reason where it is not known.
    pub(crate) address: Result<MachineAddress, String>,
    /// The provider's machine; not known where the provider was not asked, or did not answer.
    pub(crate) instance: Fact<Option<Instance>>,
}

impl Located {
    pub(crate) fn control_planes(&self) -> Vec<&LocatedMachine> {
        self.machines.iter().filter(|machine| machine.control_plane).collect()
    }
}

/// The addresses that machines had a while ago.
pub(crate) type Known = BTreeMap<MachineName, MachineAddress>;

/// Locates machines. One whose provider cannot be asked for a moment is where it was.
pub(crate) async fn locate(
    known: &Known,
    cluster: &Cluster,
    ports: &Ports<'_>,
) -> Result<Located, Error> {
    let at = ports.clock.now();
    let listed = if cluster.spec.provider.is_none() {
        Ok(Vec::new())
    } else {
        match ports.provider.list(cluster.identity()).await {
            Err(error) if error.kind != ErrorKind::Retryable => return Err(error.into()),
            Err(error) => Err(format!("{}: {}", ports.provider.name(), error.message)),
            Ok(listed) => Ok(listed),
        }
    };
    let (provided, orphans) = match listed {
        Ok(listed) => {
            let (newest, orphans) = newest(listed, cluster);
            (Ok(newest), Fact::Known { value: orphans, seen: at, source: Source::Provider })
        }
        Err(why) => (Err(why.clone()), Fact::NotKnown { why }),
    };
    let machines = cluster.spec.machines().map(|(machine, membership)| {
        let (address, instance) = match (machine.address(), &provided) {
            (Some(address), _) => {
                (Ok(address), Fact::NotKnown { why: "no provider makes it".to_owned() })
            }
            (None, Err(why)) => {
                let was_at = known.get(&machine.name).map(|known| known.address);
                (was_at.ok_or_else(|| why.clone()), Fact::NotKnown { why: why.clone() })
            }
            (None, Ok(provided)) => {
                let made = provided.get(&machine.name);
                let address = match made {
                    Some(made) => made.address.ok_or("its provider reports no address yet"),
                    None => Err("its provider does not have it"),
                };
                let value = made.map(|made| made.instance.clone());
                let instance = Fact::Known { value, seen: at, source: Source::Provider };
                (address.map_err(str::to_owned), instance)
            }
        };
        LocatedMachine {
            name: machine.name.clone(),
            control_plane: matches!(membership, Membership::ControlPlane),
            address: address.map(|address| MachineAddress::new(machine, address)),
            instance,
        }
    });
    Ok(Located { machines: machines.collect(), orphans, at })
}

/// Returns the newest of the provider's machines for each machine of a class, and all others.
fn newest(
    mut listed: Vec<ProvidedMachine>,
    cluster: &Cluster,
) -> (BTreeMap<MachineName, ProvidedMachine>, Vec<Orphan>) {
    // The order of a provider says nothing, so that with one generation the id decides, in every pass the same.
    listed.sort_by(|one, other| {
        let key = |made: &ProvidedMachine| (made.instance.generation, made.instance.id.clone());
        key(one).cmp(&key(other))
    });
    let (mut newest, mut orphans) = (BTreeMap::new(), Vec::new());
    for made in listed {
        let wanted = cluster.spec.machine(&made.name);
        let replaced = if wanted.is_some_and(|(wanted, _)| wanted.class().is_some()) {
            newest.insert(made.name.clone(), made)
        } else {
            Some(made)
        };
        let orphan =
            replaced.map(|ProvidedMachine { name, instance, .. }| Orphan { name, instance });
        orphans.extend(orphan);
    }
    (newest, orphans)
}
