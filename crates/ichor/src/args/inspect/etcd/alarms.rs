//! Arguments of `ichor etcd alarms`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the alarms of etcd: no space left, corrupt data
#[derive(Clone, Debug, Args)]
pub struct EtcdAlarmsArgs {
    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
