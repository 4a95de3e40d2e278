//! Arguments of `ichor import`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ClusterDirArgs;

/// Convert a talconfig directory to ichor.yaml
///
/// Writes ichor.yaml, patches and the secrets, encrypted where they were. The configuration of every machine
/// stays exactly the same; if that is impossible, nothing is written. The talconfig is not changed.
///
///   ichor import -C talos -o home && ichor diff -C home
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ImportArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Write to this directory; it must not hold a cluster yet
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}
