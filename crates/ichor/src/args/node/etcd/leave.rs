//! Arguments of `ichor node etcd leave`.

use clap::Args;

use crate::args::node::NodeOverrideArgs;
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Let machines leave etcd, one after the other
///
/// What a machine has of etcd is deleted. Refused where too few members would be left that answer.
#[derive(Args, Clone, Debug)]
pub struct EtcdLeaveArgs {
    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
