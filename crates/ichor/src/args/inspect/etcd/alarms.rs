//! Arguments of `ichor etcd alarms`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show what etcd warns of: no space left, damaged data
#[derive(Clone, Debug, Args)]
pub struct EtcdAlarmsArgs {
    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
