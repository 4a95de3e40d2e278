//! Arguments of `ichor node etcd alarms`.

use clap::{Args, Subcommand};

use crate::args::ConnectionArgs;

/// What `ichor node etcd alarms` does.
#[derive(Clone, Debug, Subcommand)]
pub enum NodeEtcdAlarmsCommand {
    Disarm(EtcdDisarmAlarmsArgs),
}

/// Take back the alarms, once their cause is gone
#[derive(Args, Clone, Debug)]
pub struct EtcdDisarmAlarmsArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
