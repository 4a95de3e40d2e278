//! Arguments of `ichor diff`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ClusterDirArgs, OutputArgs};

/// Show how machines differ from their files, or two files
///
/// Documents are compared by kind and name, and fields by what they mean: the order of keys, quotes and
/// comments make no difference. Secrets are compared but never shown. Ends with 2 when there are
/// differences.
///
/// Without files every machine of the cluster is compared with what its directory says.
///
///   ichor diff old.yaml new.yaml
///   ichor diff -n cp-1
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct DiffArgs {
    /// The one that was; `-` is stdin
    #[arg(requires = "after")]
    pub before: Option<PathBuf>,

    /// The one that is to be
    pub after: Option<PathBuf>,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// A machine of the cluster, by its name or address; all of them when left out
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
