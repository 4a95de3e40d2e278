//! Options for applying a configuration to a machine.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::args::values::duration;
use crate::args::{ConfirmArgs, OutputArgs};

/// Options for applying a configuration.
#[derive(Args, Clone, Copy, Debug)]
pub struct ApplyOptionsArgs {
    /// Choose when the configuration takes effect
    #[arg(short, long, value_enum, default_value_t)]
    pub mode: ApplyMode,

    /// Only show what would change; the exit status is 2 if anything would
    #[arg(long)]
    pub dry_run: bool,

    /// With --mode try: revert after this time
    #[arg(long, default_value = "1m", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,

    /// Wait until a rebooting machine is back
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub wait: bool,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// Modes of applying a configuration.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ApplyMode {
    /// Immediately, with a reboot where Talos before 1.14 needs one
    #[default]
    Auto,
    /// Immediately, or not at all
    NoReboot,
    /// With a reboot
    Reboot,
    /// With the next reboot
    Staged,
    /// Immediately, and revert after the timeout unless it is applied again in another mode
    Try,
}

impl ApplyMode {
    /// Returns the mode as it is typed.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::NoReboot => "no-reboot",
            Self::Reboot => "reboot",
            Self::Staged => "staged",
            Self::Try => "try",
        }
    }
}
