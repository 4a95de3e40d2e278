//! What is the matter with each machine, and with etcd.

use super::Request;
use super::quorum::Voters;
use crate::digest::Digest;
use crate::inventory::{BootId, Etcd, Inventory, MachineFacts, MemberId, NodeIdentity, Standing};
use crate::names::{FailureDomain, MachineName};
use crate::plan::{LeftOut, overridden};
use crate::reboot::RebootClass;
use crate::render::{ConfigChange, Rendering};
use crate::rule::{Finding, Rule};
use crate::spec::{ClusterSpec, Machine, Place};
use crate::time::Moment;

pub(super) struct Survey<'a> {
    /// In the order of the spec, control planes first.
    pub(super) machines: Vec<Surveyed<'a>>,
    pub(super) etcd: EtcdState<'a>,
    pub(super) findings: Vec<Finding>,
}

pub(super) struct Surveyed<'a> {
    pub(super) name: &'a MachineName,
    pub(super) control_plane: bool,
    pub(super) domain: Option<&'a str>,
    pub(super) facts: &'a MachineFacts,
    /// The moment to which ages are counted.
    now: Moment,
    pub(super) digest: Digest,
    pub(super) node: Option<&'a NodeIdentity>,
    pub(super) boot: Option<&'a BootId>,
    pub(super) situation: Situation<'a>,
}

pub(super) enum Situation<'a> {
    /// It waits for configuration.
    Join,
    /// It has another configuration than it should.
    Change(&'a ConfigChange),
    /// Its configuration is as it should be.
    Same,
    /// Nothing can be done about it now, for this reason.
    LeftOut(String),
}

pub(super) enum EtcdState<'a> {
    /// There is none: it has to be bootstrapped.
    None,
    /// There are members.
    Members(&'a Etcd),
    /// Nobody knows, for this reason.
    Unknown(String),
}

