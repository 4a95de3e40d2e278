//! Arguments of `ichor node bootstrap`.

use std::path::PathBuf;

use clap::Args;

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::ConnectionArgs;

/// Bootstrap a cluster: start etcd on one control plane, which the others then join
///
/// A cluster is bootstrapped once, on one machine. The other control planes of the cluster directory
/// are checked first: the bootstrap is refused if one of them already runs etcd or is unreachable.
/// With a snapshot a lost cluster is recovered; the machines must not have data of etcd any more.
///
///   ichor node bootstrap -n 10.0.0.11
///   ichor node bootstrap -n 10.0.0.11 --recover-from etcd.snapshot
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct BootstrapArgs {
    /// Recover from this snapshot of etcd
    #[arg(long, value_name = "FILE")]
    pub recover_from: Option<PathBuf>,

    /// Accept a copy of a member's database file, which has no digest
    #[arg(long, requires = "recover_from")]
    pub recover_skip_hash_check: bool,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub wait: WaitArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
