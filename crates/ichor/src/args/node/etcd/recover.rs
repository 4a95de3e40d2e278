//! Arguments of `ichor node etcd recover`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ConnectionArgs;

/// Upload a snapshot of etcd to a machine, to bootstrap from
///
/// `ichor node bootstrap --recover-from FILE` uploads the snapshot and bootstraps.
#[derive(Args, Clone, Debug)]
pub struct EtcdRecoverArgs {
    /// Snapshot file
    pub file: PathBuf,

    /// Accept a copy of a member's database file, which has no digest
    #[arg(long)]
    pub skip_hash_check: bool,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
