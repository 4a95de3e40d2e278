use std::path::PathBuf;

use clap::Args;

/// Arguments of `ichor init`.
#[derive(Clone, Debug, Args)]
pub struct Init {
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
