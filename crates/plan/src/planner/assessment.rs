//! The assessment of each machine, and of etcd.

use std::collections::BTreeMap;

use domain::{
    Digest, Etcd, FailureDomain, Inventory, MachineFacts, MachineName, MemberId, NodeIdentity,
    Orphan, Ownership, Target, Timestamp,
};

use super::PlanningInput;
use super::quorum::Voters;
use super::service;
use crate::action::ProvideMachine;
use crate::finding::Finding;
use crate::plan::{Skipped, overridden};
use crate::reboot::RebootClass;
use crate::render::{ConfigChange, Rendering};
use crate::rule::Rule;
use crate::spec::{ClusterSpec, Machine, Membership};

pub(super) struct Assessment<'a> {
    /// In the order of the spec, control planes first.
    pub(super) machines: Vec<MachineAssessment<'a>>,
    pub(super) etcd: EtcdState<'a>,
    inventory: &'a Inventory,
    pub(super) findings: Vec<Finding>,
}

pub(super) struct MachineAssessment<'a> {
    pub(super) name: &'a MachineName,
    pub(super) control_plane: bool,
    pub(super) domain: Option<&'a str>,
    pub(super) facts: &'a MachineFacts,
    /// The moment to which ages are counted.
    pub(super) now: Timestamp,
    pub(super) digest: Digest,
    pub(super) disposition: Disposition<'a>,
    /// The reason why it does not serve although it should, unless a person has said that this does not matter.
    pub(super) out: Option<String>,
}

pub(super) enum Disposition<'a> {
    /// Its provider has to make it, or has made it and it has not answered yet.
    Provide(ProvideMachine),
    /// It waits for configuration.
    Join,
    /// It has its configuration, and boots.
    Booting,
    /// It was disturbed by us and does not answer yet.
    Away,
    /// It has another configuration than it should.
    Change(&'a ConfigChange),
    /// Its configuration is as it should be.
    Same,
    /// Nothing can be done about it now, for this reason.
    Unknown(String),
    /// A rule keeps it out.
    Refused(Finding),
    /// It is in service, and stays as it is because others are not.
    Held(Finding),
}

impl Disposition<'_> {
    /// Returns whether nothing can be done with it before the next pass.
    pub(super) fn is_skipped(&self) -> bool {
        matches!(self, Self::Provide(_) | Self::Unknown(_) | Self::Refused(_))
    }
}

pub(super) enum EtcdState<'a> {
    /// There is none: it has to be bootstrapped.
    None,
    /// There are members.
    Members(&'a Etcd),
    /// The members are not known, for this reason.
    Unknown(String),
}

impl<'a> Assessment<'a> {
    pub(super) fn new(input: &'a PlanningInput<'a>) -> Self {
        let PlanningInput { spec, desired, inventory, .. } = *input;
        let mut findings = Vec::new();
        let etcd = etcd_state(spec, inventory);
        let mut machines = Vec::new();
        for (machine, membership) in spec.machines() {
            let facts = inventory.machines.get(&machine.name);
            let rendering = desired.get(&machine.name);
            let (Some(facts), Some(rendering)) = (facts, rendering) else {
                findings.push(Finding::about(
                    &machine.name,
                    Rule::FactsCurrent,
                    format!("{} was not observed", machine.name),
                    "observe and render every machine of the spec",
                ));
                continue;
            };
            let mut assessed = MachineAssessment {
                name: &machine.name,
                control_plane: matches!(membership, Membership::ControlPlane),
                domain: machine.domain.as_ref().map(FailureDomain::as_str),
                facts,
                now: inventory.taken,
                digest: rendering.digest,
                disposition: Disposition::Same,
                out: None,
            };
            assessed.disposition =
                disposition(&assessed, machine, rendering, &etcd, input, &mut findings);
            assessed.out =
                service::out(&machine.name, facts, inventory.taken, &etcd, spec).filter(|_| {
                    !overridden(input.overrides, Rule::OrderOutOfService, Some(&machine.name))
                });
            machines.push(assessed);
        }
        service::hold(&mut machines, &spec.policy);
        let mut assessment = Self { machines, etcd, inventory, findings };
        let more = [assessment.spec_drops_voters(spec), split_etcd(inventory)];
        assessment.findings.extend(more.into_iter().flatten());
        assessment.findings.extend(one_installation_twice(inventory));
        assessment
    }

