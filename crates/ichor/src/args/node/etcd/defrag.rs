//! Arguments of `ichor node etcd defrag`.

use clap::Args;

use crate::args::ConnectionArgs;

/// Defragment the database, to free unused space
///
/// One member after the other, the leader last: a member serves no requests meanwhile.
#[derive(Args, Clone, Debug)]
pub struct EtcdDefragArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
