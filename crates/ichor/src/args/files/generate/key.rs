//! Arguments of `ichor gen key`.

use clap::Args;

/// Generate a private key: NAME.key
#[derive(Args)]
pub struct GenKeyArgs {
    /// Set the name of the file, without .key
    #[arg(long)]
    pub name: String,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
}
