//! Arguments of `ichor gen secrets`.

use std::path::PathBuf;

use clap::Args;

/// Generate the secrets of a new cluster
///
/// Keep the file safe: it gives full control of the cluster. A file called NAME.sops.yaml is encrypted as
/// the sops program does it: by the rules of the nearest .sops.yaml above it, for the age recipients named
/// there or in `SOPS_AGE_RECIPIENTS`. Every command that reads secrets decrypts it with the keys in
/// `SOPS_AGE_KEY`, `SOPS_AGE_KEY_FILE`, ~/.config/sops/age/keys.txt or an age.key at the root of the repository.
#[derive(Args)]
pub struct GenSecretsArgs {
    /// Write to this file; `-` is stdout
    #[arg(short, long, alias = "output", default_value = "secrets.yaml", value_name = "FILE")]
    pub output_file: PathBuf,

    /// Generate secrets for this Talos release
    #[arg(long, alias = "talos", value_name = "VERSION")]
    pub talos_version: Option<String>,

    /// Extract the secrets from the configuration of a control plane
    #[arg(long, value_name = "FILE", conflicts_with = "from_kubernetes_pki")]
    pub from_controlplane_config: Option<PathBuf>,

    /// Copy the secrets of this file, for example to encrypt them:
    /// `--from secrets.yaml -o secrets.sops.yaml`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from_kubernetes_pki", "from_controlplane_config"])]
    pub from: Option<PathBuf>,

    /// Use the authorities of a Kubernetes cluster from its pki directory
    #[arg(short = 'p', long, value_name = "DIR")]
    pub from_kubernetes_pki: Option<PathBuf>,

    /// With a pki directory: keep this bootstrap token
    #[arg(short = 't', long, value_name = "TOKEN", requires = "from_kubernetes_pki")]
    pub kubernetes_bootstrap_token: Option<String>,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
}
