//! Arguments of `ichor node etcd forfeit-leadership`.

use clap::Args;

use crate::args::ConnectionArgs;

/// Let another member lead
#[derive(Args, Clone, Debug)]
pub struct EtcdForfeitLeadershipArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
