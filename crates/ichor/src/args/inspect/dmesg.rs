//! Arguments of `ichor dmesg`.

use clap::Args;

use crate::args::ConnectionArgs;

/// Show the kernel log of machines
///
///   ichor dmesg -n 10.0.0.11 -f
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct DmesgArgs {
    /// Follow the output
    #[arg(short, long)]
    pub follow: bool,

    /// With -f: skip messages from before now
    #[arg(long)]
    pub tail: bool,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
