//! The program `ichor`. Everything is in the library beside it, where tests and tools can connection it.

use std::process::ExitCode;

fn main() -> ExitCode {
    ichor::run(std::env::args_os()).into()
}
