//! Arguments of `ichor show`.

use std::path::PathBuf;

use clap::Args;

use crate::args::OutputArgs;

/// Show a plan in full
#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// Plan file that `ichor plan --out FILE` wrote
    pub plan: PathBuf,

    #[command(flatten)]
    pub output: OutputArgs,
}
