//! The ownership of one machine, by its own answer and by the journal.

use domain::{Fact, MachineFacts, Ownership, Source, Timestamp};
use plan::RETURNS_WITHIN;

use super::{known, not_known};
use crate::cluster::Cluster;
use crate::journal::Ledger;
use crate::locate::LocatedMachine;
use crate::ports::{NextBoot, Observed, OwnMachine};

/// Returns whether a machine certainly has no etcd because it is not there, or was never configured.
pub(super) fn has_no_etcd(facts: &MachineFacts) -> bool {
    is_without_etcd(&facts.ownership, facts.recorded.is_some())
}

pub(super) fn is_without_etcd(ownership: &Fact<Ownership>, recorded: bool) -> bool {
    match ownership {
        Fact::Known { value: Ownership::Provided, .. } => true,
        // What is gone may have taken an etcd along.
        Fact::Known { value: Ownership::NotProvided, .. } => !recorded,
        _ => false,
    }
}

pub(super) fn ownership(
    machine: &LocatedMachine,
    observed: &Observed,
    ledger: &Ledger,
    cluster: &Cluster,
    now: Timestamp,
) -> Fact<Ownership> {
    let name = &machine.name;
    if let Fact::Known { value: None, .. } = machine.instance {
        return known(Ownership::NotProvided, now, Source::Provider);
    }
    let configured = ledger.configuring.get(name).map(|since| now.since(*since));
    match observed {
        Observed::Maintenance => known(Ownership::Maintenance, now, Source::Maintenance),
        // It answers while it is installed, before it is any installation.
        Observed::Ours(own) if configured.is_some() && !(own.is_settled && own.node.is_some()) => {
            known(Ownership::Booting, now, Source::TalosApi)
        }
        Observed::Ours(_) => known(Ownership::Ours, now, Source::TalosApi),
        Observed::Foreign => known(Ownership::Foreign, now, Source::TalosApi),
        Observed::Unreachable(why) => {
            let generation = match &machine.instance {
                Fact::Known { value: Some(instance), .. } => Some(&instance.generation),
                _ => None,
            };
            let disturbed = ledger.disturbed.get(name).map(|since| now.since(*since));
            match (configured, disturbed) {
                (Some(ago), _) if ago <= cluster.spec.policy.install_within => {
                    known(Ownership::Booting, now, Source::Directory)
                }
                (Some(ago), _) => Fact::NotKnown {
                    why: format!(
                        "{why}; it was configured {ago} ago and has not been seen since: look at its \
                         console, and boot it into maintenance to begin again"
                    ),
                },
                // What was reset is not expected as it was.
                (None, Some(ago)) if ago <= RETURNS_WITHIN && !ledger.resetting.contains(name) => {
                    known(Ownership::Away, now, Source::Directory)
                }
                // This journal asked for it, and nothing was done with it since. A journal that did not ask does not know.
                (None, None)
                    if ledger.generations.get(name) == generation
                        && generation.is_some()
                        && !ledger.recorded.contains_key(name) =>
                {
                    known(Ownership::Provided, now, Source::Provider)
                }
                (None, _) => Fact::NotKnown { why: why.clone() },
            }
        }
    }
}

pub(super) fn facts(
    machine: &LocatedMachine,
    observed: Observed,
    ledger: &Ledger,
    cluster: &Cluster,
    now: Timestamp,
) -> MachineFacts {
    let name = &machine.name;
    let ownership = ownership(machine, &observed, ledger, cluster, now);
    let why = match &observed {
        Observed::Maintenance => "in maintenance",
        Observed::Ours(_) => "not reported",
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
        ownership,
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
fn fact<T>(value: Option<T>, now: Timestamp) -> Fact<T> {
    match value {
        Some(value) => known(value, now, Source::TalosApi),
        None => not_known("not reported yet"),
    }
}
