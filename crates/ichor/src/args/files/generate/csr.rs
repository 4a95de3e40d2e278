//! Arguments of `ichor gen csr`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

/// Ask for a certificate: a file beside the key, ending in .csr
#[derive(Args)]
pub struct GenCsrArgs {
    /// The key that the certificate is for
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,

    /// The address that it speaks for
    #[arg(long)]
    pub ip: IpAddr,

    /// What its owner may do
    #[arg(long, value_delimiter = ',', default_value = "os:admin", value_name = "ROLE")]
    pub roles: Vec<String>,

    /// Overwrite the file if it exists
    #[arg(short, long)]
    pub force: bool,
}
