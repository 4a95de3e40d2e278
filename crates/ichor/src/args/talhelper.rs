//! Arguments of `ichor talhelper`.

use std::ffi::OsString;

use clap::Args;

/// Run the commands of talhelper
///
/// Takes the commands and flags of talhelper 3.1.15: `ichor talhelper --help` shows them. The program does
/// the same when it is called under the name talhelper.
#[derive(Args)]
pub struct TalhelperArgs {
    /// What talhelper would be given
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<OsString>,
}
