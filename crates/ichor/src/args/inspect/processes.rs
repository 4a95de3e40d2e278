//! Arguments of `ichor processes`.

use clap::{Args, ValueEnum};

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the processes of machines
///
///   ichor processes -n 10.0.0.11
///   ichor processes -n 10.0.0.11 --sort cpu --watch
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ProcessesArgs {
    /// Sort by this column, the largest first
    #[arg(short, long, value_enum, default_value_t, value_name = "COLUMN")]
    pub sort: ProcessOrder,

    /// Show only the first N processes of each machine; by default all, and 20 with --watch
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,

    /// Refresh until Ctrl-C
    #[arg(short, long)]
    pub watch: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Columns that processes are sorted by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ProcessOrder {
    /// Resident memory
    #[default]
    Rss,
    /// CPU time
    Cpu,
}
