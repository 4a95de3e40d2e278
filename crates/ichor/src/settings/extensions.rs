//! Settings of `ichor extensions`.

use std::path::PathBuf;

use super::{cache, trusted, variable};
use crate::args::{ExtensionsArgs, OutputFormat};
use crate::factory::ImageFactoryClient;

/// Settings of `ichor extensions`.
pub(crate) struct Extensions {
    pub(crate) version: String,
    pub(crate) refresh: bool,
    pub(crate) factory: String,
    pub(crate) output: OutputFormat,
    pub(crate) client: ImageFactoryClient,
    pub(crate) cache: Option<PathBuf>,
}

impl Extensions {
    pub(super) fn resolve(args: ExtensionsArgs) -> Self {
        Self {
            version: args.version,
            refresh: args.refresh,
            factory: args.factory,
            output: args.output.format,
            client: ImageFactoryClient { trusted: trusted(variable) },
            cache: cache(variable),
        }
    }
}
