//! Arguments of `ichor gen machine`.

use clap::{Args, ValueEnum};

use crate::args::{ConnectionArgs, MaintenanceArgs};

/// Look at a machine and print the entry that describes it
///
/// The disk is the one to install to: none that is read-only, a CD, or attached by USB; fast before slow, then
/// small before large. The MAC address is that of the link that has the machine's address. What was chosen, and
/// why, is told on stderr.
///
///   ichor gen machine -n 10.0.0.13 --insecure
///   ichor gen machine -n 10.0.0.13 --insecure --for nodes --name cp-3 --control-plane
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct GenMachineArgs {
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
    pub maintenance: MaintenanceArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
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
