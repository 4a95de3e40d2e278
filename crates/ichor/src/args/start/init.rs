//! Arguments of `ichor init`.

use std::path::PathBuf;

use clap::Args;
use talos_config::DEFAULT;

/// Create the directory of a new cluster
///
/// Writes ichor.yaml with its JSON Schema, new secrets and a .gitignore; machines are not touched. With --talhelper it
/// writes talconfig.yaml and talenv.yaml. The secrets are encrypted if a .sops.yaml or `SOPS_AGE_RECIPIENTS` names recipients:
/// `ichor gen age-key` makes a key and a .sops.yaml.
///
///   ichor init home --endpoint $ENDPOINT --control-plane cp-1=10.0.0.11 --worker w-1=10.0.0.21
///   ichor init home --talhelper --endpoint $ENDPOINT --control-plane cp-1=10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct InitArgs {
    /// Name of the cluster
    pub cluster: String,

    /// Set the URL of the Kubernetes API: https://host:port
    #[arg(long)]
    pub endpoint: String,

    /// Add a control plane: NAME=ADDRESS; can be repeated
    #[arg(long, value_name = "NAME=ADDRESS", required = true)]
    pub control_plane: Vec<String>,

    /// Add a worker: NAME=ADDRESS; can be repeated
    #[arg(long, value_name = "NAME=ADDRESS")]
    pub worker: Vec<String>,

    /// Set the Talos release
    #[arg(long, alias = "talos-version", value_name = "VERSION", default_value = DEFAULT.talos)]
    pub talos: String,

    /// Set the Kubernetes release
    #[arg(long, alias = "kubernetes-version", value_name = "VERSION", default_value = DEFAULT.kubernetes)]
    pub kubernetes: String,

    /// Create a directory that talhelper can work on as well
    #[arg(long)]
    pub talhelper: bool,

    /// Create the files in this directory; by default the current one
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}
