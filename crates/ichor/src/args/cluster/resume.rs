//! Arguments of `ichor resume`.

use clap::Args;

use super::ApplyArgs;

/// Continue an interrupted or failed plan
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    #[command(flatten)]
    pub apply: ApplyArgs,
}
