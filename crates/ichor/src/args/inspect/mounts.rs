//! Arguments of `ichor mounts`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the mounted file systems of machines and their free space
#[derive(Clone, Debug, Args)]
pub struct MountsArgs {
    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
