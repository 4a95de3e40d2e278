//! Arguments of `ichor extensions`.

use clap::Args;

use crate::args::OutputArgs;
use crate::factory::DEFAULT_FACTORY;

/// Show the system extensions of a Talos release
///
/// The extensions of a cluster directory are checked against this list. The built-in list ends with the releases known
/// when this program was built; --refresh queries the image factory for a release and caches the reply.
///
///   ichor extensions v1.12.0
///   ichor extensions v1.13.9 --refresh
#[derive(Clone, Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ExtensionsArgs {
    /// Talos release
    pub version: String,

    /// Query the image factory and cache the answer
    #[arg(long)]
    pub refresh: bool,

    /// Use this image factory
    #[arg(long, value_name = "URL", default_value = DEFAULT_FACTORY)]
    pub factory: String,

    #[command(flatten)]
    pub output: OutputArgs,
}