    /// Returns the voters as they were seen; none when that is not known.
    pub(super) fn voters(&self) -> Option<Voters> {
        match self.etcd {
            EtcdState::None => Some(Voters::default()),
            EtcdState::Members(etcd) => Some(Voters::from_inventory(etcd)),
            EtcdState::Unknown(_) => None,
        }
    }

    /// Returns the machine that leads etcd, and its member.
    pub(super) fn leader(&self) -> Option<(&'a MachineName, MemberId)> {
        let EtcdState::Members(etcd) = self.etcd else { return None };
        let leader = etcd.leader?;
        Some((etcd.members.get(&leader)?.machine.as_ref()?, leader))
    }

    /// Returns the control planes that are not skipped, in the order of the spec.
    pub(super) fn control_planes(&self) -> impl Iterator<Item = &MachineAssessment<'a>> {
        self.machines
            .iter()
            .filter(|machine| machine.control_plane && !machine.disposition.is_skipped())
    }

    pub(super) fn unknown_members(&self, machine: &MachineName) -> Finding {
        let why = match &self.etcd {
            EtcdState::Unknown(why) => why.as_str(),
            EtcdState::None | EtcdState::Members(_) => "not asked",
        };
        Finding::unknown_members(machine, why)
    }

    /// Returns what the plan leaves out.
    pub(super) fn skipped(&self, spec: &ClusterSpec) -> Vec<Skipped> {
        let machines = self.machines.iter().filter_map(|machine| {
            let (rule, why) = match &machine.disposition {
                Disposition::Unknown(why) => (None, why.clone()),
                Disposition::Refused(finding) | Disposition::Held(finding) => {
                    (Some(finding.rule.name().to_owned()), finding.message.clone())
                }
                _ => return None,
            };
            Some(Skipped { on: machine.name.into(), rule, why })
        });
        // Releases are changed by plans of their own.
        let releases = self.machines.iter().filter_map(|machine| {
            let runs =
                machine.facts.talos.current(machine.now).filter(|runs| **runs != spec.talos)?;
            let why = format!(
                "runs Talos {runs}, and {} is wanted: `ichor node upgrade -n {}`",
                spec.talos, machine.name
            );
            Some(Skipped { on: machine.name.into(), rule: None, why })
        });
        let etcd = match &self.etcd {
            EtcdState::Unknown(why) => {
                let why = format!("the members of etcd are not known: {why}");
                let rule = Some(Rule::QuorumUnknown.name().to_owned());
                vec![Skipped { on: Target::Cluster, rule, why }]
            }
            EtcdState::None => Vec::new(),
            EtcdState::Members(etcd) => {
                let gone = etcd.members.iter().filter(|(_, member)| {
                    !member.machine.as_ref().is_some_and(|name| spec.is_control_plane(name))
                });
                gone.map(|(id, member)| {
                    let on = member.machine.as_ref().map(|name| format!(" on {name}"));
                    let why = format!(
                        "this member of etcd{} is not a control plane of the spec: `ichor node etcd remove-member {id}`",
                        on.unwrap_or_default()
                    );
                    Skipped { on: Target::Member(*id), rule: None, why }
                })
                .collect()
            }
        };
        machines.chain(releases).chain(etcd).chain(orphans(spec, self.inventory)).collect()
    }

    /// Findings of the machines that rules keep out.
    pub(super) fn refused(&self) -> impl Iterator<Item = &Finding> {
        self.machines.iter().filter_map(|machine| match &machine.disposition {
            Disposition::Refused(finding) | Disposition::Held(finding) => Some(finding),
            _ => None,
        })
    }

    /// A spec without most of the voters cannot be reached without losing etcd.
    fn spec_drops_voters(&self, spec: &ClusterSpec) -> Option<Finding> {
        let EtcdState::Members(etcd) = self.etcd else { return None };
        let stays =
            |machine: Option<&MachineName>| machine.is_some_and(|name| spec.is_control_plane(name));
        let voters = || etcd.members.values().filter(|member| member.voter);
        let kept = voters().filter(|member| stays(member.machine.as_ref())).count();
        let voters = voters().count();
        (2 * kept <= voters).then(|| Finding::spec_drops_voters(kept, voters))
    }
}

