//! What can go wrong in a pass, and what can be done about it.

use plan::{ApprovalError, Kind, Refusal, RenderError};

use crate::journal::JournalError;

/// Why a pass ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration of a machine cannot be made.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A safety rule says no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// What was approved is another plan.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// What is done cannot be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Something in the world does not work.
    #[error(transparent)]
    Trouble(#[from] Trouble),
}

impl Error {
    /// The name of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Render(error) => error.code(),
            Self::Refused(refusal) => refusal.code(),
            Self::Approval(error) => error.code(),
            Self::Journal(error) => error.code(),
            Self::Trouble(trouble) => trouble.code,
        }
    }

    /// What can be done about it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Render(error) => error.kind(),
            Self::Refused(refusal) => refusal.kind(),
            Self::Approval(error) => error.kind(),
            Self::Journal(error) => error.kind(),
            Self::Trouble(trouble) => trouble.kind,
        }
    }
}

/// What a port says when it could not do what it was asked. It holds no secret.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Trouble {
    /// The name of this kind of trouble.
    pub code: &'static str,
    /// What can be done about it.
    pub kind: Kind,
    /// What was attempted and what happened.
    pub message: String,
}

impl Trouble {
    /// Every code that the engine itself gives, each with an entry in the reference of errors.
    pub const CODES: &[&str] = &[
        "engine.precondition",
        "engine.timed-out",
        "engine.window",
        "kubernetes.failed",
        "kubernetes.unreachable",
        "lease.held",
        "vault.unreadable",
    ];

    pub(crate) fn precondition(message: String) -> Self {
        Self { code: "engine.precondition", kind: Kind::Retryable, message }
    }
}
