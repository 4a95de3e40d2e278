//! Arguments of `ichor node patch`.

use std::path::PathBuf;

use clap::Args;

use super::{ApplyOptionsArgs, NodeOverrideArgs};
use crate::args::ConnectionArgs;

// A patch may hold a secret, so it has no `Debug`.
/// Patch the configuration of machines
///
/// Shows what changes, secrets hidden, and applies it. The patched configuration is the one that the
/// machine would boot with, including a staged one.
///
///   ichor node patch -n 10.0.0.11 -p '{"machine": {"sysctls": {"vm.swappiness": "10"}}}'
///   ichor node patch -n 10.0.0.11 --patch-file new.yaml --dry-run
#[derive(Args, Clone)]
#[command(verbatim_doc_comment)]
pub struct NodePatchArgs {
    /// Patch this resource; accepted as in talosctl
    #[arg(value_parser = ["machineconfig", "machineconfigs", "mc"], default_value = "machineconfig", hide = true)]
    pub what: String,

    /// Apply a patch: @FILE, FILE, or its text; can be repeated
    #[arg(
        short,
        long = "patch",
        value_name = "PATCH",
        allow_hyphen_values = true,
        required_unless_present = "patch_file"
    )]
    pub patches: Vec<String>,

    /// Apply the patch in this file
    #[arg(long, value_name = "FILE")]
    pub patch_file: Option<PathBuf>,

    #[command(flatten)]
    pub options: ApplyOptionsArgs,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
