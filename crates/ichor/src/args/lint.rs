//! Looking at the files of a cluster.

use std::path::PathBuf;

use clap::Args;

use super::Shown;

/// Arguments of `ichor lint`.
#[derive(Clone, Debug, Args)]
pub struct Lint {
    /// The directory of the cluster; else the nearest one upward with a talconfig.yaml or an ichor.yaml
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// An env file of a talconfig elsewhere than where talhelper looks; repeat it for several
    #[arg(short, long = "env-file", value_name = "FILE")]
    pub env_files: Vec<String>,

    /// A file with secrets elsewhere than where it is looked for
    #[arg(short, long = "secret-file", value_name = "FILE")]
    pub secret_files: Vec<String>,

    /// End with 1 for warnings too
    #[arg(long)]
    pub strict: bool,

    #[command(flatten)]
    pub shown: Shown,
}
