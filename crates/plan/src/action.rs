//! The actions of steps, one file each. What planner and checker may know of an action is data: its [`Nature`].
//!
//! In: nothing but the action itself. Out: its verb, its nature, its limits, what it assumes, what it leaves behind.
//! Always holds: checker, view and comparison read these and match on no action; what a few actions carry beside it
//! they read by [`Action::config`], [`Action::provides`], [`Action::destroys`] and [`Action::waits_for_ready`]. A new
//! action is a file here, its lines below, and a file of the same name in the engine.

mod apply_config;
mod await_machine;
mod await_node;
mod await_voter;
mod bootstrap_etcd;
mod destroy_machine;
mod fetch_kubeconfig;
mod hand_over_leadership;
mod provide_machine;
mod reboot_machine;
mod reference;
mod reset_machine;

use domain::{Etcd, Instance, MachineFacts, Ownership, Span, Target, Timestamp};
use serde::{Deserialize, Serialize};

use crate::spec::Policy;
use crate::step::Precondition;

pub use apply_config::ApplyConfig;
pub use await_machine::AwaitMachine;
pub use await_node::AwaitNode;
pub use await_voter::AwaitVoter;
pub use bootstrap_etcd::BootstrapEtcd;
pub use destroy_machine::DestroyMachine;
pub use fetch_kubeconfig::FetchKubeconfig;
pub use hand_over_leadership::HandOverLeadership;
pub use provide_machine::ProvideMachine;
pub use reboot_machine::{RETURNS_WITHIN, RebootMachine};
pub use reference::steps_reference;
pub use reset_machine::ResetMachine;

/// Declares the actions: the enum, and the delegation of [`Act`] to the struct of each.
macro_rules! actions {
    ($($(#[$docs:meta])* $name:ident,)*) => {
        /// An action of a step.
        #[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
        #[serde(rename_all = "camelCase", tag = "do")]
        pub enum Action {
            $($(#[$docs])* $name($name),)*
        }

        $(impl From<$name> for Action {
            fn from(action: $name) -> Self {
                Self::$name(action)
            }
        })*

        impl Action {
            fn act(&self) -> &dyn Act {
                match self {
                    $(Self::$name(action) => action,)*
                }
            }

            /// Returns one of each action, and of each of its verbs: what there is to know about steps.
            pub fn samples() -> Vec<Self> {
                [$($name::samples().into_iter().map(Self::from).collect::<Vec<_>>(),)*].concat()
            }
        }
    };
}

actions! {
    /// Hands a machine its configuration.
    ApplyConfig,
    /// Waits until a machine that was configured before answers as one of the cluster.
    AwaitMachine,
    /// Waits until a machine is registered in Kubernetes and, where the network allows it, ready.
    AwaitNode,
    /// Waits until a machine's member of etcd votes, runs and has caught up.
    AwaitVoter,
    /// Begins etcd, and so the cluster, on one control plane.
    BootstrapEtcd,
    /// Has a provider take a machine away, with all of its data.
    DestroyMachine,
    /// Fetches credentials for the Kubernetes API.
    FetchKubeconfig,
    /// Lets another member lead etcd.
    HandOverLeadership,
    /// Has a provider make a machine.
    ProvideMachine,
    /// Boots a machine again.
    RebootMachine,
    /// Takes a machine's configuration and data away; Talos stays installed.
    ResetMachine,
}

/// The declaration of an action about itself.
trait Act {
    fn kind(&self) -> &'static str;
    fn verb(&self) -> &'static str;
    fn nature(&self) -> Nature;
    fn limits(&self, policy: &Policy) -> Limits;
    fn outcome(&self, on: &Target) -> Outcome;

    /// Returns one for each verb that it may have.
    fn samples() -> Vec<Self>
    where
        Self: Sized;

    /// Returns its preconditions; `None` for a fact that has to be known and is not.
    fn assumes(&self, _seen: &TargetFacts<'_>) -> Vec<Option<Precondition>> {
        Vec::new()
    }

    /// Returns what sets it apart from others of its verb, for people.
    fn detail(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl Action {
    /// Identifies it in journals, metrics and events, and across plans: `apply-config`, `reboot-machine`.
    pub fn kind(&self) -> &'static str {
        self.act().kind()
    }

    /// Returns its verb, for people: `apply config`, `reboot`.
    pub fn verb(&self) -> &'static str {
        self.act().verb()
    }

    /// Returns its nature, as far as planner and checker may know it.
    pub fn nature(&self) -> Nature {
        self.act().nature()
    }

    /// Returns its time-out and its usual duration.
    pub fn limits(&self, policy: &Policy) -> Limits {
        self.act().limits(policy)
    }

    /// Returns what it leaves behind when it fails, and the command that helps.
    pub fn outcome(&self, on: &Target) -> Outcome {
        self.act().outcome(on)
    }

    /// Returns its preconditions; `None` for a fact that has to be known and is not.
    pub(crate) fn assumes(&self, seen: &TargetFacts<'_>) -> Vec<Option<Precondition>> {
        self.act().assumes(seen)
    }

    /// Returns what sets it apart from others of its verb, for people.
    pub fn detail(&self) -> Vec<(&'static str, String)> {
        self.act().detail()
    }

    /// Returns whether it waits for a ready node or only for a registered one, if it waits for a node.
    pub fn waits_for_ready(&self) -> Option<bool> {
        match self {
            Self::AwaitNode(wait) => Some(wait.ready),
            _ => None,
        }
    }

    /// Returns the machine that it has a provider make, if it is such an action.
    pub fn provides(&self) -> Option<&ProvideMachine> {
        match self {
            Self::ProvideMachine(provide) => Some(provide),
            _ => None,
        }
    }

    /// Returns the machine that it has a provider take away, if it is such an action.
    pub fn destroys(&self) -> Option<&Instance> {
        match self {
            Self::DestroyMachine(destroy) => Some(&destroy.instance),
            _ => None,
        }
    }

    /// Returns the configuration that it hands over, if it is such an action.
    pub fn config(&self) -> Option<&ApplyConfig> {
        match self {
            Self::ApplyConfig(config) => Some(config),
            _ => None,
        }
    }
}

/// The nature of an action, as far as planner and checker may know it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Nature {
    /// The target, and the state that it has to be in.
    pub on: On,
    /// The kind of change that it belongs to; none for what only waits or fetches.
    pub change: Option<ChangeKind>,
    /// A running machine may stop serving because of it: windows, batches and "control planes before workers" apply.
    pub disturbs: bool,
    /// The effect on etcd when its machine has a member.
    pub etcd: EtcdEffect,
    /// The states that have to be awaited after it, on the same machine.
    pub leaves_awaited: &'static [Awaited],
    /// The state that it waits for.
    pub awaits: Option<Awaited>,
    /// The machine boots again.
    pub reboots: bool,
}

impl Nature {
    /// Returns an action on a machine that belongs to no change, disturbs nothing and leaves etcd alone.
    const fn harmless(on: On) -> Self {
        Self {
            on,
            change: None,
            disturbs: false,
            etcd: EtcdEffect::None,
            leaves_awaited: &[],
            awaits: None,
            reboots: false,
        }
    }
}

/// The kind of target of an action.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum On {
    /// A machine in a state.
    Machine(Needed),
    /// A control plane in a state.
    ControlPlane(Needed),
}

impl On {
    /// Returns the state that the machine has to be in.
    pub fn needed(self) -> Needed {
        match self {
            Self::Machine(needed) | Self::ControlPlane(needed) => needed,
        }
    }
}

/// The state that a machine has to be in for an action.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Needed {
    /// It has this ownership.
    Is(Ownership),
    /// It is ours, be it away for a while, or an earlier step of the plan makes it ours.
    Joined,
    /// Its provider does not have it, or has made it and nothing was done with it since.
    NotProvided,
    /// Its provider has it, in any state.
    Provided,
}

/// Kinds of change, some of which exclude each other in one plan.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ChangeKind {
    /// Providers make machines.
    Provide,
    /// Machines get their first configuration.
    Join,
    /// Etcd begins.
    Bootstrap,
    /// Machines get another configuration.
    Configure,
    /// Everything comes to its end.
    Destroy,
}

