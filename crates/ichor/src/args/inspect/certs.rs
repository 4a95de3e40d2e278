//! Arguments of `ichor certs`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show when certificates expire
///
/// Lists the certificates of the talosconfig, of the API, and, for administrators, all in the secrets
/// of the machines. You renew the talosconfig and the authorities: those that expire within 30 days are
/// marked. Talos renews the others itself; they are marked if it did not.
///
///   ichor certs
///   ichor certs --client -o json
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct CertsArgs {
    /// Show only the talosconfig, without connecting to machines
    #[arg(long)]
    pub client: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