/// Machines that the provider has for the cluster and that no machine of the spec is.
fn orphans(spec: &ClusterSpec, inventory: &Inventory) -> Vec<Skipped> {
    match inventory.orphans.current(inventory.taken) {
        None => unknown_orphans(spec, inventory).into_iter().collect(),
        Some(orphans) => orphans
            .iter()
            .map(|Orphan { name, instance }| Skipped {
                on: Target::Cluster,
                rule: None,
                why: format!(
                    "the provider has {} for {name}, and no machine of the spec is that one",
                    instance.id
                ),
            })
            .collect(),
    }
}

/// Tells that a provider did not answer, where the spec names one.
pub(super) fn unknown_orphans(spec: &ClusterSpec, inventory: &Inventory) -> Option<Skipped> {
    spec.provider.as_ref()?;
    let why = inventory.orphans.why_not(inventory.taken);
    let why = format!("the machines of the provider are not known: {why}");
    Some(Skipped { on: Target::Cluster, rule: None, why })
}

/// Members in two clusters of etcd cannot be counted together.
fn split_etcd(inventory: &Inventory) -> Option<Finding> {
    let etcd = inventory.etcd.current(inventory.taken)?;
    let apart: Vec<String> = etcd.apart.iter().map(ToString::to_string).collect();
    (!apart.is_empty()).then(|| Finding::split_etcd(&apart.join(", ")))
}

/// A fact about etcd is empty only when every control plane said so. Where it is not known, etcd may still be absent on
/// all that were seen; those that were not are a matter of their own, which stops a bootstrap.
pub(super) fn etcd_state<'a>(spec: &ClusterSpec, inventory: &'a Inventory) -> EtcdState<'a> {
    let now = inventory.taken;
    let listed = inventory.etcd.current(now);
    if let Some(etcd) = listed.filter(|etcd| !etcd.members.is_empty()) {
        return EtcdState::Members(etcd);
    }
    // A machine knows better than a list without members.
    let member = |facts: &MachineFacts| facts.member.current(now).copied().flatten();
    let has_one = inventory.machines.iter().find(|(_, facts)| member(facts).is_some());
    match (listed, has_one) {
        (None, Some(_)) => return EtcdState::Unknown(inventory.etcd.why_not(now)),
        (Some(_), Some((name, _))) => {
            return EtcdState::Unknown(format!("{name} has a member that no list shows"));
        }
        (Some(_), None) => return EtcdState::None,
        (None, None) => {}
    }
    let facts = |machine: &Machine| inventory.machines.get(&machine.name);
    let mut seen = spec
        .control_plane
        .machines
        .iter()
        .filter_map(facts)
        .filter_map(|facts| Some((facts.ownership.current(now)?, facts)))
        .peekable();
    let absent = |(ownership, facts): (&Ownership, &MachineFacts)| match ownership {
        Ownership::Maintenance | Ownership::Booting => true,
        Ownership::Ours => facts.member.current(now) == Some(&None),
        Ownership::Provided => true,
        // What is gone may have taken an etcd along.
        Ownership::NotProvided => facts.recorded.is_none(),
        Ownership::Foreign | Ownership::Away => false,
    };
    if seen.peek().is_some() && seen.all(absent) {
        EtcdState::None
    } else {
        EtcdState::Unknown(inventory.etcd.why_not(now))
    }
}

/// Two names for one installation: each would get two configurations in turn.
fn one_installation_twice(inventory: &Inventory) -> Vec<Finding> {
    let mut names: BTreeMap<&NodeIdentity, Vec<&MachineName>> = BTreeMap::new();
    for (name, facts) in &inventory.machines {
        if let Some(node) = facts.node.current(inventory.taken) {
            names.entry(node).or_default().push(name);
        }
    }
    let twice = names.into_iter().filter(|(_, names)| names.len() > 1);
    twice.map(|(node, names)| Finding::one_installation_twice(&names, node)).collect()
}

/// Returns the finding about a machine that is another installation than the one that was recorded.
pub(super) fn another_installation(
    name: &MachineName,
    facts: &MachineFacts,
    node: &NodeIdentity,
) -> Option<Finding> {
    let recorded = facts.recorded.as_ref().filter(|recorded| *recorded != node)?;
    Some(Finding::another_installation(name, node, recorded))
}

