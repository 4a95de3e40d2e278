//! Arguments of `ichor talhelper`.

use std::ffi::OsString;

use clap::Args;

/// Run the commands of talhelper
///
/// Accepts the commands and flags of talhelper 3.1.15; `ichor talhelper --help` lists them. The program behaves
/// the same when it is called under the name talhelper.
#[derive(Args)]
pub struct TalhelperArgs {
    /// Arguments of talhelper
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<OsString>,
}
