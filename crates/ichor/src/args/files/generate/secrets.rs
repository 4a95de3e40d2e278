//! Arguments of `ichor gen secrets`.

use std::path::PathBuf;

use clap::Args;

/// Make the secrets of a new cluster
///
/// Keep the file safe: whoever has it, has the cluster. A file called NAME.sops.yaml is written
/// encrypted, as the sops program would: by the rules of the nearest .sops.yaml above it, for the age
/// recipients named there or in `SOPS_AGE_RECIPIENTS`. Every command that reads secrets opens it with the
/// keys in `SOPS_AGE_KEY`, `SOPS_AGE_KEY_FILE` or ~/.config/sops/age/keys.txt.
#[derive(Args)]
pub struct GenSecretsArgs {
    /// The file to write; `-` is stdout
    #[arg(short, long, alias = "output", default_value = "secrets.yaml", value_name = "FILE")]
    pub output_file: PathBuf,

    /// The Talos release that the secrets are for
    #[arg(long, value_name = "VERSION")]
    pub talos_version: Option<String>,

    /// Take the secrets out of a control plane's configuration instead
    #[arg(long, value_name = "FILE", conflicts_with = "from_kubernetes_pki")]
    pub from_controlplane_config: Option<PathBuf>,

    /// Write the secrets of this file instead, as to encrypt them:
    /// `--from secrets.yaml -o secrets.sops.yaml`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from_kubernetes_pki", "from_controlplane_config"])]
    pub from: Option<PathBuf>,

    /// Take over the authorities of a Kubernetes cluster: its pki directory
    #[arg(short = 'p', long, value_name = "DIR")]
    pub from_kubernetes_pki: Option<PathBuf>,

    /// With a pki directory: the bootstrap token to keep
    #[arg(short = 't', long, value_name = "TOKEN", requires = "from_kubernetes_pki")]
    pub kubernetes_bootstrap_token: Option<String>,

    /// Overwrite the file if it exists
    #[arg(short, long)]
    pub force: bool,
}
