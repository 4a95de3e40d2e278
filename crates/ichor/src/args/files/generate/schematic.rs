//! Arguments of `ichor gen schematic`.

use std::path::PathBuf;

use clap::Args;

use crate::args::OutputArgs;
use crate::factory::DEFAULT_FACTORY;

/// Compute the id of a schematic offline, and print its images
///
/// The image factory serves images of an id only after the schematic was registered with --register.
///
///   ichor gen schematic schematic.yaml
///   ichor gen schematic schematic.yaml --talos v1.12.0 --secureboot --register
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GenSchematicArgs {
    /// Schematic, in the format of the image factory; `-` is stdin
    pub file: PathBuf,

    /// Check the extensions against this Talos release, and print its installer and boot images
    #[arg(long, alias = "talos-version", value_name = "VERSION")]
    pub talos: Option<String>,

    /// Register the schematic with the image factory
    #[arg(long)]
    pub register: bool,

    /// Use this image factory
    #[arg(long, value_name = "URL", default_value = DEFAULT_FACTORY)]
    pub factory: String,

    /// Print images for this platform
    #[arg(long, default_value = "metal", requires = "talos")]
    pub platform: String,

    /// Print images for this architecture
    #[arg(long, default_value = "amd64", requires = "talos")]
    pub arch: String,

    /// Print images for Secure Boot
    #[arg(long, requires = "talos")]
    pub secureboot: bool,

    #[command(flatten)]
    pub output: OutputArgs,
}
