//! Arguments of `ichor gen schematic`.

use std::path::PathBuf;

use clap::Args;

use crate::args::OutputArgs;
use crate::factory::DEFAULT_FACTORY;

/// Find the id of a schematic without asking the factory, and name its images
///
/// The factory serves images of an id only once it has seen the schematic itself: --register shows it.
///
///   ichor gen schematic schematic.yaml
///   ichor gen schematic schematic.yaml --talos v1.12.0 --secureboot --register
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GenSchematicArgs {
    /// The schematic, as the factory takes it; `-` is stdin
    pub file: PathBuf,

    /// Check the extensions against this Talos release, and name its installer and boot images
    #[arg(long, value_name = "VERSION")]
    pub talos: Option<String>,

    /// Register the schematic with the image factory, which serves its images from then on
    #[arg(long)]
    pub register: bool,

    /// The image factory
    #[arg(long, value_name = "URL", default_value = DEFAULT_FACTORY)]
    pub factory: String,

    /// The platform of the images
    #[arg(long, default_value = "metal", requires = "talos")]
    pub platform: String,

    /// The processor of the boot images
    #[arg(long, default_value = "amd64", requires = "talos")]
    pub arch: String,

    /// Images for machines that boot securely
    #[arg(long, requires = "talos")]
    pub secureboot: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}
