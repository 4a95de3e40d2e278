//! The command line: one file for each verb, with its help. Types and help texts only; no decisions.

#![expect(missing_docs, reason = "clap would show comments on flattened arguments as help")]

pub mod cluster;
mod cluster_dir;
mod completions;
mod config;
mod confirm;
mod connection;
mod elsewhere;
mod extensions;
pub mod files;
mod groups;
pub mod inspect;
mod leading;
mod log;
pub mod node;
mod output;
mod parse;
pub mod start;
mod talhelper;
mod values;
mod version;

pub use cluster_dir::ClusterDirArgs;
pub use completions::CompletionsArgs;
pub use config::{ConfigArgs, ConfigCommand};
pub use confirm::ConfirmArgs;
pub use connection::{ConnectionArgs, MaintenanceArgs};
pub use extensions::ExtensionsArgs;
pub use log::{LogArgs, LogFormat};
pub use output::{OutputArgs, OutputFormat};
pub use parse::check;
pub(crate) use parse::{ParsedLine, parse};
pub use talhelper::TalhelperArgs;
pub(crate) use values::span;
pub use version::VersionArgs;

use clap::{CommandFactory as _, Parser, Subcommand};

use cluster::ClusterCommand;
use files::generate::GenCommand;
use files::{DiffArgs, ExplainArgs, LintArgs, PatchArgs, ValidateArgs};
use inspect::InspectCommand;
use node::NodeCommand;
use start::{ImportArgs, InitArgs};

/// Create and operate Kubernetes clusters on Talos Linux
#[derive(Parser)]
#[command(
    name = "ichor",
    version,
    max_term_width = 100,
    subcommand_required = true,
    after_long_help = EXIT_STATUS
)]
pub struct Args {
    #[command(flatten)]
    pub log: LogArgs,

    #[command(subcommand)]
    pub command: Command,
}

/// Verbs of `ichor`.
#[derive(Subcommand)]
pub enum Command {
    /// Generate secrets, machine configuration and credentials
    Gen {
        #[command(subcommand)]
        command: GenCommand,
    },

    Patch(PatchArgs),
    Diff(DiffArgs),
    Explain(ExplainArgs),
    Validate(ValidateArgs),
    Lint(LintArgs),
    Init(InitArgs),
    Import(ImportArgs),

    #[command(flatten)]
    Cluster(ClusterCommand),

    #[command(flatten)]
    Inspect(InspectCommand),

    /// Manage the contexts of the talosconfig
    ///
    ///   ichor config contexts
    ///   ichor config merge ./talosconfig
    ///   ichor config new reader.yaml --roles os:reader -n 10.0.0.11
    #[command(verbatim_doc_comment)]
    Config(ConfigArgs),

    /// Reboot, reset, upgrade and configure machines directly
    ///
    /// Acts without a plan; apart from Talos' own checks only etcd's quorum is checked. Asks for confirmation before
    /// anything disruptive, and records every action in an audit log.
    Node {
        #[command(subcommand)]
        command: NodeCommand,
    },

    Version(VersionArgs),
    Extensions(ExtensionsArgs),
    Completions(CompletionsArgs),

    #[command(disable_help_flag = true)]
    Talhelper(TalhelperArgs),
}

/// Returns the whole command line as clap knows it: for parsing, completions and the reference.
pub fn command() -> clap::Command {
    groups::grouped(Args::command())
}

const EXIT_STATUS: &str = "\
Exit status:
  0    done
  1    failed, also when only some machines failed
  2    changes are pending, or there are differences
  3    bad input or usage; nothing was changed
  4    refused by a safety rule; nothing was changed
  5    nothing could be reached
  6    timed out
  130  interrupted";
