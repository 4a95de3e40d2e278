//! Arguments of `ichor memory`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the memory use of machines, in MiB
#[derive(Clone, Debug, Args)]
pub struct MemoryArgs {
    /// Show everything that the kernel counts, in kB
    #[arg(short, long)]
    pub all: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
