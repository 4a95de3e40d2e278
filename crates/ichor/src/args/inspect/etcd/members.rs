//! Arguments of `ichor etcd members`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the members of etcd, as each machine sees them
#[derive(Clone, Debug, Args)]
pub struct EtcdMembersArgs {
    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
