//! Arguments of `ichor node etcd leave`.

use clap::Args;

use crate::args::node::NodeOverrideArgs;
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Remove machines from etcd, one after the other
///
/// Deletes the data of etcd on the machine. Refused if etcd would lose its quorum.
#[derive(Args, Clone, Debug)]
pub struct EtcdLeaveArgs {
    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
