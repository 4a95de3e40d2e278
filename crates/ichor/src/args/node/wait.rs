//! Options for waiting on a machine.

use std::time::Duration;

use clap::Args;

use crate::args::values::duration;

/// Options for waiting until an operation is done.
#[derive(Args, Clone, Copy, Debug)]
pub struct WaitArgs {
    /// Wait until the operation is done; --wait=false returns immediately
    #[arg(long, default_value_t = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, action = clap::ArgAction::Set)]
    pub wait: bool,

    /// Wait this long for each machine
    #[arg(long, default_value = "30m", value_name = "DURATION", value_parser = duration)]
    pub timeout: Duration,
}
