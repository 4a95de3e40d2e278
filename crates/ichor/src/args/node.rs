//! Commands that act on machines directly.

use clap::{Args, Subcommand, ValueEnum};

use super::{Reach, Sure};

/// One of them.
#[derive(Clone, Debug, Subcommand)]
pub enum NodeCommand {
    /// Reboot machines, one after the other
    ///
    /// Each is followed until it is back with another boot id, before the next one is touched.
    Reboot(Reboot),
}

/// Arguments of `ichor node reboot`.
#[derive(Clone, Debug, Args)]
pub struct Reboot {
    /// How to reboot
    #[arg(short, long, value_enum, default_value_t)]
    pub mode: RebootMode,

    #[command(flatten)]
    pub sure: Sure,

    #[command(flatten)]
    pub reach: Reach,
}

/// Ways to reboot.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum RebootMode {
    /// Stop everything, then start the kernel anew
    #[default]
    Default,
    /// Stop everything, then go through the firmware
    Powercycle,
    /// Stop nothing first; Talos 1.12 and later
    Force,
}
