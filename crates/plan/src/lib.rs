//! The planner: the spec of a cluster, its inventory, and the checked steps between the two.
//!
//! In: a description of a cluster ([`ClusterSpec`]), the secrets for its configuration, and what was seen
//! ([`Inventory`]). The configuration of each machine is rendered ([`Renderer`]), a [`plan`] is made and
//! [`check`]ed; people read it, approve it by its hash, store it and compare it. Out: a
//! [`Plan<Approved>`](Plan), which the engine carries out.
//!
//! Always holds: the crate knows no clock, no randomness, no files and no network; the same input gives
//! the same bytes; no plan, inventory, error or view has a secret in it.

mod action;
mod check;
mod compare;
mod file;
mod finding;
mod install;
mod layers;
mod native_export;
mod plan;
mod planner;
mod reboot;
mod render;
mod rule;
mod spec;
mod step;
mod view;

pub use action::{
    Action, ApplyConfig, AwaitMachine, AwaitNode, AwaitVoter, Awaited, BootstrapEtcd, ChangeKind,
    DestroyMachine, EtcdEffect, FetchKubeconfig, HandOverLeadership, Limits, Nature, Needed, On,
    Outcome, ProvideMachine, RETURNS_WITHIN, RebootMachine, ResetMachine, steps_reference,
};
pub use check::check;
pub use compare::{PlanDifference, compare};
pub use domain::{
    AddonName, Address, ApplyMode, BootId, ClassName, ClusterName, Day, Digest, DigestKey, Disk,
    Endpoint, ErrorKind, Etcd, Fact, FailureDomain, Fingerprint, Instance, InvalidText, Inventory,
    InventoryError, KubernetesVersion, MAX_LAG, MachineFacts, MachineName, Member, MemberId,
    Network, NodeIdentity, NodeName, NodeState, Orphan, Ownership, PoolName, ProviderId,
    ProviderName, Source, Span, TalosVersion, Target, TextFormat, TimeOfDay, Timestamp, Window,
};
pub use file::PlanFileError;
pub use finding::{Finding, Refusal};
pub use install::{Install, InstallDisk};
pub use layers::{
    Layer, LayerError, LayerSnapshot, LayerSource, Layers, PatchText, Prerendered, Scope,
};
pub use native_export::{NativeError, NativeExport};
pub use plan::{
    Approval, ApprovalError, Approved, Body, Checked, Draft, Goal, Override, Plan, Skipped,
};
pub use planner::{Planned, PlanningInput, out_of_service_finding, plan};
pub use reboot::RebootClass;
pub use render::{ConfigChange, Explained, Live, RenderError, Renderer, Rendering, Renderings};
pub use rule::Rule;
pub use spec::{
    Backup, ClusterNetwork, ClusterSpec, Cni, ControlPlane, Machine, MachineSource, Membership,
    PatchEntry, PatchSource, Policy, Pool, ReleaseOrigins, SpecError, SpecRule, TimeOrigins,
    json_schema,
};
pub use step::{FieldChange, Gate, Needs, Precondition, QuorumProof, Step, StepNumber};
