//! Arguments of `ichor node etcd forfeit-leadership`.

use clap::Args;

use crate::args::ConnectionArgs;

/// Transfer the leadership of etcd to another member
#[derive(Args, Clone, Debug)]
pub struct EtcdForfeitLeadershipArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
