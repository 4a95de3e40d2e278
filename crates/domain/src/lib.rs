//! The vocabulary of planner, engine and simulator: names, identities, digests, time, versions, and the facts of an
//! inventory.
//!
//! In: texts and numbers of files and machines. Out: types that cannot be built wrong. Always holds: the crate knows
//! no clock, no randomness, no files and no network, and decides nothing about plans, so that a simulator can use it
//! without sharing a line of code with the planner that it judges.

mod digest;
mod disk;
mod inventory;
mod names;
mod network;
mod target;
mod time;

pub use digest::{Digest, DigestKey};
pub use disk::Disk;
pub use inventory::{
    BootId, Etcd, Fact, Instance, Inventory, InventoryError, MAX_AGE, MAX_LAG, MachineFacts,
    Member, MemberId, NodeIdentity, NodeState, Orphan, Ownership, ProviderId, Source,
};
pub use names::{
    AddonName, ClassName, ClusterName, FailureDomain, Fingerprint, InvalidText, MachineName,
    NodeName, PoolName, ProviderName, TextFormat,
};
pub use network::{Address, Endpoint, Network};
pub use talos_config::{ErrorKind, KubernetesVersion, TalosVersion};
pub use target::{ApplyMode, Target};
pub use time::{Day, NAMES_OF_DAYS, Span, TimeOfDay, Timestamp, Window};
