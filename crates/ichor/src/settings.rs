//! What was meant: the command line together with the environment, resolved once.
//!
//! Commands take settings and never look at arguments or environment themselves.

use crate::args::{Args, Command, Output};

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) output: Output,
    pub(crate) command: Command,
}

impl Settings {
    pub(crate) fn resolve(args: Args) -> Self {
        let Args { output, command } = args;
        Self { output, command }
    }
}
