//! Arguments of `ichor node rollback`.

use clap::Args;

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Roll machines back to the release before their last upgrade
#[derive(Args, Clone, Debug)]
pub struct RollbackArgs {
    #[command(flatten)]
    pub wait: WaitArgs,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
