//! Arguments of `ichor node shutdown`.

use clap::Args;

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Shut machines down, one after the other
///
/// Drains the node first unless --force is given, and waits until the machine no longer answers. A control plane is
/// refused while etcd would lose its quorum without it.
#[derive(Args, Clone, Debug)]
pub struct ShutdownArgs {
    /// Skip draining the node
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub wait: WaitArgs,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
