//! How a configuration is applied to a machine.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::args::values::duration;
use crate::args::{ConfirmArgs, OutputArgs};

/// How a configuration is applied.
#[derive(Args, Clone, Copy, Debug)]
pub struct ApplyOptionsArgs {
    /// When it takes effect
    #[arg(short, long, value_enum, default_value_t)]
    pub mode: ApplyMode,

    /// Only show what would change; ends with 2 if anything would
    #[arg(long)]
    pub dry_run: bool,

    /// With --mode try: when the machine goes back
    #[arg(long, default_value = "1m", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,

    /// Wait until a machine that reboots is back
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub wait: bool,

    #[command(flatten)]
    pub confirm: ConfirmArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// When a configuration takes effect.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum ApplyMode {
    /// At once, with a reboot where Talos before 1.14 needs one
    #[default]
    Auto,
    /// At once, or not at all
    NoReboot,
    /// With a reboot
    Reboot,
    /// With the next reboot, whenever that is
    Staged,
    /// At once, until the time is over or it is applied again in another mode
    Try,
}

impl ApplyMode {
    /// As it is typed.
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
