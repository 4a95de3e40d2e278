//! Arguments of `ichor gen kubeconfig`.

use std::path::PathBuf;

use clap::Args;

/// Make the administrator's kubeconfig from the secrets of a cluster
#[derive(Args)]
pub struct GenKubeconfigArgs {
    /// The name of the cluster
    pub cluster: String,

    /// Where the Kubernetes API is reached: https://host:port
    pub endpoint: String,

    /// The secrets of the cluster
    #[arg(long, default_value = "secrets.yaml", value_name = "FILE")]
    pub with_secrets: PathBuf,

    /// How long the certificate is valid
    #[arg(long, default_value_t = 8760, value_parser = clap::value_parser!(u32).range(1..))]
    pub hours: u32,

    /// The file to write; stdout when left out
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(short, long)]
    pub force: bool,
}
