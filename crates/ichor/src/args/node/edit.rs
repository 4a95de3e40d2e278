//! Arguments of `ichor node edit`.

use clap::Args;

use super::{ApplyOptionsArgs, NodeOverrideArgs};
use crate::args::ConnectionArgs;

/// Edit the configuration of a machine
///
/// Opens the configuration that the machine would boot with in your editor (`TALOS_EDITOR`, `EDITOR`, else
/// vi). What you save is validated, shown as a difference with secrets hidden, and applied after
/// confirmation. The file that is edited holds secrets: only you can read it, and it is removed afterwards.
///
///   ichor node edit -n 10.0.0.11
///   ichor node edit -n 10.0.0.11 --mode staged --dry-run
#[derive(Args, Clone)]
#[command(verbatim_doc_comment)]
pub struct NodeEditArgs {
    /// Edit this resource; accepted as in talosctl
    #[arg(value_parser = ["machineconfig", "machineconfigs", "mc"], default_value = "machineconfig", hide = true)]
    pub what: String,

    #[command(flatten)]
    pub options: ApplyOptionsArgs,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
