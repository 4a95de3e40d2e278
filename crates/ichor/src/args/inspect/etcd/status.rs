//! Arguments of `ichor etcd status`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the status of etcd members: size, leader, progress, errors
#[derive(Clone, Debug, Args)]
pub struct EtcdStatusArgs {
    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
