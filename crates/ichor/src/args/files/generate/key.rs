//! Arguments of `ichor gen key`.

use clap::Args;

/// Make a private key: NAME.key
#[derive(Args)]
pub struct GenKeyArgs {
    /// The name of the file, without .key
    #[arg(long)]
    pub name: String,

    /// Overwrite the file if it exists
    #[arg(short, long)]
    pub force: bool,
}
