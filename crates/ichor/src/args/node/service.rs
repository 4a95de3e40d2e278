//! Arguments of `ichor node service`.

use clap::{Args, ValueEnum};

use crate::args::{ConfirmArgs, ConnectionArgs};

/// Start, stop or restart a service
///
/// Talos allows this for the kubelet (start, restart) and for the services of extensions (ext-…).
///
///   ichor node service kubelet restart -n 10.0.0.11
#[derive(Args, Clone, Debug)]
#[command(verbatim_doc_comment)]
pub struct NodeServiceArgs {
    /// Id of the service
    pub id: String,

    /// Action on the service
    #[arg(value_enum)]
    pub action: ServiceAction,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Actions on a service.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum ServiceAction {
    /// Start the service if it is stopped
    Start,
    /// Stop the service if it is running
    Stop,
    /// Restart the service
    Restart,
}
