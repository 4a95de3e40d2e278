//! Arguments of `ichor init`.

use std::path::PathBuf;

use clap::Args;

/// Start a directory for a new cluster
///
/// Writes ichor.yaml, new secrets and a .gitignore. Nothing is done to machines. With --talhelper it is a talconfig.yaml
/// with talenv.yaml; the secrets are encrypted where a .sops.yaml or `SOPS_AGE_RECIPIENTS` says for whom.
///
///   ichor init home --endpoint $ENDPOINT --control-plane cp-1=10.0.0.11 --worker w-1=10.0.0.21
///   ichor init home --talhelper --endpoint $ENDPOINT --control-plane cp-1=10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct InitArgs {
    /// The name of the cluster
    pub cluster: String,

    /// Where its Kubernetes API will be reached: https://host:port
    #[arg(long)]
    pub endpoint: String,

    /// A control plane: NAME=ADDRESS; repeat it for several
    #[arg(long, value_name = "NAME=ADDRESS", required = true)]
    pub control_plane: Vec<String>,

    /// A worker: NAME=ADDRESS; repeat it for several
    #[arg(long, value_name = "NAME=ADDRESS")]
    pub worker: Vec<String>,

    /// The Talos release
    #[arg(long, alias = "talos-version", value_name = "VERSION", default_value = "v1.13.9")]
    pub talos: String,

    /// The Kubernetes release
    #[arg(long, alias = "kubernetes-version", value_name = "VERSION", default_value = "v1.36.3")]
    pub kubernetes: String,

    /// Start a directory that talhelper could work on as well
    #[arg(long)]
    pub talhelper: bool,

    /// The directory to start; the current one when left out
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
