//! Arguments of `ichor gen age-key`.

use std::path::PathBuf;

use clap::Args;

/// Generate an age key, and a .sops.yaml that encrypts for it
///
/// Prints the recipient. A .sops.yaml beside the key makes every command encrypt the secrets that it writes; an existing
/// one stays as it is. Commands in the directory of the .sops.yaml and below find an age.key beside it, after the places
/// where sops looks. The key is added to .gitignore: commit the .sops.yaml, and keep the key elsewhere too.
///
///   ichor gen age-key
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct GenAgeKeyArgs {
    /// Write the key to this file
    #[arg(short, long, default_value = "age.key", value_name = "FILE")]
    pub output: PathBuf,
}
