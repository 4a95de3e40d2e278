//! Arguments of `ichor kubeconfig`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ConnectionArgs;

/// Fetch the administrator's kubeconfig from a control plane
///
/// Merges it into the existing kubeconfig; its context becomes the current one. An existing entry of
/// the same name with other content is kept, and the new one is renamed with a number; on a terminal
/// you are asked.
///
///   ichor kubeconfig -n 10.0.0.11
///   ichor kubeconfig - -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct KubeconfigArgs {
    /// File, or a directory for a file `kubeconfig`; - is stdout; by default `KUBECONFIG` or ~/.kube/config
    pub path: Option<PathBuf>,

    /// Merge into the existing kubeconfig; with =false write a separate file, by default in the current directory
    #[arg(
        short,
        long,
        action = clap::ArgAction::Set,
        default_value_t = true,
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        value_name = "BOOL"
    )]
    pub merge: bool,

    /// Overwrite entries of the same names, or the file if nothing is merged
    #[arg(short, long)]
    pub force: bool,

    /// Set the name of the context, instead of admin@CLUSTER
    #[arg(long, value_name = "NAME")]
    pub force_context_name: Option<String>,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
