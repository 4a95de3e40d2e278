//! Arguments of `ichor extensions`.

use clap::Args;

use crate::args::OutputArgs;
use crate::factory::DEFAULT_FACTORY;

/// Show the system extensions of a Talos release
///
/// Names in a talconfig are checked against them. The list that is built in ends with the releases of its day: with
/// --refresh the image factory is asked for a release, and what it says is kept for the next time.
///
///   ichor extensions v1.12.0
///   ichor extensions v1.13.9 --refresh
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ExtensionsArgs {
    /// The Talos release
    pub version: String,

    /// Ask the image factory, and keep what it says
    #[arg(long)]
    pub refresh: bool,

    /// The image factory
    #[arg(long, value_name = "URL", default_value = DEFAULT_FACTORY)]
    pub factory: String,

    #[command(flatten)]
    pub output: OutputArgs,
}
