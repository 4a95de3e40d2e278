//! Arguments of `ichor node shutdown`.

use clap::Args;

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Switch machines off, one after the other
///
/// Each is followed until it no longer answers. Pods are moved away first unless --force is given. A control
/// plane is refused while etcd would lose its majority without it.
#[derive(Args, Clone, Debug)]
pub struct ShutdownArgs {
    /// Do not move pods away first
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
