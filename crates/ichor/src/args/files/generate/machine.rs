//! Arguments of `ichor gen machine`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args::{ConnectionArgs, MaintenanceArgs};

/// Inspect a machine and print an entry for it
///
/// Chooses the disk to install to: no disk that is read-only, a CD, or attached by USB; fast before slow, then small
/// before large. The MAC address is that of the link that has the address of the machine. The choices and their reasons
/// are printed to stderr.
///
///   ichor gen machine -n 10.0.0.13 --insecure
///   ichor gen machine -n 10.0.0.13 --insecure --for nodes --name cp-3 --write nodes.yaml
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GenMachineArgs {
    /// Print an entry for this file
    #[arg(long = "for", value_enum, default_value_t, value_name = "FILE")]
    pub form: EntryForm,

    /// Add the entry to the list of machines in a file instead of printing it
    #[arg(long, value_name = "PATH")]
    pub write: Option<PathBuf>,

    /// Set the name of the machine; by default derived from its MAC address
    #[arg(long)]
    pub name: Option<String>,

    /// Describe a control plane
    #[arg(long)]
    pub control_plane: bool,

    /// Accept disks that are attached by USB
    #[arg(long)]
    pub usb: bool,

    #[command(flatten)]
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// Files that list machines.
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
