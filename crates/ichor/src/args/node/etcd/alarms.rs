//! Arguments of `ichor node etcd alarms`.

use clap::{Args, Subcommand};

use crate::args::ConnectionArgs;

/// Verbs of `ichor node etcd alarms`.
#[derive(Clone, Debug, Subcommand)]
pub enum NodeEtcdAlarmsCommand {
    Disarm(EtcdDisarmAlarmsArgs),
}

/// Disarm alarms whose cause is fixed
#[derive(Args, Clone, Debug)]
pub struct EtcdDisarmAlarmsArgs {
    #[command(flatten)]
    pub connection: ConnectionArgs,
}
