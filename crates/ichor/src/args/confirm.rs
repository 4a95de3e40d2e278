//! The option that answers a question beforehand.

/// For what cannot be undone.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ConfirmArgs {
    /// Do it without asking
    #[arg(short, long)]
    pub yes: bool,
}
