//! Arguments of `ichor gen keypair`.

use std::net::IpAddr;

use clap::Args;

/// Generate a self-signed certificate, valid for a day: ORGANIZATION.crt and .key
#[derive(Args)]
pub struct GenKeypairArgs {
    /// Set the organization of the certificate, and the name of its files
    #[arg(long)]
    pub organization: String,

    /// Set the IP address of the certificate
    #[arg(long)]
    pub ip: Option<IpAddr>,

    /// Overwrite existing files
    #[arg(short, long)]
    pub force: bool,
}
