//! Arguments of `ichor inspect dependencies`.

use clap::{Args, Subcommand};

use crate::args::ConnectionArgs;

/// Verbs that inspect the internals of Talos.
#[derive(Clone, Debug, Subcommand)]
pub enum InternalsCommand {
    Dependencies(DependenciesArgs),
}

/// Show which controllers read and write which resources, as a graph for Graphviz
///
///   ichor inspect dependencies -n 10.0.0.11 | dot -Tsvg > controllers.svg
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct DependenciesArgs {
    /// Show the resources that there are instead of their types
    #[arg(long)]
    pub with_resources: bool,

    #[command(flatten)]
    pub connection: ConnectionArgs,
}