fn disposition<'a>(
    assessed: &MachineAssessment<'a>,
    machine: &Machine,
    rendering: &'a Rendering,
    etcd: &EtcdState<'_>,
    input: &PlanningInput<'_>,
    findings: &mut Vec<Finding>,
) -> Disposition<'a> {
    let (name, facts, now) = (&machine.name, assessed.facts, assessed.now);
    let overridden = |rule: Rule| overridden(input.overrides, rule, Some(name));
    match facts.ownership.current(now) {
        None => return Disposition::Unknown(facts.ownership.why_not(now)),
        Some(Ownership::Foreign) => {
            return Disposition::Refused(Finding::foreign(name));
        }
        Some(Ownership::Booting) => return Disposition::Booting,
        Some(Ownership::Away) => return Disposition::Away,
        Some(Ownership::NotProvided | Ownership::Provided) => {
            return provide(assessed, machine, etcd, input);
        }
        Some(Ownership::Maintenance) => {
            if let EtcdState::Members(etcd) = etcd
                && let Some((id, _)) = etcd.on(name)
            {
                return Disposition::Unknown(format!(
                    "in maintenance while etcd still counts its old member {id}: \
                     `ichor node etcd remove-member {id}`"
                ));
            }
            if facts.recorded.is_some() && !overridden(Rule::IdentityMaintenance) {
                return Disposition::Refused(Finding::in_maintenance_again(name));
            }
            if let EtcdState::Unknown(why) = etcd
                && assessed.control_plane
                && !overridden(Rule::QuorumUnknown)
            {
                return Disposition::Unknown(format!(
                    "in maintenance while the members of etcd that it would join are not known: {why}"
                ));
            }
            let disks = facts.disks.current(now);
            let missing = disks.and_then(|disks| rendering.disk.missing(disks));
            return match missing.filter(|_| !overridden(Rule::InstallDisk)) {
                None => Disposition::Join,
                Some(why) => Disposition::Refused(Finding::no_disk(name, &why)),
            };
        }
        Some(Ownership::Ours) => {}
    }
    let another = facts.node.current(now).and_then(|node| another_installation(name, facts, node));
    if let Some(finding) = another.filter(|_| !overridden(Rule::IdentityNode)) {
        return Disposition::Refused(finding);
    }
    let Some(change) = &rendering.change else {
        let why = facts.config.why_not(now);
        return Disposition::Unknown(format!("its configuration is not known: {why}"));
    };
    if facts.config.current(now) != Some(&change.from) {
        let why = "its configuration changed while it was observed".to_owned();
        return Disposition::Unknown(why);
    }
    if change.changes_role {
        findings.push(Finding::another_role(name));
    }
    if change.changes_kubernetes {
        findings.push(Finding::another_kubernetes(name));
    }
    let too_new = rendering.too_new.as_ref().filter(|_| change.class != RebootClass::Nothing);
    if let Some(why) = too_new {
        return Disposition::Refused(Finding::about(
            name,
            Rule::ConfigRelease,
            format!("{name} cannot take its configuration before its upgrade: {why}"),
            format!("upgrade it first: `ichor node upgrade -n {name}`"),
        ));
    }
    match change.class {
        RebootClass::Nothing => Disposition::Same,
        _ if facts.node.current(now).is_none() => {
            Disposition::Unknown("its identity is not known".to_owned())
        }
        RebootClass::WithReboot if facts.boot.current(now).is_none() => {
            Disposition::Unknown("its boot is not known".to_owned())
        }
        RebootClass::WithoutReboot | RebootClass::WithReboot => Disposition::Change(change),
    }
}

/// Returns a machine that its provider has to make.
fn provide<'a>(
    assessed: &MachineAssessment<'_>,
    machine: &Machine,
    etcd: &EtcdState<'_>,
    input: &PlanningInput<'_>,
) -> Disposition<'a> {
    let (name, facts) = (&machine.name, assessed.facts);
    let Some(class) = machine.class() else {
        return Disposition::Unknown("no provider makes it".to_owned());
    };
    if facts.recorded.is_some() && !overridden(input.overrides, Rule::IdentityGone, Some(name)) {
        return Disposition::Refused(Finding::gone(name));
    }
    if let EtcdState::Members(etcd) = etcd
        && let Some((id, _)) = etcd.on(name)
    {
        return Disposition::Unknown(format!(
            "not made again while etcd still counts its old member {id}: \
             `ichor node etcd remove-member {id}`"
        ));
    }
    let instance = facts.instance.current(assessed.now).and_then(Option::as_ref);
    let generation = match instance {
        Some(instance) => instance.generation,
        // What was recorded is gone, and another one takes its place.
        None if facts.recorded.is_some() => facts.generation + 1,
        None => facts.generation.max(1),
    };
    Disposition::Provide(ProvideMachine { class: class.clone(), generation })
}
