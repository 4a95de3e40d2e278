//! The client's own file: which clusters there are, and who we are there.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::values::span;
use super::{ConnectionArgs, OutputArgs};

/// Arguments of `ichor config`.
#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub command: ConfigCommand,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}

/// What is done with the talosconfig.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show all contexts
    #[command(visible_alias = "get-contexts")]
    Contexts {
        #[command(flatten)]
        output: OutputArgs,
    },

    /// Show the current context, or the one that --context names
    Info {
        #[command(flatten)]
        output: OutputArgs,
    },

    /// Make a context the current one
    #[command(visible_alias = "use-context")]
    Context {
        /// Its name
        name: String,
    },

    /// Say where the API of a context is reached
    #[command(visible_alias = "endpoints")]
    Endpoint {
        /// Control planes, or a balancer in front of them
        #[arg(required = true, value_name = "HOST")]
        endpoints: Vec<String>,
    },

    /// Say which machines a context means when none is named
    #[command(visible_alias = "nodes")]
    Node {
        /// The machines; none for none
        #[arg(value_name = "NODE")]
        nodes: Vec<String>,
    },

    /// Add a context
    Add {
        /// Its name
        name: String,

        /// The cluster's authority
        #[arg(long, value_name = "FILE")]
        ca: Option<PathBuf>,

        /// The client's certificate
        #[arg(long, value_name = "FILE", requires = "key")]
        crt: Option<PathBuf>,

        /// Its key
        #[arg(long, value_name = "FILE", requires = "crt")]
        key: Option<PathBuf>,

        /// Replace a context of this name
        #[arg(short, long)]
        force: bool,
    },

    /// Remove contexts, but not the current one
    Remove {
        /// The name; `*` stands for anything
        #[arg(value_name = "NAME")]
        pattern: String,

        /// Show what would be removed
        #[arg(long)]
        dry_run: bool,

        /// Do it without asking
        #[arg(short, long, alias = "noconfirm")]
        yes: bool,
    },

    /// Add the contexts of another talosconfig
    ///
    /// A name that is taken gets a number. The current context of the other file becomes the current one.
    Merge {
        /// The other file
        from: PathBuf,
    },

    /// Ask a control plane for a new talosconfig
    New {
        /// The file to write; `-` is stdout
        #[arg(default_value = "talosconfig", value_name = "FILE")]
        path: PathBuf,

        /// What its owner may do
        #[arg(long, value_delimiter = ',', default_value = "os:admin", value_name = "ROLE")]
        roles: Vec<String>,

        /// How long its certificate is valid
        #[arg(long, default_value = "8760h0m0s", value_parser = span, value_name = "DURATION")]
        crt_ttl: Duration,

        /// Overwrite the file if it exists
        #[arg(short, long)]
        force: bool,
    },
}
