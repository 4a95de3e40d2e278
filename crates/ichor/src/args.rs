//! What may be typed. Types and help texts only; no decisions.

#![expect(missing_docs, reason = "clap would show comments on flattened arguments as help")]

use std::ffi::OsString;
use std::path::PathBuf;

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
    #[command(subcommand)]
    pub command: Command,
}

/// One verb of `ichor`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Apply patches to machine configuration
    ///
    /// Takes what talosctl takes: strategic merge patches, with `$patch: delete`, and RFC 6902
    /// operations as JSON or YAML. The result is what talosctl 1.14 writes, byte for byte.
    ///
    ///   ichor patch controlplane.yaml -p @patches/all.yaml
    ///   ichor patch worker.yaml -p '{"machine": {"network": {"hostname": "w-1"}}}' -o w-1.yaml
    ///   ichor patch cp-1.yaml cp-2.yaml -p @new.yaml -o patched/
    #[command(verbatim_doc_comment)]
    Patch {
        /// Machine configuration to patch; `-` is stdin
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,

        #[command(flatten)]
        patches: Patches,

        /// The file to write to, or the directory when there are several; stdout when left out
        #[arg(short, long, value_name = "PATH")]
        output: Option<PathBuf>,

        /// Overwrite files that exist
        #[arg(long)]
        force: bool,

        /// Write as the talosctl of this release does
        #[arg(long, value_enum, default_value_t, value_name = "RELEASE")]
        dialect: Release,
    },

    /// Show what differs between two machine configurations
    ///
    /// Documents are compared by kind and name, and fields by what they mean: order, quotes and comments
    /// make no difference. Secrets are compared but never shown. Ends with 2 when there are differences.
    Diff {
        /// The one that was
        before: PathBuf,

        /// The one that is to be
        after: PathBuf,

        #[command(flatten)]
        shown: Shown,
    },

    /// Show where a value of machine configuration comes from and what it means
    ///
    /// Follows a field through the configuration and the patches, and names the file and the line of
    /// every change.
    ///
    ///   ichor explain machine.network.hostname controlplane.yaml -p @patches/all.yaml
    ///   ichor explain LinkConfig/eth0.addresses worker.yaml
    ///   ichor explain machine.sysctls.net.core.somaxconn worker.yaml
    #[command(verbatim_doc_comment)]
    Explain {
        /// The field; of the document without a kind, or behind `KIND/NAME.`
        path: String,

        /// The machine configuration
        file: PathBuf,

        #[command(flatten)]
        patches: Patches,

        #[command(flatten)]
        shown: Shown,
    },

    /// Show the version of this program and the Talos versions it supports
    ///
    /// Machines are supported over their API, and configuration is written for every version contract
    /// in the range. The range is what this program is built for, whatever is installed elsewhere.
    Version {
        #[command(flatten)]
        shown: Shown,
    },

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

/// Patches, in the order in which they are applied.
#[derive(Debug, clap::Args)]
pub struct Patches {
    /// A patch: @FILE, FILE, or its text; repeat it for several
    #[arg(short, long = "patch", value_name = "PATCH")]
    pub patches: Vec<String>,
}

/// How data is shown.
#[derive(Debug, clap::Args)]
pub struct Shown {
    /// The form of the data on stdout
    #[arg(short, long, value_enum, default_value_t, value_name = "FORM")]
    pub output: Output,
}

/// Release lines of talosctl whose output differs.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum Release {
    /// talosctl 1.14 and later
    #[default]
    #[value(name = "1.14")]
    V1_14,
    /// talosctl 1.13
    #[value(name = "1.13")]
    V1_13,
    /// talosctl 1.12 and earlier
    #[value(name = "1.12")]
    V1_12,
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
