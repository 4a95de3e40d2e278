//! Arguments of `ichor lint`.

use std::path::PathBuf;

use clap::Args;

use crate::args::OutputArgs;

/// Find mistakes in the files of a cluster directory
///
/// Reads a directory with a talconfig.yaml or an ichor.yaml and what belongs to it, and changes
/// nothing. An error is something that has no effect, or that nothing can be made of: a misspelt
/// key, an env file that loads nothing, RFC 6902 operations where there are several documents. A
/// warning works and is probably not what was meant. Ends with 1 when there is an error; with
/// --strict when there is anything.
///
///   ichor lint
///   ichor lint -C talos --strict -o json
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct LintArgs {
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
    pub output: OutputArgs,
}
