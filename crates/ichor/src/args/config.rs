//! Arguments of `ichor config`.

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

/// Verbs of `ichor config`.
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

    /// Switch to another context
    #[command(visible_alias = "use-context")]
    Context {
        /// Name of the context
        name: String,
    },

    /// Set the endpoints of a context
    #[command(visible_alias = "endpoints")]
    Endpoint {
        /// Control planes, or a load balancer in front of them
        #[arg(required = true, value_name = "HOST")]
        endpoints: Vec<String>,
    },

    /// Set the default nodes of a context
    #[command(visible_alias = "nodes")]
    Node {
        /// Machines; without any the defaults are cleared
        #[arg(value_name = "NODE")]
        nodes: Vec<String>,
    },

    /// Add a context
    Add {
        /// Name of the context
        name: String,

        /// Use this CA certificate of the cluster
        #[arg(long, value_name = "FILE")]
        ca: Option<PathBuf>,

        /// Use this client certificate
        #[arg(long, value_name = "FILE", requires = "key")]
        crt: Option<PathBuf>,

        /// Use this client key
        #[arg(long, value_name = "FILE", requires = "crt")]
        key: Option<PathBuf>,

        /// Replace an existing context of this name
        #[arg(short, long)]
        force: bool,
    },

    /// Remove contexts, but not the current one
    Remove {
        /// Name of the contexts; `*` matches anything
        #[arg(value_name = "NAME")]
        pattern: String,

        /// Only show what would be removed
        #[arg(long)]
        dry_run: bool,

        /// Skip the confirmation
        #[arg(short, long, alias = "noconfirm")]
        yes: bool,
    },

    /// Add the contexts of another talosconfig
    ///
    /// A context whose name is taken is renamed with a number. The current context of the other file becomes current.
    Merge {
        /// The other talosconfig
        from: PathBuf,
    },

    /// Request a new talosconfig from a control plane
    New {
        /// File to write; `-` is stdout
        #[arg(default_value = "talosconfig", value_name = "FILE")]
        path: PathBuf,

        /// Grant these roles
        #[arg(long, value_delimiter = ',', default_value = "os:admin", value_name = "ROLE")]
        roles: Vec<String>,

        /// Make the client certificate valid for this long
        #[arg(long, default_value = "8760h0m0s", value_parser = span, value_name = "DURATION")]
        crt_ttl: Duration,

        /// Overwrite the file if it exists
        #[arg(short, long)]
        force: bool,
    },
}
