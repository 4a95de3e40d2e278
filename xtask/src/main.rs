//! Developer commands, in Rust instead of shell. `cargo xtask --help` lists them.

#![expect(
    clippy::disallowed_methods,
    reason = "a developer's tool: it reads its own environment, measures time and has no ports"
)]

mod bench;
mod checks;
mod dependency_rules;
mod fuzz;
mod generated;
mod output;
mod peers;
mod soak;
mod talos;
mod test;
mod tools;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use workspace::Workspace;

/// Developer commands of Ichor
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 100)]
struct Args {
    /// The workspace to work on, in tests of these commands
    #[arg(long, hide = true, value_name = "DIR")]
    root: Option<PathBuf>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run every check and every test level, installing or building what they need
    Test(test::Args),
    /// Build the real programs that tests run against, where they are missing
    Peers(peers::Args),
    /// Run real Talos nodes on this machine
    #[command(subcommand)]
    Talos(talos::Args),
    /// Write the generated files anew: command reference and the like
    Gen,
    /// Prove that crates depend on each other only as the architecture allows
    CheckDeps,
    /// Measure Ichor and its peer side by side
    Bench(bench::Args),
    /// Run the pure tests over and over with many more generated cases
    Soak(soak::Args),
    /// Fuzz a target with cargo-fuzz (needs a nightly toolchain)
    Fuzz(fuzz::Args),
    /// Run a program and report its time and peak memory, for `bench`
    #[command(hide = true)]
    Measure {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    let workspace = Workspace::new(args.root);
    match run(&workspace, args.command) {
        Ok(code) => code,
        Err(error) => {
            output::progress(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, command: Command) -> Result<ExitCode> {
    let done = match command {
        Command::Test(args) => test::run(workspace, &args),
        Command::Peers(args) => peers::run(&args),
        Command::Talos(args) => return talos::run(args),
        Command::Gen => generated::write(workspace),
        Command::CheckDeps => dependency_rules::check(workspace),
        Command::Bench(args) => bench::run(workspace, &args),
        Command::Soak(args) => soak::run(workspace, &args),
        Command::Fuzz(args) => fuzz::run(workspace, &args),
        Command::Measure { command } => bench::measure(&command),
    };
    done.map(|()| ExitCode::SUCCESS)
}
