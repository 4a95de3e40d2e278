//! Arguments of `ichor node apply-config`.

use std::path::PathBuf;

use clap::Args;

use super::{ApplyOptionsArgs, NodeOverrideArgs};
use crate::args::{ConnectionArgs, MaintenanceArgs};

// A patch may hold a secret, so it has no `Debug`.
/// Apply a configuration to machines
///
/// Without -f each machine gets the configuration that the cluster's directory has for it. Validates the
/// configuration before it is sent. A machine in maintenance mode is noticed: once you have confirmed the
/// fingerprint that is shown, it is called without credentials and joins the cluster. --yes does not confirm it:
/// pin it in ichor.yaml, or pass --insecure. --dry-run shows what would change, secrets hidden, and the exit
/// status is 2 if anything would. Machines before Talos 1.14 may have to reboot for it: you are asked first.
/// In a cluster's directory, a file with the hostname or the role of another machine is refused. Encrypted
/// files are decrypted with your keys.
///
///   ichor node apply-config -n cp-1
///   ichor node apply-config -n 10.0.0.11 -f controlplane.yaml --insecure
///   ichor node apply-config -n 10.0.0.11 -f cp-1.yaml -p @patches/cp-1.yaml --dry-run
///   ichor node apply-config -n 10.0.0.11 -f cp-1.yaml --mode try --timeout 2m
#[derive(Args, Clone)]
#[command(verbatim_doc_comment)]
pub struct ApplyConfigArgs {
    /// Apply this configuration; `-` is stdin; by default the one of the cluster's directory
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Patch the configuration: @FILE, FILE, or the text of a patch; can be repeated
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
