//! The option that skips a confirmation.

/// Confirmation of what cannot be undone.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct ConfirmArgs {
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
}
