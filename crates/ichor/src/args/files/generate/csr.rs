//! Arguments of `ichor gen csr`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

/// Generate a certificate signing request: a file beside the key, ending in .csr
#[derive(Args)]
pub struct GenCsrArgs {
    /// Request a certificate for this key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,

    /// Set the IP address of the certificate
    #[arg(long)]
    pub ip: IpAddr,

    /// Request these roles
    #[arg(long, value_delimiter = ',', default_value = "os:admin", value_name = "ROLE")]
    pub roles: Vec<String>,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
}
