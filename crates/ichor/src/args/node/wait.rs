//! Whether a command waits for a machine.

use std::time::Duration;

use clap::Args;

use crate::args::values::duration;

/// Whether to wait for the end of what was begun.
#[derive(Args, Clone, Copy, Debug)]
pub struct WaitArgs {
    /// Wait until it is done; --wait=false does not
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub wait: bool,

    /// How long to wait for one machine
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,
}
