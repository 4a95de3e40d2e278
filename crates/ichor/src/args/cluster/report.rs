//! Where else a command reports to.

use std::path::PathBuf;

use clap::Args;

use crate::args::OutputArgs;

/// Who else is told what happens.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Write counters of what was done to a file that Prometheus' node exporter reads
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,
}