impl ChangeKind {
    /// Every pair of kinds that may not be in one plan.
    pub const EXCLUSIVE: &[(Self, Self)] = &[
        (Self::Destroy, Self::Provide),
        (Self::Destroy, Self::Join),
        (Self::Destroy, Self::Bootstrap),
        (Self::Destroy, Self::Configure),
    ];
}

/// The effect of a step on a control plane's etcd.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EtcdEffect {
    /// Nothing.
    None,
    /// The member stays, but may be changed.
    Touch,
    /// A member is on its way into an etcd that exists.
    Join,
    /// Another member leads.
    MoveLeader,
    /// The member stops for a while, or for good.
    Pause,
    /// The first member begins.
    Begin,
    /// The member votes and has caught up.
    Restore,
}

/// The state that a machine has to reach again after it was disturbed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Awaited {
    /// Answer as one of the cluster.
    Machine,
    /// Serve in Kubernetes.
    Node,
    /// Vote in etcd, if it is a control plane.
    Voter,
}

/// The time-out of an action, and its usual duration where no experience is recorded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// After this it has failed.
    pub time_out: Span,
    /// On servers that boot from a disk.
    pub usual: Span,
}

/// The state that a failed action leaves, and the remedy.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Outcome {
    /// The state that is left behind.
    pub leaves: String,
    /// The command that helps.
    pub recovery: String,
}

/// The facts about the target of a step.
#[derive(Clone, Copy)]
pub(crate) struct TargetFacts<'a> {
    pub(crate) facts: &'a MachineFacts,
    /// The members of etcd, where they are known.
    pub(crate) etcd: Option<&'a Etcd>,
    pub(crate) on: &'a Target,
    /// The moment to which ages are counted.
    pub(crate) now: Timestamp,
}

impl TargetFacts<'_> {
    /// Requires that the machine is the installation that was observed.
    fn node(&self) -> Option<Precondition> {
        self.facts.node.current(self.now).cloned().map(Precondition::NodeIs)
    }
}
