//! Arguments of `ichor node meta`.

use clap::{Args, Subcommand};

use crate::args::{ConnectionArgs, MaintenanceArgs};

/// Verbs of `ichor node meta`.
#[derive(Clone, Subcommand)]
pub enum NodeMetaCommand {
    Write(MetaWriteArgs),
    Delete(MetaDeleteArgs),
}

/// Write a META value
///
///   ichor node meta write 0x0a "$(cat network.yaml)" -n 10.0.0.11
#[derive(Args, Clone)]
#[command(verbatim_doc_comment)]
pub struct MetaWriteArgs {
    /// Key of the value: 10 or 0x0a
    #[arg(value_parser = meta_key)]
    pub key: u8,

    /// Value to write
    #[arg(allow_hyphen_values = true)]
    pub value: String,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Delete a META value
#[derive(Args, Clone)]
pub struct MetaDeleteArgs {
    /// Key of the value: 10 or 0x0a
    #[arg(value_parser = meta_key)]
    pub key: u8,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Parses a key: decimal, or hexadecimal behind `0x`.
fn meta_key(text: &str) -> Result<u8, String> {
    let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "write it as 10 or 0x0a, up to 255".to_owned())
}
