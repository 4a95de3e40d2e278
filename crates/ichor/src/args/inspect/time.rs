//! Arguments of `ichor time`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Compare the clocks of machines with a time server
///
///   ichor time -n 10.0.0.11
///   ichor time -n 10.0.0.11 --check pool.ntp.org
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct TimeArgs {
    /// Ask this time server instead of the one of the machine's configuration
    #[arg(long, value_name = "SERVER")]
    pub check: Option<String>,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
