//! Arguments of `ichor services`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show the services of machines
///
///   ichor services -n 10.0.0.11,10.0.0.12
///   ichor services etcd -n 10.0.0.11
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ServicesArgs {
    /// Show one service with its latest events
    pub id: Option<String>,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
