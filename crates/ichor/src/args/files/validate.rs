//! Arguments of `ichor validate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{ClusterDirArgs, OutputArgs};

/// Check machine configuration, or a cluster directory
///
/// Applies the rules of Talos, and some of our own, which are warnings with a code in brackets. Every
/// problem is reported with file and line. The exit status is 3 when a configuration is invalid.
/// Without a file everything in the cluster directory is checked.
///
///   ichor validate
///   ichor validate controlplane.yaml worker.yaml
///   ichor validate --config worker.yaml --mode cloud --strict
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct ValidateArgs {
    /// Machine configurations; `-` is stdin
    pub files: Vec<PathBuf>,

    /// Validate this file too, with the flag of talosctl
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Validate for this kind of machine
    #[arg(short, long, value_enum, default_value_t)]
    pub mode: MachineMode,

    /// Treat warnings about the document without a kind as errors
    #[arg(long)]
    pub strict: bool,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// Kind of machine that a configuration is for.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum MachineMode {
    /// Machine that Talos is installed to
    #[default]
    Metal,
    /// Cloud machine, which boots an image with Talos
    Cloud,
    /// Container
    Container,
    /// Machine in agent mode, which only reports its hardware
    MetalAgent,
}

impl From<MachineMode> for talos_config::Mode {
    fn from(mode: MachineMode) -> Self {
        match mode {
            MachineMode::Metal => Self::Metal,
            MachineMode::Cloud => Self::Cloud,
            MachineMode::Container => Self::Container,
            MachineMode::MetalAgent => Self::MetalAgent,
        }
    }
}
