//! Arguments of `ichor gen ca`.

use clap::Args;

/// Make a certificate authority: ORGANIZATION.crt, .key and .sha256
#[derive(Args)]
pub struct GenCaArgs {
    /// The name of the authority, and of its files
    #[arg(long)]
    pub organization: String,

    /// How long it is valid
    #[arg(long, default_value_t = 87600, value_parser = clap::value_parser!(u32).range(1..))]
    pub hours: u32,

    /// Make an RSA key instead of an Ed25519 one
    #[arg(long)]
    pub rsa: bool,

    /// Overwrite files that exist
    #[arg(short, long)]
    pub force: bool,
}
