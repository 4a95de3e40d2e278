//! What may have changed since a plan was made.

use plan::{
    Action, BootId, Fact, Goal, Instance, Member, MemberId, NodeIdentity, NodeState, Ownership,
    Precondition, ProviderId, Source, Step, Timestamp,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::case::{Case, digest, disks, is_healthy};
use crate::edit::mode;
use crate::world::{NOW, known, not_known};

/// What may happen between planning and checking.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Drift {
    ApiAnswers,
    BegunBefore,
    BootstrappingElsewhere,
    ConfigChanged,
    DiskGone,
    EtcdSplit,
    EverythingOld,
    MachineComesNoMore,
    MachineForeign,
    MachineGone,
    MachineReplaced,
    MachineRebooted,
    MachineTwice,
    MemberAppeared,
    NodeRegistered,
    OtherInstance,
    OtherVotersStopped,
    SpecChanged,
}

impl Drift {
    pub(crate) const ALL: [Self; 18] = [
        Self::ApiAnswers,
        Self::BegunBefore,
        Self::BootstrappingElsewhere,
        Self::ConfigChanged,
        Self::DiskGone,
        Self::EtcdSplit,
        Self::EverythingOld,
        Self::MachineComesNoMore,
        Self::MachineForeign,
        Self::MachineGone,
        Self::MachineReplaced,
        Self::MachineRebooted,
        Self::MachineTwice,
        Self::MemberAppeared,
        Self::NodeRegistered,
        Self::OtherInstance,
        Self::OtherVotersStopped,
        Self::SpecChanged,
    ];

    /// Changes what was seen of a machine that a step needs; false where that harms nothing.
    pub(crate) fn apply(self, case: &mut Case, steps: &[Step], at: Index) -> bool {
        let suiting: Vec<&Step> = steps.iter().filter(|step| self.suits(case, step)).collect();
        if suiting.is_empty() {
            return false;
        }
        let name = at.get(&suiting).on.machine().expect("a machine").clone();
        let node = case.inventory.machines[&name].node.clone();
        let facts = case.inventory.machines.get_mut(&name).expect("facts");
        match self {
            Self::MachineGone => facts.ownership = not_known("connection refused"),
            Self::MachineComesNoMore => facts.ownership = not_known("connection refused"),
            Self::MachineForeign => facts.ownership = known(Ownership::Foreign, Source::TalosApi),
            Self::DiskGone => facts.disks = known(disks(false), Source::Maintenance),
            Self::MachineReplaced => {
                facts.node = known(NodeIdentity("a third".to_owned()), Source::TalosApi);
            }
            Self::MachineRebooted => {
                facts.boot = known(BootId("a third".to_owned()), Source::TalosApi);
            }
            Self::MachineTwice => {
                let other = case.inventory.machines.iter_mut().find(|(other, _)| **other != name);
                other.expect("another machine").1.node = node;
            }
            Self::ConfigChanged => facts.config = known(digest(998), Source::TalosApi),
            Self::SpecChanged => {
                case.desired.get_mut(&name).expect("a rendering").digest = digest(997);
            }
            Self::ApiAnswers => case.inventory.api = known(true, Source::Kubernetes),
            Self::BegunBefore => {
                case.inventory.begun.insert(MemberId(7), "gone".parse().expect("a name"));
            }
            Self::BootstrappingElsewhere => {
                case.inventory.bootstrapping = Some("gone".parse().expect("a name"));
            }
            Self::NodeRegistered => {
                facts.kubernetes = known(NodeState::NotReady, Source::Kubernetes);
            }
            Self::MemberAppeared => facts.member = known(Some(MemberId(7)), Source::TalosApi),
            Self::EtcdSplit => {
                if let Fact::Known { value, .. } = &mut case.inventory.etcd {
                    value.apart.push(name);
                }
            }
            Self::OtherVotersStopped => {
                if let Fact::Known { value, .. } = &mut case.inventory.etcd {
                    for member in value.members.values_mut() {
                        if member.machine.as_ref() != Some(&name) {
                            (member.started, member.lag) = (false, None);
                        }
                    }
                }
            }
            Self::OtherInstance => {
                let (id, generation) = (ProviderId("a third".to_owned()), 9);
                facts.instance = known(Some(Instance { id, generation }), Source::Provider);
            }
            Self::EverythingOld => case.inventory.taken = Timestamp(NOW.0 + 3_600),
        }
        true
    }

    fn suits(self, case: &Case, step: &Step) -> bool {
        let name = step.on.machine().expect("a machine");
        let etcd = case.inventory.etcd.current(NOW);
        let Some(facts) = case.inventory.machines.get(name) else { return false };
        let destroys = matches!(step.action, Action::DestroyMachine(_));
        match self {
            Self::EverythingOld => true,
            // What goes back to its provider need not answer.
            Self::MachineGone | Self::MachineForeign => !destroys,
            Self::OtherInstance => destroys || matches!(step.action, Action::ProvideMachine(_)),
            Self::MachineReplaced => {
                step.preconditions.iter().any(|given| matches!(given, Precondition::NodeIs(_)))
            }
            Self::MachineRebooted => matches!(step.action, Action::RebootMachine(_)),
            Self::MachineTwice => {
                // What is to end may be two of one.
                case.goal == Goal::Spec
                    && facts.node.current(NOW).is_some()
                    && case.inventory.machines.len() > 1
            }
            Self::MachineComesNoMore => matches!(step.action, Action::AwaitMachine(_)),
            Self::DiskGone => step.preconditions.contains(&Precondition::InMaintenance),
            Self::ConfigChanged => {
                step.preconditions.iter().any(|given| matches!(given, Precondition::ConfigIs(_)))
            }
            Self::SpecChanged => mode(step).is_some(),
            Self::ApiAnswers
            | Self::BegunBefore
            | Self::BootstrappingElsewhere
            | Self::NodeRegistered
            | Self::MemberAppeared => {
                matches!(step.action, Action::BootstrapEtcd(_))
            }
            Self::EtcdSplit => {
                case.goal == Goal::Spec && etcd.is_some_and(|etcd| !etcd.members.is_empty())
            }
            Self::OtherVotersStopped => {
                // One that is out of service is waited for before anything else.
                let other = |member: &Member| {
                    member.voter
                        && is_healthy(member)
                        && member.machine.as_ref() != Some(name)
                        && !member.machine.as_ref().is_some_and(|name| case.is_out(name))
                };
                // What is to end harms nothing when it has stopped before.
                case.goal == Goal::Spec
                    && step.proof.is_some()
                    && etcd.is_some_and(|etcd| etcd.members.values().any(other))
            }
        }
    }
}

pub(crate) fn drift() -> impl Strategy<Value = Drift> {
    select(Drift::ALL.to_vec())
}
