//! Arguments of `ichor node etcd defrag`.

use clap::Args;

use crate::args::ConnectionArgs;

/// Give back the space that databases no longer use
///
/// One member after the other, the leader last: a member answers nobody meanwhile.
#[derive(Args, Clone, Debug)]
pub struct EtcdDefragArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
