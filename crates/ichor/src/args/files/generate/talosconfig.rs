//! Arguments of `ichor gen talosconfig`.

use std::path::PathBuf;

use clap::Args;

/// Generate a talosconfig from the secrets of a cluster
///
/// In a cluster directory its secrets, its name and its endpoints are used.
#[derive(Args)]
pub struct GenTalosconfigArgs {
    /// Name of the cluster; by default that of the cluster directory
    pub cluster: Option<String>,

    /// Use these secrets; by default those of the cluster directory, or secrets.yaml
    #[arg(long, value_name = "FILE")]
    pub with_secrets: Option<PathBuf>,

    /// Grant these roles
    #[arg(long, value_delimiter = ',', default_value = "os:admin", value_name = "ROLE")]
    pub roles: Vec<String>,

    /// Set the validity of the client certificate in hours
    #[arg(long, default_value_t = 8760, value_parser = clap::value_parser!(u32).range(1..))]
    pub hours: u32,

    /// Write to this file; by default stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
}
