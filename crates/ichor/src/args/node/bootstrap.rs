//! Arguments of `ichor node bootstrap`.

use std::path::PathBuf;

use clap::Args;

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::ConnectionArgs;

/// Begin a cluster: make etcd of one control plane, which the others then join
///
/// A cluster is bootstrapped once in its life, on one machine. The other control planes of the
/// directory are asked first: refused where one of them runs etcd already, or does not answer.
/// Beginning with a snapshot brings a lost cluster back: the machines must have no data of etcd
/// any more.
///
///   ichor node bootstrap -n 10.0.0.11
///   ichor node bootstrap -n 10.0.0.11 --recover-from etcd.snapshot
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct BootstrapArgs {
    /// Begin with what is in this snapshot of etcd
    #[arg(long, value_name = "FILE")]
    pub recover_from: Option<PathBuf>,

    /// The snapshot is a copy of a member's database file, which has no digest in it
    #[arg(long, requires = "recover_from")]
    pub recover_skip_hash_check: bool,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub wait: WaitArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
