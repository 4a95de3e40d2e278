//! Arguments of `ichor gen machines`.

use std::path::PathBuf;

use clap::Args;

use crate::args::cluster_dir::ClusterDirArgs;

/// Write the configuration of every machine of the cluster directory
///
/// The files are what `ichor apply` hands to the machines, called CLUSTER-MACHINE.yaml. They hold secrets: only their owner
/// can read them, and a .gitignore beside them keeps them out of Git.
///
///   ichor gen machines -o clusterconfig
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct GenMachinesArgs {
    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    /// Write into this directory
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Overwrite existing files
    #[arg(short, long)]
    pub force: bool,
}
