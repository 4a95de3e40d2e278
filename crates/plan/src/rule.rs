//! The safety rules: their names, which are a public interface.

use std::fmt;

use crate::ErrorKind;

/// The plans for which a person may override a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Scope {
    /// None: the rule keeps a plan meaningful at all.
    Never,
    /// The plan as a whole, or what it does to one machine.
    Plan,
    /// Only for a machine that is named: what is true of one says nothing about another.
    Machine,
}

/// One row for each rule.
macro_rules! rules {
    ($($(#[$doc:meta])+ $rule:ident: $name:literal, $kind:ident, $scope:ident;)+) => {
        /// A safety rule.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum Rule {
            $($(#[$doc])+ $rule,)+
        }

        impl Rule {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$rule),+];

            const fn row(self) -> (&'static str, ErrorKind, Scope) {
                match self {
                    $(Self::$rule => ($name, ErrorKind::$kind, Scope::$scope),)+
                }
            }
        }
    };
}

rules! {
    /// A majority of voters stays able.
    QuorumTolerance: "quorum.tolerance", Retryable, Plan;
    /// The only voter does not pause.
    QuorumOnlyVoter: "quorum.only-voter", NeedsPerson, Plan;
    /// The members of etcd are known when one of them is touched.
    QuorumUnknown: "quorum.unknown", Retryable, Plan;
    /// The spec does not drop a majority of the voters.
    QuorumSpec: "quorum.spec", NeedsPerson, Never;
    /// A step that touches a voter carries the proof that counting again gives.
    QuorumProof: "quorum.proof", Permanent, Never;
    /// A cluster is ended only by who says so by name.
    QuorumDestroy: "quorum.destroy", NeedsPerson, Plan;
    /// Machines are reset by a plan that ends the cluster and does nothing else, and by no other.
    DestroyGoal: "destroy.goal", Permanent, Never;
    /// Etcd is bootstrapped once, and only where there is none.
    BootstrapOnce: "bootstrap.once", Permanent, Never;
    /// Etcd is bootstrapped on a control plane.
    BootstrapControlPlane: "bootstrap.control-plane", Permanent, Never;
    /// Every control plane has been seen before etcd is bootstrapped.
    BootstrapUnseen: "bootstrap.unseen", Retryable, Plan;
    /// Etcd is not bootstrapped where evidence says that it has begun before.
    BootstrapAgain: "bootstrap.again", NeedsPerson, Plan;
    /// All members on machines of the cluster are in one etcd.
    EtcdSplit: "etcd.split", NeedsPerson, Never;
    /// A cluster is created from machines in maintenance, or those that this directory configured.
    CreateConfigured: "create.configured", NeedsPerson, Plan;
    /// The plan is for this cluster.
    IdentityCluster: "identity.cluster", Permanent, Never;
    /// A machine of another cluster is not touched.
    IdentityForeign: "identity.foreign", NeedsPerson, Never;
    /// A machine is the installation that was recorded.
    IdentityNode: "identity.node", NeedsPerson, Machine;
    /// A machine that was recorded as ours is not handed secrets because it says that it is in maintenance.
    IdentityMaintenance: "identity.maintenance", NeedsPerson, Machine;
    /// No two machines are one installation.
    IdentityTwice: "identity.twice", Permanent, Never;
    /// A machine that was recorded as ours, and that its provider does not have, is not made again unasked.
    IdentityGone: "identity.gone", NeedsPerson, Machine;
    /// A machine is made of the class that the spec gives, once for each generation.
    ProvideClass: "provide.class", Permanent, Never;
    /// A step is for a machine of the spec.
    IdentityMachine: "identity.machine", Permanent, Never;
    /// The configuration of a step is the one that the spec gives.
    ConfigDigest: "config.digest", Permanent, Never;
    /// There is the disk that Talos is to be installed to.
    InstallDisk: "install.disk", NeedsPerson, Plan;
    /// A change that needs a reboot gets one, and no other does.
    ConfigReboot: "config.reboot", Permanent, Never;
    /// A machine keeps its role.
    ConfigRole: "config.role", NeedsPerson, Never;
    /// A machine is given nothing that the release which it runs does not know.
    ConfigRelease: "config.release", NeedsPerson, Never;
    /// Kubernetes gets another release by an upgrade, in its own order.
    ConfigKubernetes: "config.kubernetes", NeedsPerson, Plan;
    /// The preconditions of a step are the observed facts about its machine.
    FactsCurrent: "facts.current", Retryable, Never;
    /// Steps wait for steps that come before them.
    OrderGraph: "order.graph", Permanent, Never;
    /// One control plane at a time.
    OrderControlPlanes: "order.control-planes", Permanent, Never;
    /// The leader of etcd is the last control plane.
    OrderLeader: "order.leader", Permanent, Plan;
    /// Control planes before workers.
    OrderWorkers: "order.workers", Permanent, Plan;
    /// A machine that was disturbed is waited for.
    OrderAwait: "order.await", Permanent, Never;
    /// Machines that are out of service already count among those that may be at once.
    OrderOutOfService: "order.out-of-service", NeedsPerson, Machine;
    /// Not more workers at once than the policy says.
    BatchSize: "batch.size", Permanent, Plan;
    /// Workers that are changed at the same time fail together anyway.
    BatchDomain: "batch.domain", Permanent, Plan;
    /// Kinds of change that exclude each other are not in one plan.
    OrderKinds: "order.kinds", Permanent, Never;
    /// Machines are disturbed within the windows of the policy.
    WindowMissing: "window.missing", Permanent, Plan;
    /// A disruptive step is begun only under a lease that was renewed just before.
    LeaseUnavailable: "lease.unavailable", Retryable, Plan;
    /// A step has a time-out, says what it leaves behind, and how to recover.
    StepIncomplete: "step.incomplete", Permanent, Never;
    /// An override names a rule that can be overridden, and a reason.
    OverrideUnknown: "override.unknown", Permanent, Never;
}

impl Rule {
    /// Returns its name, which is the code of the refusal.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns what can be done about a refusal.
    pub const fn kind(self) -> ErrorKind {
        self.row().1
    }

    /// Returns whether a person may override it.
    pub const fn can_be_overridden(self) -> bool {
        !matches!(self.row().2, Scope::Never)
    }

    /// Returns whether an override has to name the machine.
    pub const fn is_for_one_machine(self) -> bool {
        matches!(self.row().2, Scope::Machine)
    }

    /// Returns the rule of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.name() == name)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