impl<'a> Survey<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Self {
        let Request { spec, desired, inventory, .. } = *request;
        let mut findings = Vec::new();
        let etcd = etcd_state(spec, inventory);
        let mut machines = Vec::new();
        for (machine, place) in spec.machines() {
            let facts = inventory.machines.get(&machine.name);
            let rendering = desired.get(&machine.name);
            let (Some(facts), Some(rendering)) = (facts, rendering) else {
                findings.push(Finding {
                    rule: Rule::FactsCurrent,
                    step: None,
                    machine: Some(machine.name.clone()),
                    message: format!("nobody looked at {}", machine.name),
                    hint: "observe and render every machine of the spec".to_owned(),
                });
                continue;
            };
            let now = inventory.taken;
            let mut surveyed = Surveyed {
                name: &machine.name,
                control_plane: matches!(place, Place::ControlPlane),
                domain: machine.domain.as_ref().map(FailureDomain::as_str),
                facts,
                now,
                digest: rendering.digest,
                node: facts.node.current(now),
                boot: facts.boot.current(now),
                situation: Situation::Same,
            };
            surveyed.situation =
                situation(&surveyed, machine, rendering, &etcd, request, &mut findings);
            machines.push(surveyed);
        }
        let mut survey = Self { machines, etcd, findings };
        survey.findings.extend(survey.spec_drops_voters(spec));
        survey
    }

    /// The voters as they were seen; none when that is not known.
    pub(super) fn voters(&self) -> Option<Voters> {
        match self.etcd {
            EtcdState::None => Some(Voters::default()),
            EtcdState::Members(etcd) => Some(Voters::seen(etcd)),
            EtcdState::Unknown(_) => None,
        }
    }

    /// The machine that leads etcd, and its member.
    pub(super) fn leader(&self) -> Option<(&'a MachineName, MemberId)> {
        let EtcdState::Members(etcd) = self.etcd else { return None };
        let leader = etcd.leader?;
        Some((etcd.members.get(&leader)?.machine.as_ref()?, leader))
    }

    /// Etcd is begun only when nothing speaks for one that is there already.
    pub(super) fn may_bootstrap(&self, findings: &mut Vec<Finding>) {
        for machine in &self.machines {
            let standing = machine.facts.standing.current(machine.now);
            if standing.is_none() && machine.control_plane {
                findings.push(Finding {
                    rule: Rule::BootstrapUnseen,
                    step: None,
                    machine: Some(machine.name.clone()),
                    message: format!(
                        "{} cannot be seen ({}) and may hold an etcd already",
                        machine.name,
                        machine.facts.standing.why_not(machine.now)
                    ),
                    hint: "start it, take it out of the spec, or use --override bootstrap.unseen"
                        .to_owned(),
                });
            }
            if standing == Some(&Standing::Ours) && machine.facts.recorded.is_none() {
                findings.push(Finding {
                    rule: Rule::CreateConfigured,
                    step: None,
                    machine: Some(machine.name.clone()),
                    message: format!(
                        "{} is configured already, and not from this directory",
                        machine.name
                    ),
                    hint: "somebody else may be creating this cluster; if not, use --override \
                           create.configured"
                        .to_owned(),
                });
            }
        }
    }

    pub(super) fn unknown_members(&self, machine: &MachineName) -> Finding {
        let why = match &self.etcd {
            EtcdState::Unknown(why) => why.as_str(),
            EtcdState::None | EtcdState::Members(_) => "nobody asked",
        };
        Finding {
            rule: Rule::QuorumUnknown,
            step: None,
            machine: Some(machine.clone()),
            message: format!("the members of etcd are not known ({why}), and {machine} may be one"),
            hint: "look at `ichor etcd members`; a cluster without quorum needs --override \
                   quorum.unknown"
                .to_owned(),
        }
    }

    /// What the plan does not take care of.
    pub(super) fn left_out(&self, spec: &ClusterSpec) -> Vec<LeftOut> {
        let machines = self.machines.iter().filter_map(|machine| match &machine.situation {
            Situation::LeftOut(why) => {
                Some(LeftOut { machine: machine.name.to_string(), why: why.clone() })
            }
            Situation::Join | Situation::Change(_) | Situation::Same => None,
        });
        // Releases are changed by plans of their own.
        let releases = self.machines.iter().filter_map(|machine| {
            let runs =
                machine.facts.talos.current(machine.now).filter(|runs| **runs != spec.talos)?;
            let why = format!(
                "it runs Talos {runs}, and {} is wanted: `ichor upgrade talos`",
                spec.talos
            );
            Some(LeftOut { machine: machine.name.to_string(), why })
        });
        let etcd = match &self.etcd {
            EtcdState::Unknown(why) => {
                vec![LeftOut { machine: "etcd".to_owned(), why: format!("not known: {why}") }]
            }
            EtcdState::None => Vec::new(),
            EtcdState::Members(etcd) => {
                let gone =
                    etcd.members.iter().filter(|(_, member)| !self.has(member.machine.as_ref()));
                gone.map(|(id, member)| LeftOut {
                    machine: member
                        .machine
                        .as_ref()
                        .map_or_else(|| id.to_string(), ToString::to_string),
                    why: format!(
                        "member {id} of etcd is no control plane of the spec: `ichor remove`"
                    ),
                })
                .collect()
            }
        };
        machines.chain(releases).chain(etcd).collect()
    }

    /// Whether a machine is a control plane of the spec.
    fn has(&self, machine: Option<&MachineName>) -> bool {
        self.machines.iter().any(|known| known.control_plane && Some(known.name) == machine)
    }

    /// A spec without most of the voters cannot be reached without losing etcd.
    fn spec_drops_voters(&self, spec: &ClusterSpec) -> Option<Finding> {
        let EtcdState::Members(etcd) = self.etcd else { return None };
        let stays =
            |machine: Option<&MachineName>| machine.is_some_and(|name| spec.is_control_plane(name));
        let voters = etcd.members.values().filter(|member| member.voter).count();
        let kept = etcd
            .members
            .values()
            .filter(|member| member.voter && stays(member.machine.as_ref()))
            .count();
        (2 * kept <= voters).then(|| Finding {
            rule: Rule::QuorumSpec,
            step: None,
            machine: None,
            message: format!(
                "the spec keeps {kept} of {voters} voters of etcd, which is no majority"
            ),
            hint: "put the control planes back and remove one at a time with `ichor remove`"
                .to_owned(),
        })
    }
}

