//! Arguments of `ichor explain`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ClusterDirArgs, OutputArgs};

/// Show where a value of machine configuration comes from
///
/// Follows a field through the configuration and the patches, and prints the file and the line that set
/// it. Elements of a list are written [NAME] or [NUMBER]. Without a file the configuration of a machine
/// of the cluster directory is explained, and outside of such a directory the field itself.
///
///   ichor explain machine.install.disk -n cp-1
///   ichor explain HostnameConfig.hostname controlplane.yaml -p @patches/all.yaml
///   ichor explain 'machine.network.interfaces[eth0].mtu' worker.yaml
///   ichor explain LinkConfig/eth0.addresses worker.yaml
///   ichor explain machine.sysctls.net.core.somaxconn worker.yaml
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct ExplainArgs {
    /// Path of the field, in the document without a kind or behind `KIND/NAME.`
    pub path: String,

    /// Machine configuration; `-` is stdin
    pub file: Option<PathBuf>,

    /// Apply a patch: @FILE, FILE, or its text; can be repeated
    #[arg(
        short,
        long = "patch",
        value_name = "PATCH",
        allow_hyphen_values = true,
        requires = "file"
    )]
    pub patches: Vec<String>,

    /// Without a file: explain this machine, by name or address; optional if there is only one
    #[arg(short, long = "nodes", value_name = "NODE", conflicts_with = "file")]
    pub node: Option<String>,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}
