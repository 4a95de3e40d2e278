//! Arguments of `ichor gen crt`.

use std::path::PathBuf;

use clap::Args;

/// Sign a certificate signing request: NAME.crt
#[derive(Args)]
pub struct GenCrtArgs {
    /// Set the name of the file, without .crt
    #[arg(long)]
    pub name: String,

    /// Sign with this authority: the path of its files, without .crt and .key
    #[arg(long, value_name = "BASE")]
    pub ca: PathBuf,

    /// Sign this request
    #[arg(long, value_name = "FILE")]
    pub csr: PathBuf,

    /// Set the validity in hours
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    pub hours: u32,

    /// Overwrite an existing file
    #[arg(short, long)]
    pub force: bool,
}
