//! Arguments of `ichor gen keypair`.

use std::net::IpAddr;

use clap::Args;

/// Make a certificate that signs itself, for a day: ORGANIZATION.crt and .key
#[derive(Args)]
pub struct GenKeypairArgs {
    /// The name of the authority, and of its files
    #[arg(long)]
    pub organization: String,

    /// The address that it speaks for
    #[arg(long)]
    pub ip: Option<IpAddr>,

    /// Overwrite files that exist
    #[arg(short, long)]
    pub force: bool,
}
