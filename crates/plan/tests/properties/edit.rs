//! Unsafe edits of plans, and the rules that have to refuse them.

use std::collections::BTreeSet;

use plan::{
    Action, ApplyConfig, ApplyMode, AwaitNode, Body, BootstrapEtcd, Cni, DestroyMachine,
    FetchKubeconfig, Gate, Goal, Instance, MachineName, MemberId, Override, Ownership,
    Precondition, ProvideMachine, ProviderId, QuorumProof, RebootClass, RebootMachine,
    ResetMachine, Rule, Span, Step, StepNumber, Target,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::case::{CLASS, Case, class, digest};
use crate::world::NOW;

/// What a person with an editor might do to a plan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit {
    AddReset,
    AnotherClass,
    AnotherCluster,
    AnotherConfig,
    AnotherGeneration,
    AnotherGoal,
    AnotherMachine,
    AnotherMember,
    AnotherMode,
    AnotherWindow,
    BeginEarly,
    BeginOnWorker,
    BeginTwice,
    BeginWithoutAll,
    ClaimMore,
    ConfigOfAnother,
    DestroyAnother,
    DestroyToo,
    FewerVoters,
    ForgetAwait,
    ForgetBatch,
    ForgetDestroyOverride,
    ForgetGate,
    ForgetHandOver,
    ForgetMachine,
    ForgetOrder,
    ForgetOverride,
    ForgetPrecondition,
    ForgetProof,
    ForgetReady,
    ForgetRecovery,
    ForgetStage,
    ForgetTimeOut,
    ForgetVoter,
    HideAChange,
    JoinTogether,
    LeaderFirst,
    LongerTimeOut,
    MoreThanReset,
    NotAMachine,
    OverrideAnotherMachine,
    OverrideAnything,
    OverrideEveryMachine,
    OverrideStranger,
    OverrideWithoutReason,
    PassOut,
    ProvideInstead,
    RebootFirst,
    RebootToo,
    ResetInstead,
    ResetTwice,
    WaitForLater,
}

impl Edit {
    pub(crate) const ALL: [Self; 52] = [
        Self::AddReset,
        Self::AnotherClass,
        Self::AnotherCluster,
        Self::AnotherConfig,
        Self::AnotherGeneration,
        Self::AnotherGoal,
        Self::AnotherMachine,
        Self::AnotherMember,
        Self::AnotherMode,
        Self::AnotherWindow,
        Self::BeginEarly,
        Self::BeginOnWorker,
        Self::BeginTwice,
        Self::BeginWithoutAll,
        Self::ClaimMore,
        Self::ConfigOfAnother,
        Self::DestroyAnother,
        Self::DestroyToo,
        Self::FewerVoters,
        Self::ForgetAwait,
        Self::ForgetBatch,
        Self::ForgetDestroyOverride,
        Self::ForgetGate,
        Self::ForgetHandOver,
        Self::ForgetMachine,
        Self::ForgetOrder,
        Self::ForgetOverride,
        Self::ForgetPrecondition,
        Self::ForgetProof,
        Self::ForgetReady,
        Self::ForgetRecovery,
        Self::ForgetStage,
        Self::ForgetTimeOut,
        Self::ForgetVoter,
        Self::HideAChange,
        Self::JoinTogether,
        Self::LeaderFirst,
        Self::LongerTimeOut,
        Self::MoreThanReset,
        Self::NotAMachine,
        Self::OverrideAnotherMachine,
        Self::OverrideAnything,
        Self::OverrideEveryMachine,
        Self::OverrideStranger,
        Self::OverrideWithoutReason,
        Self::PassOut,
        Self::ProvideInstead,
        Self::RebootFirst,
        Self::RebootToo,
        Self::ResetInstead,
        Self::ResetTwice,
        Self::WaitForLater,
    ];

