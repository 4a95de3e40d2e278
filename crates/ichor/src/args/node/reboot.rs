//! Arguments of `ichor node reboot`.

use clap::{Args, ValueEnum};

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Reboot machines, one after the other
///
/// Each is followed until it is back with another boot id and as ready as it was, before the next one is touched.
/// A control plane is refused while etcd would lose its majority without it.
#[derive(Args, Clone, Debug)]
pub struct RebootArgs {
    /// How to reboot
    #[arg(short, long, value_enum, default_value_t)]
    pub mode: RebootMode,

    #[command(flatten)]
    pub wait: WaitArgs,

    #[command(flatten)]
    pub overrides: NodeOverrideArgs,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub connection: ConnectionArgs,
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