fn etcd_state<'a>(spec: &ClusterSpec, inventory: &'a Inventory) -> EtcdState<'a> {
    let now = inventory.taken;
    if let Some(etcd) = inventory.etcd.current(now) {
        return if etcd.members.is_empty() { EtcdState::None } else { EtcdState::Members(etcd) };
    }
    // Machines that wait for configuration have no etcd, and nobody has to be asked. Those that cannot be
    // seen are a matter of their own, which stops a bootstrap.
    let mut seen = spec
        .control_plane
        .machines
        .iter()
        .filter_map(|machine| inventory.machines.get(&machine.name)?.standing.current(now))
        .peekable();
    if seen.peek().is_some() && seen.all(|standing| *standing == Standing::Maintenance) {
        EtcdState::None
    } else {
        EtcdState::Unknown(inventory.etcd.why_not(now))
    }
}

/// What is wrong with a machine that is another installation than the one that was recorded.
pub(super) fn another_installation(
    name: &MachineName,
    facts: &MachineFacts,
    node: &NodeIdentity,
) -> Option<Finding> {
    let recorded = facts.recorded.as_ref().filter(|recorded| *recorded != node)?;
    Some(Finding {
        rule: Rule::IdentityNode,
        step: None,
        machine: Some(name.clone()),
        message: format!("{name} is installation {node}, and {recorded} was recorded"),
        hint: "is its address right? If it was installed anew, use --override identity.node"
            .to_owned(),
    })
}

fn situation<'a>(
    surveyed: &Surveyed<'a>,
    machine: &Machine,
    rendering: &'a Rendering,
    etcd: &EtcdState<'_>,
    request: &Request<'_>,
    findings: &mut Vec<Finding>,
) -> Situation<'a> {
    let (name, facts, now) = (&machine.name, surveyed.facts, surveyed.now);
    let broken = |rule: Rule, message: String, hint: &str| {
        let (step, machine, hint) = (None, Some(name.clone()), hint.to_owned());
        Finding { rule, step, machine, message, hint }
    };
    match facts.standing.current(now) {
        None => return Situation::LeftOut(facts.standing.why_not(now)),
        Some(Standing::Another) => {
            findings.push(broken(
                Rule::IdentityForeign,
                format!("{name} carries the configuration of another cluster"),
                "is its address right? If it shall change its cluster, `ichor node reset` it first",
            ));
            return Situation::LeftOut("it belongs to another cluster".to_owned());
        }
        Some(Standing::Maintenance) => {
            if let EtcdState::Members(etcd) = etcd
                && let Some((id, _)) = etcd.on(name)
            {
                return Situation::LeftOut(format!(
                    "it waits for configuration while etcd still counts its old member {id}: \
                     `ichor node etcd remove-member {id}`"
                ));
            }
            let disks = facts.disks.current(now);
            let missing = disks.and_then(|disks| rendering.disk.missing(disks));
            let missing = missing.filter(|_| !overridden(request.overrides, Rule::InstallDisk));
            return missing.map_or(Situation::Join, Situation::LeftOut);
        }
        Some(Standing::Ours) => {}
    }
    findings.extend(surveyed.node.and_then(|node| another_installation(name, facts, node)));
    let Some(change) = &rendering.change else {
        return Situation::LeftOut(format!(
            "its configuration is not known: {}",
            facts.config.why_not(now)
        ));
    };
    if facts.config.current(now) != Some(&change.from) {
        return Situation::LeftOut("its configuration changed while it was looked at".to_owned());
    }
    if change.changes_role {
        findings.push(broken(
            Rule::ConfigRole,
            format!("{name} would change between control plane and worker"),
            "remove it from the cluster and add it again in its new role",
        ));
    }
    if change.changes_kubernetes {
        findings.push(broken(
            Rule::ConfigKubernetes,
            format!("{name} would get another release of Kubernetes by a mere change of its files"),
            "`ichor upgrade k8s` does it in the right order",
        ));
    }
    match change.class {
        RebootClass::Nothing => Situation::Same,
        _ if surveyed.node.is_none() => Situation::LeftOut("its identity is not known".to_owned()),
        RebootClass::WithReboot if surveyed.boot.is_none() => {
            Situation::LeftOut("its boot is not known".to_owned())
        }
        RebootClass::WithoutReboot | RebootClass::WithReboot => Situation::Change(change),
    }
}
