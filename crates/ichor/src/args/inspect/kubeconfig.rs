//! Arguments of `ichor kubeconfig`.

use std::path::PathBuf;

use clap::Args;

use crate::args::ConnectionArgs;

/// Fetch the administrator's kubeconfig from a control plane
///
/// It is added to the kubeconfig that is there; its context becomes the current one. What is
/// there under the same name and says something else is kept, and the new one gets a number;
/// on a terminal you are asked.
///
///   ichor kubeconfig -n 10.0.0.11
///   ichor kubeconfig - -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct KubeconfigArgs {
    /// The file, or a directory for a file `kubeconfig`; - is stdout; else `KUBECONFIG` or ~/.kube/config
    pub path: Option<PathBuf>,

    /// Add to the kubeconfig that is there; with =false write a file of its own, by default here
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

    /// Overwrite what is there under the same names, and the file when it is not merged into
    #[arg(short, long)]
    pub force: bool,

    /// The name of the context, instead of admin@CLUSTER
    #[arg(long, value_name = "NAME")]
    pub force_context_name: Option<String>,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
