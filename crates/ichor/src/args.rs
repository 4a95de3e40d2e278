//! What may be typed. Types and help texts only; no decisions.

use std::ffi::OsString;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use crate::Error;

/// Creates, runs, upgrades, backs up and heals Kubernetes clusters on Talos Linux.
#[derive(Debug, Parser)]
#[command(
    name = "ichor",
    version,
    max_term_width = 100,
    subcommand_required = true,
    after_long_help = EXIT_STATUS
)]
pub struct Args {
    /// The form of the data on stdout
    #[arg(short, long, global = true, value_enum, default_value_t, value_name = "FORM")]
    pub output: Output,

    #[command(subcommand)]
    #[expect(missing_docs, reason = "clap would show it as help")]
    pub command: Command,
}

/// One verb of `ichor`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the version of this program and the Talos versions it supports
    ///
    /// Machines are supported over their API, and configuration is written for every version contract
    /// in the range. The range is what this program is built for, whatever is installed elsewhere.
    Version,

    /// Print a script that completes `ichor` commands in your shell
    ///
    /// Load it once per session, or let your shell find it at start:
    ///
    ///   bash   source <(ichor completions bash)
    ///   zsh    ichor completions zsh > "${fpath[1]}/_ichor"
    ///   fish   ichor completions fish > ~/.config/fish/completions/ichor.fish
    #[command(verbatim_doc_comment)]
    Completions {
        /// The shell to complete in
        shell: clap_complete::Shell,
    },
}

/// The forms in which data is shown.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Output {
    /// For people
    #[default]
    Table,
    /// For programs
    Json,
    /// For programs and people
    Yaml,
}

/// The whole command line as clap knows it: for parsing, completions and the reference.
pub fn command() -> clap::Command {
    Args::command()
}

/// What a command line turned out to be.
#[derive(Debug)]
pub(crate) enum Typed {
    /// Something to do.
    Command(Args),
    /// A question about the program itself, answered already: help, version.
    Question(String),
}

/// Reads a command line.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Typed, Error> {
    match Args::try_parse_from(arguments) {
        Ok(args) => Ok(Typed::Command(args)),
        Err(error) if !error.use_stderr() => Ok(Typed::Question(error.render().ansi().to_string())),
        Err(error) => Err(usage(&error.render().to_string())),
    }
}

/// Says in our form what clap says in paragraphs: the error, perhaps a tip, the usage, where to look.
fn usage(rendered: &str) -> Error {
    // Without any command clap shows its help, which has no such paragraph.
    let mut message = "no command was typed".to_owned();
    let mut hint = "'--help' shows what can be typed".to_owned();
    for paragraph in rendered.trim_end().split("\n\n") {
        if let Some(error) = paragraph.strip_prefix("error: ") {
            message = error.to_owned();
        } else if let Some(tip) = paragraph.trim_start().strip_prefix("tip: ") {
            hint = tip.to_owned();
        } else if paragraph.starts_with("Usage: ") {
            message = format!("{message}\n\n{paragraph}");
        }
    }
    Error::Usage { message, hint }
}

const EXIT_STATUS: &str = "\
Exit status:
  0    done
  1    failed, also when only some machines failed
  2    changes are pending (dry runs)
  3    bad input or usage; nothing was changed
  4    refused by a safety rule; nothing was changed
  5    nothing could be reached
  6    timed out
  130  interrupted";