    /// Of these rules at least one must be named.
    pub(crate) fn rules(self) -> &'static [Rule] {
        match self {
            Self::ClaimMore | Self::ForgetProof => &[Rule::QuorumProof],
            Self::ForgetOrder | Self::JoinTogether => &[Rule::OrderControlPlanes],
            Self::ForgetPrecondition
            | Self::AnotherMember
            | Self::FewerVoters
            | Self::BeginEarly
            | Self::ForgetMachine => &[Rule::FactsCurrent],
            Self::ForgetAwait | Self::ForgetReady | Self::ForgetVoter => &[Rule::OrderAwait],
            Self::ForgetBatch => &[Rule::BatchSize, Rule::BatchDomain, Rule::OrderWorkers],
            Self::ForgetGate | Self::AnotherWindow => &[Rule::WindowMissing],
            Self::ForgetTimeOut | Self::LongerTimeOut | Self::ForgetRecovery => {
                &[Rule::StepIncomplete]
            }
            Self::WaitForLater => &[Rule::OrderGraph],
            Self::BeginTwice => &[Rule::BootstrapOnce],
            Self::BeginOnWorker => &[Rule::BootstrapControlPlane],
            Self::AnotherMachine | Self::NotAMachine => &[Rule::IdentityMachine],
            Self::AnotherConfig | Self::ConfigOfAnother | Self::HideAChange => {
                &[Rule::ConfigDigest]
            }
            Self::AnotherMode | Self::RebootToo => &[Rule::ConfigReboot, Rule::FactsCurrent],
            Self::ForgetStage | Self::RebootFirst => &[Rule::ConfigReboot],
            Self::ForgetHandOver | Self::LeaderFirst => &[Rule::OrderLeader],
            Self::PassOut => &[Rule::OrderOutOfService],
            Self::ResetInstead
            | Self::AnotherGoal
            | Self::AddReset
            | Self::MoreThanReset
            | Self::ResetTwice => &[Rule::DestroyGoal],
            Self::ForgetDestroyOverride => &[Rule::QuorumDestroy],
            Self::ForgetOverride | Self::OverrideAnotherMachine => {
                &[Rule::IdentityNode, Rule::IdentityMaintenance, Rule::IdentityGone]
            }
            Self::AnotherCluster => &[Rule::IdentityCluster],
            Self::AnotherClass | Self::AnotherGeneration => &[Rule::ProvideClass],
            Self::BeginWithoutAll => &[Rule::BootstrapUnseen],
            Self::DestroyAnother => &[Rule::FactsCurrent, Rule::IdentityMachine],
            Self::DestroyToo => &[Rule::DestroyGoal],
            Self::ProvideInstead => &[Rule::FactsCurrent],
            Self::OverrideAnything
            | Self::OverrideEveryMachine
            | Self::OverrideStranger
            | Self::OverrideWithoutReason => &[Rule::OverrideUnknown],
        }
    }

    /// Edits the plan where that is possible and unsafe.
    pub(crate) fn apply(self, case: &Case, body: &mut Body, at: Index) -> bool {
        let suiting: Vec<usize> =
            (0..body.steps.len()).filter(|index| self.suits(case, body, *index)).collect();
        if suiting.is_empty() {
            return false;
        }
        self.edit(case, body, *at.get(&suiting));
        true
    }

    /// Whether to edit this step is possible and unsafe.
    #[expect(clippy::too_many_lines, reason = "a table of edits")]
    fn suits(self, case: &Case, body: &Body, index: usize) -> bool {
        let step = &body.steps[index];
        let Target::Machine(name) = &step.on else { return false };
        let (before, after) = (&body.steps[..index], &body.steps[index + 1..]);
        let destroys = matches!(step.action, Action::DestroyMachine(_));
        let Some(facts) = case.inventory.machines.get(name) else {
            return destroys && matches!(self, Self::DestroyAnother);
        };
        let ownership = facts.ownership.current(NOW).copied();
        match self {
            Self::AnotherClass | Self::AnotherGeneration => {
                matches!(step.action, Action::ProvideMachine(_))
            }
            Self::BeginWithoutAll => {
                matches!(step.action, Action::ProvideMachine(_)) && case.spec.is_control_plane(name)
            }
            Self::DestroyAnother => destroys,
            Self::DestroyToo => body.goal == Goal::Spec,
            Self::ProvideInstead => {
                !matches!(ownership, Some(Ownership::NotProvided | Ownership::Provided))
                    && body.goal == Goal::Spec
            }
            Self::ForgetTimeOut
            | Self::LongerTimeOut
            | Self::ForgetRecovery
            | Self::WaitForLater
            | Self::AnotherMachine
            | Self::NotAMachine
            | Self::AnotherCluster
            | Self::AnotherGoal
            | Self::OverrideAnything
            | Self::OverrideEveryMachine
            | Self::OverrideStranger
            | Self::OverrideWithoutReason => true,
            Self::ClaimMore | Self::ForgetProof => step.proof.is_some(),
            Self::ForgetOrder => {
                case.touches_etcd(body, step)
                    && before.iter().any(|step| case.touches_etcd(body, step))
            }
            Self::JoinTogether => {
                mode(step) == Some(ApplyMode::Maintenance)
                    && case.touches_etcd(body, step)
                    && before.iter().any(|step| case.touches_etcd(body, step))
            }
            Self::ForgetPrecondition => !step.preconditions.is_empty(),
            Self::AnotherMember => {
                step.preconditions.iter().any(|given| matches!(given, Precondition::MemberIs(_)))
            }
            Self::FewerVoters => step
                .preconditions
                .iter()
                .any(|given| matches!(given, Precondition::MinHealthyVoters(1..))),
            Self::BeginEarly => {
                matches!(step.action, Action::BootstrapEtcd(_))
                    && ownership != Some(Ownership::Ours)
            }
            Self::ForgetMachine => matches!(step.action, Action::AwaitMachine(_)),
            Self::ForgetAwait => {
                let disturbed = before.iter().filter(|other| other.on == step.on);
                matches!(step.action, Action::AwaitNode(_))
                    && disturbed.into_iter().any(|other| comes_back(&other.action))
            }
            Self::ForgetReady => matches!(step.action, Action::AwaitNode(_)),
            Self::ForgetVoter => {
                let mut own = before.iter().filter(|other| other.on == step.on);
                matches!(step.action, Action::AwaitVoter(_))
                    && own.any(|other| {
                        comes_back(&other.action)
                            || matches!(other.action, Action::BootstrapEtcd(_))
                    })
            }
            Self::ForgetBatch => {
                // To be concurrent with a control plane's mere wait is harmless, and so is a batch that could have
                // been larger.
                let disturbed: BTreeSet<&MachineName> = before
                    .iter()
                    .filter(|step| disturbs(&step.action))
                    .filter_map(|step| step.on.machine())
                    .collect();
                let workers =
                    || disturbed.iter().copied().filter(|name| !case.spec.is_control_plane(name));
                let domain =
                    |name| case.spec.machine(name).and_then(|(machine, _)| machine.domain.clone());
                let at_once = case.spec.policy.workers_at_once as usize;
                !case.spec.is_control_plane(name)
                    && matches!(mode(step), Some(ApplyMode::NoReboot | ApplyMode::Staged))
                    && !step.after.is_empty()
                    && (workers().count() >= at_once
                        || workers().any(|other| domain(other) != domain(name))
                        || disturbed.iter().any(|name| case.has_healthy_voter(name)))
            }
            Self::ForgetGate | Self::AnotherWindow => !step.gates.is_empty(),
            Self::BeginTwice => case.touches_etcd(body, step),
            Self::BeginOnWorker => {
                matches!(step.action, Action::BootstrapEtcd(_)) && case.last_worker().is_some()
            }
            Self::AnotherConfig | Self::AnotherMode => mode(step).is_some(),
            Self::ConfigOfAnother => mode(step).is_some() && case.desired.len() > 1,
            Self::HideAChange => {
                step.action.config().is_some_and(|given| !given.changes.is_empty())
            }
            Self::RebootToo => {
                let change = case.desired[name].change.as_ref();
                change.is_none_or(|change| change.class != RebootClass::WithReboot)
            }
            Self::ForgetStage | Self::RebootFirst => {
                let reboots = |other: &Step| {
                    other.on == step.on && matches!(other.action, Action::RebootMachine(_))
                };
                mode(step) == Some(ApplyMode::Staged) && after.iter().any(reboots)
            }
            Self::ForgetHandOver => matches!(step.action, Action::HandOverLeadership(_)),
            Self::LeaderFirst => {
                // One that is out of service comes first by right.
                let leads = case.leader().as_ref() == Some(name) && !case.is_out(name);
                let first = before.iter().all(|other| other.on != step.on);
                let other = |other: &Step| {
                    disturbs(&other.action)
                        && other.on.machine().is_some_and(|name| case.has_healthy_voter(name))
                };
                let own = |other: &Step| other.on == step.on && disturbs(&other.action);
                let wanted = body.goal == Goal::Spec;
                wanted && leads && first && body.steps.iter().any(own) && before.iter().any(other)
            }
            Self::PassOut => {
                // A mere wait for a machine that leaves no room for others, and another one that is disturbed after it.
                let (beside, most) = case.beside(name);
                let begins =
                    body.steps.iter().any(|step| matches!(step.action, Action::BootstrapEtcd(_)));
                let passes = |other: &Step| {
                    disturbs(&other.action)
                        && other
                            .on
                            .machine()
                            .is_some_and(|other| !case.is_out(other) && beside.contains(&other))
                };
                matches!(step.action, Action::AwaitNode(_))
                    && case.is_out(name)
                    && most == 1
                    && !begins
                    && before.iter().all(|other| other.on != step.on || !disturbs(&other.action))
                    && after.iter().any(passes)
            }
            Self::ResetInstead | Self::AddReset => body.goal == Goal::Spec,
            Self::MoreThanReset | Self::ForgetDestroyOverride => body.goal == Goal::Destroyed,
            // What no machine of the spec is goes beside the machine of that name.
            Self::ResetTwice => body.goal == Goal::Destroyed && !case.destroys_orphan(step),
            Self::ForgetOverride | Self::OverrideAnotherMachine => {
                // So that there is another one to be named.
                case.inventory.machines.len() > 1
                    && case.names(name)
                    && case.needs_name(name)
                    // What goes back to its provider may be any installation.
                    && !destroys
            }
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table of edits")]
    fn edit(self, case: &Case, body: &mut Body, index: usize) {
        let number = StepNumber(u32::try_from(body.steps.len() + 1).expect("few steps"));
        let Body { identity, goal, overrides, steps, .. } = body;
        let ready = case.spec.network.cni != Cni::None;
        let step = &mut steps[index];
        let name = step.on.machine().expect("a machine").clone();
        let others = || case.inventory.machines.keys().filter(|other| **other != name);
        let append = |step: &Step, action: Action| {
            let mut step = step.clone();
            step.after = vec![step.number];
            step.number = number;
            case.exchange(&mut step, action);
            step
        };
        let overriding = |rule: &str, machine: Option<&str>, reason: &str| Override {
            rule: rule.to_owned(),
            machine: machine.map(|name| name.parse().expect("a name")),
            reason: reason.to_owned(),
        };
        match self {
            Self::ClaimMore => {
                let QuorumProof { voters, healthy } = step.proof.expect("a proof");
                step.proof = Some(QuorumProof { voters, healthy: healthy + 1 });
            }
            Self::ForgetProof => step.proof = None,
            Self::ForgetOrder
            | Self::JoinTogether
            | Self::ForgetBatch
            | Self::BeginEarly
            | Self::LeaderFirst => step.after.clear(),
            Self::ForgetPrecondition => {
                step.preconditions.pop();
            }
            Self::AnotherMember => {
                for given in &mut step.preconditions {
                    if let Precondition::MemberIs(MemberId(id)) = given {
                        *id += 1;
                    }
                }
            }
            Self::FewerVoters => {
                for given in &mut step.preconditions {
                    if let Precondition::MinHealthyVoters(count) = given {
                        *count -= 1;
                    }
                }
            }
            Self::ForgetMachine => case.exchange(step, AwaitNode { ready }.into()),
            Self::ForgetAwait => {
                // The rest of the machine's steps go on as if nothing were missing.
                let own = steps.iter_mut().filter(|step| step.on.machine() == Some(&name));
                for step in own.filter(|step| matches!(step.action, Action::AwaitNode(_))) {
                    case.exchange(step, FetchKubeconfig {}.into());
                }
            }
            Self::ForgetVoter => {
                let own = steps.iter_mut().filter(|step| step.on.machine() == Some(&name));
                for step in own.filter(|step| matches!(step.action, Action::AwaitVoter(_))) {
                    case.exchange(step, FetchKubeconfig {}.into());
                    step.proof = None;
                }
            }
            Self::PassOut => {
                case.exchange(step, FetchKubeconfig {}.into());
                step.preconditions.clear();
            }
            Self::ForgetReady => step.action = AwaitNode { ready: !ready }.into(),
            Self::ForgetGate => step.gates.clear(),
            Self::AnotherWindow => {
                let mut windows = case.spec.policy.windows.clone();
                windows.extend(windows.clone());
                step.gates = vec![Gate::Windows(windows)];
            }
            Self::ForgetTimeOut => step.time_out = Span::seconds(0),
            Self::LongerTimeOut => step.time_out = Span::minutes(600),
            Self::ForgetRecovery => step.recovery.clear(),
            Self::WaitForLater => step.after.push(number),
            Self::BeginTwice => {
                let mut again = append(step, BootstrapEtcd {}.into());
                again.preconditions = vec![Precondition::NoMembers];
                steps.push(again);
            }
            Self::BeginOnWorker => step.on = case.last_worker().expect("a worker").into(),
            Self::AnotherMachine => {
                step.on = Target::Machine("stranger".parse().expect("a name"));
            }
            Self::NotAMachine => {
                step.on = match index % 4 {
                    0 => Target::Cluster,
                    1 => Target::Member(MemberId(1)),
                    2 => Target::Node((&name).into()),
                    _ => Target::Addon(name.as_str().parse().expect("a name")),
                };
            }
            Self::AnotherConfig => config(step).config = digest(999),
            Self::ConfigOfAnother => {
                config(step).config = case.desired[others().next().expect("another")].digest;
            }
            Self::AnotherMode => {
                let mode = &mut config(step).mode;
                *mode = match mode {
                    ApplyMode::Staged => ApplyMode::NoReboot,
                    ApplyMode::NoReboot | ApplyMode::Maintenance => ApplyMode::Staged,
                };
            }
            Self::HideAChange => {
                config(step).changes.pop();
            }
            Self::AnotherCluster => *identity = digest(999),
            Self::RebootToo => {
                let reboot = append(step, RebootMachine {}.into());
                steps.push(reboot);
            }
            Self::ForgetStage => case.exchange(step, AwaitNode { ready }.into()),
            Self::RebootFirst => {
                let stage = step.action.clone();
                case.exchange(step, RebootMachine {}.into());
                let mut later = steps[index + 1..].iter_mut();
                let reboot = later.find(|step| {
                    step.on.machine() == Some(&name)
                        && matches!(step.action, Action::RebootMachine(_))
                });
                case.exchange(reboot.expect("a reboot"), stage);
            }
            Self::ForgetHandOver => {
                case.exchange(step, FetchKubeconfig {}.into());
                step.preconditions.clear();
                step.proof = None;
            }
            Self::OverrideAnything => {
                overrides.push(overriding("identity.foreign", None, "because"));
            }
            Self::OverrideEveryMachine => {
                overrides.push(overriding("identity.node", None, "because"));
            }
            Self::OverrideStranger => {
                overrides.push(overriding("identity.node", Some("stranger"), "because"));
            }
            Self::OverrideWithoutReason => {
                overrides.push(overriding("quorum.tolerance", None, " "));
            }
            Self::ForgetOverride => {
                overrides.retain(|given| given.machine.as_ref() != Some(&name));
            }
            Self::OverrideAnotherMachine => {
                for given in
                    overrides.iter_mut().filter(|given| given.machine == Some(name.clone()))
                {
                    given.machine = others().next().cloned();
                }
            }
            Self::ResetInstead => case.exchange(step, ResetMachine {}.into()),
            Self::AnotherClass => provided(step).class = class("large"),
            Self::AnotherGeneration => provided(step).generation += 1,
            Self::BeginWithoutAll => {
                let mut begin = append(step, BootstrapEtcd {}.into());
                begin.preconditions = vec![Precondition::NoMembers];
                steps.push(begin);
            }
            Self::DestroyAnother => {
                let instance = instance("another");
                step.preconditions = vec![Precondition::InstanceIs(instance.id.clone())];
                step.action = DestroyMachine { instance }.into();
            }
            Self::DestroyToo => {
                let instance = instance(&format!("of-{name}"));
                let destroy = append(step, DestroyMachine { instance }.into());
                steps.push(destroy);
            }
            Self::ProvideInstead => {
                case.exchange(step, ProvideMachine { class: class(CLASS), generation: 1 }.into());
            }
            Self::AddReset | Self::ResetTwice => {
                let reset = append(step, ResetMachine {}.into());
                steps.push(reset);
            }
            Self::MoreThanReset => {
                let wait = append(step, AwaitNode { ready }.into());
                steps.push(wait);
            }
            Self::AnotherGoal => {
                *goal = match goal {
                    Goal::Spec => Goal::Destroyed,
                    Goal::Destroyed => Goal::Spec,
                };
            }
            Self::ForgetDestroyOverride => {
                overrides.retain(|given| given.rule != Rule::QuorumDestroy.name());
            }
        }
    }
}

/// The way that a step hands over a configuration.
pub(crate) fn mode(step: &Step) -> Option<ApplyMode> {
    step.action.config().map(|given| given.mode)
}

fn config(step: &mut Step) -> &mut ApplyConfig {
    let Action::ApplyConfig(given) = &mut step.action else { panic!("no configuration") };
    given
}

fn instance(id: &str) -> Instance {
    Instance { id: ProviderId(id.to_owned()), generation: 1 }
}

fn provided(step: &mut Step) -> &mut ProvideMachine {
    let Action::ProvideMachine(given) = &mut step.action else { panic!("nothing is provided") };
    given
}

/// Whether a machine may stop serving because of an action.
fn disturbs(action: &Action) -> bool {
    match action {
        Action::DestroyMachine(_)
        | Action::RebootMachine(_)
        | Action::HandOverLeadership(_)
        | Action::ResetMachine(_) => true,
        Action::ApplyConfig(given) => given.mode == ApplyMode::NoReboot,
        Action::AwaitMachine(_)
        | Action::AwaitNode(_)
        | Action::AwaitVoter(_)
        | Action::BootstrapEtcd(_)
        | Action::FetchKubeconfig(_)
        | Action::ProvideMachine(_) => false,
    }
}

/// Whether a machine has to come into service after an action.
fn comes_back(action: &Action) -> bool {
    disturbs(action)
        || matches!(action, Action::AwaitMachine(_))
        || action.config().is_some_and(|given| given.mode == ApplyMode::Maintenance)
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    select(Edit::ALL.to_vec())
}
