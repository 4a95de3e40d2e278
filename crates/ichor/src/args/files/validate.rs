//! Arguments of `ichor validate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{ClusterDirArgs, OutputArgs};

/// Check machine configuration, or a cluster directory
///
/// Applies the rules that Talos applies, and some of our own: those are warnings with a code in
/// brackets. Every problem is told with its place. Ends with 3 when a configuration is not valid.
/// Without a file everything in the cluster's directory is checked.
///
///   ichor validate
///   ichor validate controlplane.yaml worker.yaml
///   ichor validate --config worker.yaml --mode cloud --strict
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct ValidateArgs {
    /// The machine configurations; `-` is stdin
    pub files: Vec<PathBuf>,

    /// Another one, given as talosctl takes it
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Where the machine runs
    #[arg(short, long, value_enum, default_value_t)]
    pub mode: MachineMode,

    /// Take warnings about the document without a kind as errors
    #[arg(long)]
    pub strict: bool,

    #[command(flatten)]
    pub cluster_dir: ClusterDirArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// What kind of machine a configuration is for.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum MachineMode {
    /// A machine that Talos is installed to
    #[default]
    Metal,
    /// A machine of a cloud, which boots an image that has Talos already
    Cloud,
    /// A container
    Container,
    /// A machine that only shows what it has
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
