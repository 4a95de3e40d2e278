//! Arguments of `ichor lint`.

use std::path::PathBuf;

use clap::Args;

use crate::args::OutputArgs;

/// Find mistakes in the files of a cluster directory
///
/// Reads a directory with a talconfig.yaml or an ichor.yaml and the files that belong to it, and
/// changes nothing. Errors have no effect or cannot be processed: a misspelt key, an env file that
/// loads nothing, RFC 6902 operations on several documents. Warnings work but are probably not
/// intended. The exit status is 1 when there are errors, with --strict also when there are warnings.
///
///   ichor lint
///   ichor lint -C talos --strict -o json
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct LintArgs {
    /// Use this cluster directory; by default the nearest one upward with a talconfig.yaml or an ichor.yaml
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Read this env file instead of the default ones of talhelper; can be repeated
    #[arg(short, long = "env-file", value_name = "FILE")]
    pub env_files: Vec<String>,

    /// Read this secrets file instead of the default ones; can be repeated
    #[arg(short, long = "secret-file", value_name = "FILE")]
    pub secret_files: Vec<String>,

    /// Exit with 1 for warnings too
    #[arg(long)]
    pub strict: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}
