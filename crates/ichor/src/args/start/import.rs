//! Arguments of `ichor import`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ClusterDirArgs;

/// Convert a talconfig directory to ichor.yaml
///
/// Writes ichor.yaml, patches and the secrets, encrypted where they were. Every machine gets exactly the
/// configuration that it had; where that cannot be, nothing is written. The talconfig stays as it is.
///
///   ichor import -C talos -o home && ichor diff -C home
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ImportArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// The directory to write; it must not have a cluster yet
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}
