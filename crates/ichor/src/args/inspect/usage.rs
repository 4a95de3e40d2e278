//! Arguments of `ichor usage`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the disk usage of directories
///
///   ichor usage /var -d 1 -H -n 10.0.0.11
///   ichor usage /var/log -a -t 1000000 -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct UsageArgs {
    /// Directories or files on the machines
    #[arg(default_value = "/", value_name = "PATH")]
    pub paths: Vec<String>,

    /// Show files too, not only directories
    #[arg(short, long)]
    pub all: bool,

    /// Show subdirectories down to this depth
    #[arg(short, long, value_name = "LEVELS", default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..i64::from(i32::MAX)))]
    pub depth: i32,

    /// Show only what has at least so many bytes or, with a minus, at most so many
    #[arg(short, long, value_name = "BYTES", default_value_t = 0, allow_negative_numbers = true)]
    pub threshold: i64,

    /// Show human-readable sizes
    #[arg(short = 'H', long)]
    pub humanize: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
