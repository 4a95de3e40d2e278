//! Arguments of `ichor ls`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// List files of machines
///
///   ichor ls -l /var/log -n 10.0.0.11
///   ichor ls -r -t f /etc/kubernetes -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct LsArgs {
    /// Directory or file on the machines
    #[arg(default_value = "/")]
    pub path: String,

    /// Show modes, owners, sizes and times; times are UTC
    #[arg(short, long)]
    pub long: bool,

    /// List subdirectories recursively
    #[arg(short, long, conflicts_with = "depth")]
    pub recurse: bool,

    /// List subdirectories down to this depth
    #[arg(short, long, value_name = "LEVELS", default_value_t = 1)]
    pub depth: i32,

    /// List only files (f), directories (d) or links (l), or several of them
    #[arg(short = 't', long = "type", value_delimiter = ',', value_name = "LETTERS")]
    pub types: Vec<String>,

    /// Show human-readable sizes and times
    #[arg(short = 'H', long)]
    pub humanize: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
