//! Arguments of `ichor completions`.

use std::ffi::OsString;

use clap::Args;

/// Print a completion script for your shell
///
/// Load it once per session, or let your shell find it at start:
///
///   bash   source <(ichor completions bash)
///   zsh    ichor completions zsh > "${fpath[1]}/_ichor"
///   fish   ichor completions fish > ~/.config/fish/completions/ichor.fish
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionsArgs {
    /// Shell to print the script for
    pub shell: clap_complete::Shell,

    /// Complete the last of these words: what the script asks for
    #[arg(last = true, hide = true, value_name = "WORD")]
    pub words: Vec<OsString>,
}
