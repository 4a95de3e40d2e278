//! Outputs of a command that changes a cluster.

use std::path::PathBuf;

use clap::Args;

use crate::args::OutputArgs;

/// Output format and metrics file.
#[derive(Clone, Debug, Args)]
pub struct ReportArgs {
    /// Write metrics to this file, for the textfile collector of Prometheus' node exporter
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArgs,
}
