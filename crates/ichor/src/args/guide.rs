//! What people need on the way from the operations guide: a talconfig, an entry for a machine, names of extensions.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Maintenance, Reach, Shown};

/// Arguments of `ichor gen talconfig`.
#[derive(Clone, Debug, Args)]
pub struct GenTalconfig {
    /// The directory of cluster.yaml and nodes.yaml; the current one when left out
    #[arg(short = 'C', long, value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// The directory to write to; `talos` beside the files when left out
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Show what would change and write nothing; ends with 2 when something would
    #[arg(short = 'n', long)]
    pub dry_run: bool,

    /// Overwrite files that say something else, without asking
    #[arg(short, long)]
    pub force: bool,
}

/// Arguments of `ichor gen schematic`.
#[derive(Clone, Debug, Args)]
pub struct GenSchematic {
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
    pub shown: Shown,
}

/// The one that everybody uses.
pub(crate) const DEFAULT_FACTORY: &str = "https://factory.talos.dev";

/// Arguments of `ichor gen machine`.
#[derive(Clone, Debug, Args)]
pub struct GenMachine {
    /// The file that the entry is for
    #[arg(long = "for", value_enum, default_value_t, value_name = "FILE")]
    pub form: EntryForm,

    /// The name of the machine; made of its MAC address when left out
    #[arg(long)]
    pub name: Option<String>,

    /// It is to be a control plane
    #[arg(long)]
    pub control_plane: bool,

    /// A disk that is attached by USB will do as well
    #[arg(long)]
    pub usb: bool,

    #[command(flatten)]
    pub maintenance: Maintenance,

    #[command(flatten)]
    pub reach: Reach,
}

/// The files that list machines.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum EntryForm {
    /// talconfig.yaml
    #[default]
    Talconfig,
    /// nodes.yaml of the operations guide
    Nodes,
    /// ichor.yaml
    Ichor,
}

/// Arguments of `ichor extensions`.
#[derive(Clone, Debug, Args)]
pub struct Extensions {
    /// The Talos release
    pub version: String,

    /// Ask the image factory, and keep what it says
    #[arg(long)]
    pub refresh: bool,

    /// The image factory
    #[arg(long, value_name = "URL", default_value = DEFAULT_FACTORY)]
    pub factory: String,

    #[command(flatten)]
    pub shown: Shown,
}
