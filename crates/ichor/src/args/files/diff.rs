//! Arguments of `ichor diff`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ClusterDirArgs, OutputArgs};

/// Show how machines differ from their files, or two files
///
/// Compares documents by kind and name, and fields by value: the order of keys, quotes and comments are
/// ignored. Secrets are compared but never shown. The exit status is 2 when there are differences.
///
/// Without files every machine of the cluster is compared with its directory.
///
///   ichor diff old.yaml new.yaml
///   ichor diff -n cp-1
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct DiffArgs {
    /// Configuration before the change; `-` is stdin
    #[arg(requires = "after")]
    pub before: Option<PathBuf>,

    /// Configuration after the change
    pub after: Option<PathBuf>,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Compare only these machines, by name or address
    #[arg(
        short = 'n',
        long = "nodes",
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "before"
    )]
    pub names: Vec<String>,

    #[command(flatten)]
    pub output: OutputArgs,
}
