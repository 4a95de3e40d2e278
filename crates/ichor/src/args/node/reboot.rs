//! Arguments of `ichor node reboot`.

use clap::{Args, ValueEnum};

use super::{NodeOverrideArgs, WaitArgs};
use crate::args::{ConfirmArgs, ConnectionArgs};

/// Reboot machines, one after the other
///
/// Waits until a machine is back with a new boot id and as ready as before, then goes on with the next one. A control
/// plane is refused while etcd would lose its quorum without it.
#[derive(Args, Clone, Debug)]
pub struct RebootArgs {
    /// Choose how to reboot
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
    /// Stop everything, then start the kernel with kexec
    #[default]
    Default,
    /// Stop everything, then reboot through the firmware
    Powercycle,
    /// Reboot without stopping anything; Talos 1.12 and later
    Force,
}
