//! Arguments of `ichor node apply-config`.

use std::path::PathBuf;

use clap::Args;

use super::{ApplyOptionsArgs, NodeOverrideArgs};
use crate::args::{ConnectionArgs, MaintenanceArgs};

// A patch may hold a secret, so it has no `Debug`.
/// Give machines a configuration
///
/// It is checked before it is sent. A machine without configuration takes it with --insecure and
/// becomes part of the cluster; one that has a configuration shows with --dry-run what would
/// change, secrets hidden, and the command ends with 2 then. Machines before Talos 1.14 may have
/// to reboot for it: you are asked first. Encrypted files are opened with your keys.
///
///   ichor node apply-config -n 10.0.0.11 -f controlplane.yaml --insecure
///   ichor node apply-config -n 10.0.0.11 -f cp-1.yaml -p @patches/cp-1.yaml --dry-run
///   ichor node apply-config -n 10.0.0.11 -f cp-1.yaml --mode try --timeout 2m
#[derive(Args, Clone)]
#[command(verbatim_doc_comment)]
pub struct ApplyConfigArgs {
    /// The configuration; `-` is stdin
    #[arg(short, long, value_name = "FILE")]
    pub file: PathBuf,

    /// A patch for it: @FILE, FILE, or its text; repeat it for several
    #[arg(short = 'p', long, value_name = "PATCH", allow_hyphen_values = true)]
    pub config_patch: Vec<String>,

    #[command(flatten)]
    pub options: ApplyOptionsArgs,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
