//! The exit status of a command, as scripts see it.

use std::process::ExitCode;

/// The exit statuses of `ichor`. Personalities keep those of the program they stand in for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum ExitStatus {
    /// Everything that was asked for is done.
    Done = 0,
    /// Failed, entirely or on some machines.
    Failed = 1,
    /// A dry run found changes that are still to be made.
    Pending = 2,
    /// The input or the command line is wrong; nothing was changed.
    BadInput = 3,
    /// A safety rule refused it; nothing was changed.
    Refused = 4,
    /// Nothing could be reached.
    Unreachable = 5,
    /// The deadline was exceeded.
    TimedOut = 6,
    /// Interrupted by the user: 128 plus the number of SIGINT, as shells report it.
    Interrupted = 130,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
