//! Arguments of `ichor node etcd recover`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ConnectionArgs;

/// Give a machine a snapshot, for a bootstrap to begin with
///
/// `ichor node bootstrap --recover-from FILE` does this and the bootstrap.
#[derive(Args, Clone, Debug)]
pub struct EtcdRecoverArgs {
    /// The snapshot
    pub file: PathBuf,

    /// The snapshot is a copy of a member's database file, which has no digest in it
    #[arg(long)]
    pub skip_hash_check: bool,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
