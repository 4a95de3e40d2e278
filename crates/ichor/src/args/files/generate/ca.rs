//! Arguments of `ichor gen ca`.

use clap::Args;

/// Generate a certificate authority: ORGANIZATION.crt, .key and .sha256
#[derive(Args)]
pub struct GenCaArgs {
    /// Set the organization of the authority, and the name of its files
    #[arg(long)]
    pub organization: String,

    /// Set the validity in hours
    #[arg(long, default_value_t = 87600, value_parser = clap::value_parser!(u32).range(1..))]
    pub hours: u32,

    /// Generate an RSA key instead of an Ed25519 key
    #[arg(long)]
    pub rsa: bool,

    /// Overwrite existing files
    #[arg(short, long)]
    pub force: bool,
}
