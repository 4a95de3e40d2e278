//! Arguments of `ichor gen talosconfig`.

use std::path::PathBuf;

use clap::Args;

/// Make a talosconfig from the secrets of a cluster
///
/// In the directory of a cluster its secrets, its name and its endpoints are used.
#[derive(Args)]
pub struct GenTalosconfigArgs {
    /// The name of the cluster; that of the directory when left out
    pub cluster: Option<String>,

    /// The secrets of the cluster; those of the directory, or secrets.yaml, when left out
    #[arg(long, value_name = "FILE")]
    pub with_secrets: Option<PathBuf>,

    /// What the client may do
    #[arg(long, value_delimiter = ',', default_value = "os:admin", value_name = "ROLE")]
    pub roles: Vec<String>,

    /// How long the client's certificate is valid
    #[arg(long, default_value_t = 8760, value_parser = clap::value_parser!(u32).range(1..))]
    pub hours: u32,

    /// The file to write; stdout when left out
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(short, long)]
    pub force: bool,
}
