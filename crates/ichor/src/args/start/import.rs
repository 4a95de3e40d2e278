use std::path::PathBuf;

use clap::Args;

use crate::args::In;

/// Arguments of `ichor import`.
#[derive(Clone, Debug, Args)]
pub struct Import {
    #[command(flatten)]
    pub place: In,

    /// The directory to write; it must not have a cluster yet
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}
