//! The safety rules: their names, which are a public interface, and what breaks them.

use std::fmt;

use domain::{MachineName, Target};

use crate::ErrorKind;
use crate::step::StepNumber;

/// A safety rule.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    /// A majority of voters stays able.
    QuorumTolerance,
    /// The only voter does not pause.
    QuorumOnlyVoter,
    /// The members of etcd are known when one of them is touched.
    QuorumUnknown,
    /// The spec does not drop a majority of the voters.
    QuorumSpec,
    /// A step that touches a voter carries the proof that counting again gives.
    QuorumProof,
    /// A cluster is ended only by who says so by name.
    QuorumDestroy,
    /// Machines are reset by a plan that ends the cluster and does nothing else, and by no other.
    DestroyGoal,
    /// Etcd is bootstrapped once, and only where there is none.
    BootstrapOnce,
    /// Etcd is bootstrapped on a control plane.
    BootstrapControlPlane,
    /// Every control plane has been seen before etcd is bootstrapped.
    BootstrapUnseen,
    /// Etcd is not bootstrapped where evidence says that it has begun before.
    BootstrapAgain,
    /// All members on machines of the cluster are in one etcd.
    EtcdSplit,
    /// A cluster is created from machines in maintenance, or those that this directory configured.
    CreateConfigured,
    /// The plan is for this cluster.
    IdentityCluster,
    /// A machine of another cluster is not touched.
    IdentityForeign,
    /// A machine is the installation that was recorded.
    IdentityNode,
    /// A machine that was recorded as ours is not handed secrets because it says that it is in maintenance.
    IdentityMaintenance,
    /// No two machines are one installation.
    IdentityTwice,
    /// A machine that was recorded as ours, and that its provider does not have, is not made again unasked.
    IdentityGone,
    /// A machine is made of the class that the spec gives, once for each generation.
    ProvideClass,
    /// A step is for a machine of the spec.
    IdentityMachine,
    /// The configuration of a step is the one that the spec gives.
    ConfigDigest,
    /// There is the disk that Talos is to be installed to.
    InstallDisk,
    /// A change that needs a reboot gets one, and no other does.
    ConfigReboot,
    /// A machine keeps its role.
    ConfigRole,
    /// A machine is given nothing that the release which it runs does not know.
    ConfigRelease,
    /// Kubernetes gets another release by an upgrade, in its own order.
    ConfigKubernetes,
    /// The preconditions of a step are the observed facts about its machine.
    FactsCurrent,
    /// Steps wait for steps that come before them.
    OrderGraph,
    /// One control plane at a time.
    OrderControlPlanes,
    /// The leader of etcd is the last control plane.
    OrderLeader,
    /// Control planes before workers.
    OrderWorkers,
    /// A machine that was disturbed is waited for.
    OrderAwait,
    /// Machines that are out of service already count among those that may be at once.
    OrderOutOfService,
    /// Not more workers at once than the policy says.
    BatchSize,
    /// Workers that are changed at the same time fail together anyway.
    BatchDomain,
    /// Kinds of change that exclude each other are not in one plan.
    OrderKinds,
    /// Machines are disturbed within the windows of the policy.
    WindowMissing,
    /// A disruptive step is begun only under a lease that was renewed just before.
    LeaseUnavailable,
    /// A step has a time-out, says what it leaves behind, and how to recover.
    StepIncomplete,
    /// An override names a rule that can be overridden, and a reason.
    OverrideUnknown,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 41] = [
        Self::QuorumTolerance,
        Self::QuorumOnlyVoter,
        Self::QuorumUnknown,
        Self::QuorumSpec,
        Self::QuorumProof,
        Self::QuorumDestroy,
        Self::DestroyGoal,
        Self::BootstrapOnce,
        Self::BootstrapControlPlane,
        Self::BootstrapUnseen,
        Self::BootstrapAgain,
        Self::EtcdSplit,
        Self::CreateConfigured,
        Self::IdentityCluster,
        Self::IdentityForeign,
        Self::IdentityNode,
        Self::IdentityMaintenance,
        Self::IdentityTwice,
        Self::IdentityGone,
        Self::ProvideClass,
        Self::IdentityMachine,
        Self::ConfigDigest,
        Self::InstallDisk,
        Self::ConfigReboot,
        Self::ConfigRole,
        Self::ConfigRelease,
        Self::ConfigKubernetes,
        Self::FactsCurrent,
        Self::OrderGraph,
        Self::OrderControlPlanes,
        Self::OrderLeader,
        Self::OrderWorkers,
        Self::OrderAwait,
        Self::OrderOutOfService,
        Self::BatchSize,
        Self::BatchDomain,
        Self::OrderKinds,
        Self::WindowMissing,
        Self::LeaseUnavailable,
        Self::StepIncomplete,
        Self::OverrideUnknown,
    ];

    /// Returns its name, which is the code of the refusal.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns whether a person may override it. Rules that keep a plan meaningful at all cannot be overridden.
    pub const fn can_be_overridden(self) -> bool {
        self.row().1
    }

    /// Returns whether an override has to name the machine: what is true of one says nothing about another.
    pub const fn is_for_one_machine(self) -> bool {
        matches!(
            self,
            Self::IdentityNode
                | Self::IdentityMaintenance
                | Self::IdentityGone
                | Self::OrderOutOfService
        )
    }

    /// Returns what can be done about a refusal.
    pub const fn kind(self) -> ErrorKind {
        self.row().2
    }

    /// Returns the rule of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }

    const fn row(self) -> (&'static str, bool, ErrorKind) {
        use ErrorKind::{NeedsPerson, Permanent, Retryable};
        match self {
            Self::QuorumTolerance => ("quorum.tolerance", true, Retryable),
            Self::QuorumOnlyVoter => ("quorum.only-voter", true, NeedsPerson),
            Self::QuorumUnknown => ("quorum.unknown", true, Retryable),
            Self::QuorumSpec => ("quorum.spec", false, NeedsPerson),
            Self::QuorumProof => ("quorum.proof", false, Permanent),
            Self::QuorumDestroy => ("quorum.destroy", true, NeedsPerson),
            Self::DestroyGoal => ("destroy.goal", false, Permanent),
            Self::BootstrapOnce => ("bootstrap.once", false, Permanent),
            Self::BootstrapControlPlane => ("bootstrap.control-plane", false, Permanent),
            Self::BootstrapUnseen => ("bootstrap.unseen", true, Retryable),
            Self::BootstrapAgain => ("bootstrap.again", true, NeedsPerson),
            Self::EtcdSplit => ("etcd.split", false, NeedsPerson),
            Self::CreateConfigured => ("create.configured", true, NeedsPerson),
            Self::IdentityCluster => ("identity.cluster", false, Permanent),
            Self::IdentityForeign => ("identity.foreign", false, NeedsPerson),
            Self::IdentityNode => ("identity.node", true, NeedsPerson),
            Self::IdentityMaintenance => ("identity.maintenance", true, NeedsPerson),
            Self::IdentityTwice => ("identity.twice", false, Permanent),
            Self::IdentityGone => ("identity.gone", true, NeedsPerson),
            Self::ProvideClass => ("provide.class", false, Permanent),
            Self::IdentityMachine => ("identity.machine", false, Permanent),
            Self::ConfigDigest => ("config.digest", false, Permanent),
            Self::InstallDisk => ("install.disk", true, NeedsPerson),
            Self::ConfigReboot => ("config.reboot", false, Permanent),
            Self::ConfigRole => ("config.role", false, NeedsPerson),
            Self::ConfigRelease => ("config.release", false, NeedsPerson),
            Self::ConfigKubernetes => ("config.kubernetes", true, NeedsPerson),
            Self::FactsCurrent => ("facts.current", false, Retryable),
            Self::OrderGraph => ("order.graph", false, Permanent),
            Self::OrderControlPlanes => ("order.control-planes", false, Permanent),
            Self::OrderLeader => ("order.leader", true, Permanent),
            Self::OrderWorkers => ("order.workers", true, Permanent),
            Self::OrderAwait => ("order.await", false, Permanent),
            Self::OrderOutOfService => ("order.out-of-service", true, NeedsPerson),
            Self::BatchSize => ("batch.size", true, Permanent),
            Self::BatchDomain => ("batch.domain", true, Permanent),
            Self::OrderKinds => ("order.kinds", false, Permanent),
            Self::WindowMissing => ("window.missing", true, Permanent),
            Self::LeaseUnavailable => ("lease.unavailable", true, Retryable),
            Self::StepIncomplete => ("step.incomplete", false, Permanent),
            Self::OverrideUnknown => ("override.unknown", false, Permanent),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule that is broken, by what, and what to do about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// By which step, if it is one.
    pub step: Option<StepNumber>,
    /// The target, unless it is about the plan as a whole.
    pub on: Option<Target>,
    /// The problem.
    pub message: String,
    /// Returns the remedy.
    pub hint: String,
}

impl Finding {
    /// Returns a finding about a machine.
    pub(crate) fn about(name: &MachineName, rule: Rule, message: String, hint: &str) -> Self {
        Self { rule, step: None, on: Some(name.into()), message, hint: hint.to_owned() }
    }

    /// Returns the machine, if it is about one.
    pub fn machine(&self) -> Option<&MachineName> {
        self.on.as_ref().and_then(Target::machine)
    }
}

/// The refusal of a plan: at least one rule is broken.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("refused by {}", names(.findings))]
pub struct Refusal {
    /// Every rule that is broken and not overridden.
    pub findings: Vec<Finding>,
}

impl Refusal {
    /// Returns the code: the name of the first rule that is broken.
    pub fn code(&self) -> &'static str {
        self.findings.first().map_or(Rule::OrderGraph, |finding| finding.rule).name()
    }

    /// Returns what can be done: it may go away only if every rule that is broken may.
    pub fn kind(&self) -> ErrorKind {
        let kinds = || self.findings.iter().map(|finding| finding.rule.kind());
        if kinds().any(|kind| kind == ErrorKind::Permanent) {
            ErrorKind::Permanent
        } else if kinds().any(|kind| kind == ErrorKind::NeedsPerson) {
            ErrorKind::NeedsPerson
        } else {
            ErrorKind::Retryable
        }
    }
}

fn names(findings: &[Finding]) -> String {
    let mut names: Vec<&str> = findings.iter().map(|finding| finding.rule.name()).collect();
    names.dedup();
    names.join(", ")
}
