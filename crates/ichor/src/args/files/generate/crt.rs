//! Arguments of `ichor gen crt`.

use std::path::PathBuf;

use clap::Args;

/// Sign what a request asks for: NAME.crt
#[derive(Args)]
pub struct GenCrtArgs {
    /// The name of the file, without .crt
    #[arg(long)]
    pub name: String,

    /// The authority: its files, without .crt and .key
    #[arg(long, value_name = "BASE")]
    pub ca: PathBuf,

    /// The request
    #[arg(long, value_name = "FILE")]
    pub csr: PathBuf,

    /// How long the certificate is valid
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    pub hours: u32,

    /// Overwrite the file if it exists
    #[arg(short, long)]
    pub force: bool,
}
