//! Arguments of `ichor gen kubeconfig`.

use std::path::PathBuf;

use clap::Args;

/// Generate the administrator's kubeconfig from the secrets of a cluster
#[derive(Args)]
pub struct GenKubeconfigArgs {
    /// Name of the cluster
    pub cluster: String,

    /// URL of the Kubernetes API: https://host:port
    pub endpoint: String,

    /// Use these secrets
    #[arg(long, default_value = "secrets.yaml", value_name = "FILE")]
    pub with_secrets: PathBuf,

    /// Set the validity of the certificate in hours
    #[arg(long, default_value_t = 8760, value_parser = clap::value_parser!(u32).range(1..))]
    pub hours: u32,

    /// Write to this file; by default stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
}
