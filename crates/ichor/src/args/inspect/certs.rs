//! Arguments of `ichor certs`.

use clap::Args;

use crate::args::{ConnectionArgs, OutputArgs};

/// Show when certificates expire
///
/// Those of the talosconfig, of the API, and, for administrators, all that are in the secrets of
/// the machines. The talosconfig and the authorities are yours to renew: what ends within 30 days
/// is marked. Talos renews the others itself, and they are marked when it did not.
///
///   ichor certs
///   ichor certs --client -o json
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct CertsArgs {
    /// Look at the talosconfig only and ask no machine
    #[arg(long)]
    pub client: bool,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
