//! Arguments of `ichor node service`.

use clap::{Args, ValueEnum};

use crate::args::{ConfirmArgs, ConnectionArgs};

/// Start, stop or restart a service
///
/// Talos lets the kubelet be started and restarted, and the services of extensions (ext-…) be
/// stopped, too.
///
///   ichor node service kubelet restart -n 10.0.0.11
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct NodeServiceArgs {
    /// The service
    pub id: String,

    /// What to do with it
    #[arg(value_enum)]
    pub action: ServiceAction,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// What can be done with a service.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ServiceAction {
    /// Start it, if it does not run
    Start,
    /// Stop it, if it runs
    Stop,
    /// Stop and start it
    Restart,
}
