//! What a cluster should be, what was seen of it, and the checked steps between the two.
//!
//! In: a description of a cluster ([`ClusterSpec`]), the secrets for its configuration, and what was seen
//! ([`Inventory`]). The configuration of each machine is rendered ([`Renderer`]), a [`plan`] is made and
//! [`check`]ed; people read it, approve it by its hash, store it and compare it. Out: a
//! [`Plan<Approved>`](Plan), which somebody else carries out.
//!
//! Always holds: the crate knows no clock, no randomness, no files and no network; the same input gives
//! the same bytes; no plan, inventory, error or view has a secret in it.

mod check;
mod compare;
mod digest;
mod error;
mod file;
mod install;
mod inventory;
mod layers;
mod names;
mod native;
mod network;
mod plan;
mod planner;
mod reboot;
mod render;
mod rule;
mod spec;
mod step;
mod time;
mod version;
mod view;

pub use check::{Against, check};
pub use compare::{PlanDifference, compare};
pub use digest::{Digest, DigestKey};
pub use error::Kind;
pub use file::PlanFileError;
pub use install::{Disk, Install, InstallDisk};
pub use inventory::{
    BootId, Etcd, Fact, Inventory, InventoryError, MAX_LAG, MachineFacts, Member, MemberId,
    NodeIdentity, NodeState, Source, Standing,
};
pub use layers::{Laid, LaidStep, Layer, LayerError, Layers, Scope, Text};
pub use names::{ClusterName, FailureDomain, Form, MachineName, Malformed, PoolName};
pub use native::{Native, NativeError};
pub use network::{Address, Endpoint, Network};
pub use plan::{
    Approval, ApprovalError, Approved, Body, Checked, Draft, Goal, LeftOut, Override, Plan,
};
pub use planner::{Planned, Request, plan};
pub use reboot::RebootClass;
pub use render::{ConfigChange, Explained, Live, RenderError, Renderer, Rendering, Renderings};
pub use rule::{Finding, Refusal, Rule};
pub use spec::{
    Backup, ClusterNetwork, ClusterSpec, Cni, ControlPlane, Machine, PatchEntry, PatchSource,
    Place, Policy, Pool, Problem, SpecError, SpecRule, json_schema,
};
pub use step::{Action, ApplyMode, FieldChange, Gate, Precondition, Proof, Step, StepNumber};
pub use time::{Day, Moment, Span, TimeOfDay, Window};
pub use version::{KubernetesVersion, Supported, TalosVersion};
