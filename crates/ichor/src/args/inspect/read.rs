//! Arguments of `ichor read`.

use clap::Args;

use crate::args::ConnectionArgs;

/// Print a file of a machine
///
///   ichor read /proc/cpuinfo -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ReadArgs {
    /// File on the machine
    pub path: String,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
