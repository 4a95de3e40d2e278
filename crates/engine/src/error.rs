//! Errors of a pass, and what can be done about them.

use domain::ErrorKind;
use plan::{ApprovalError, Refusal, RenderError};

use crate::journal::JournalError;

/// The reason why a pass ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration of a machine cannot be made.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A safety rule says no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Another plan was approved.
    #[error(transparent)]
    Approval(#[from] ApprovalError),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Something in the world does not work.
    #[error(transparent)]
    Port(#[from] PortError),
}

impl Error {
    /// Returns the stable identifier of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Render(error) => error.code(),
            Self::Refused(refusal) => refusal.code(),
            Self::Approval(error) => error.code(),
            Self::Journal(error) => error.code(),
            Self::Port(error) => error.code,
        }
    }

    /// Returns what can be done about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Render(error) => error.kind(),
            Self::Refused(refusal) => refusal.kind(),
            Self::Approval(error) => error.kind(),
            Self::Journal(error) => error.kind(),
            Self::Port(error) => error.kind,
        }
    }
}

/// The failure of a port. It holds no secret.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct PortError {
    /// The stable identifier of this kind of error.
    pub code: &'static str,
    /// The kind, which says what can be done about it.
    pub kind: ErrorKind,
    /// The attempt and its failure.
    pub message: String,
    /// The call may have been carried out although it failed: the request was sent, and the answer was lost.
    pub may_have_happened: bool,
}

impl PortError {
    /// Every code that the engine itself gives, each with an entry in the reference of errors.
    pub const CODES: &[&str] = &[
        "engine.cancelled",
        "engine.precondition",
        "engine.timed-out",
        "kubernetes.failed",
        "kubernetes.unreachable",
        "lease.held",
        "lease.unavailable",
        "machine.in-maintenance",
        "machine.unhealthy",
        "provider.credentials",
        "provider.unknown",
        "vault.unreadable",
    ];

    /// Returns an error of a call that was certainly not carried out.
    pub fn new(code: &'static str, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { code, kind, message: message.into(), may_have_happened: false }
    }

    pub(crate) fn precondition(message: impl Into<String>) -> Self {
        Self::new("engine.precondition", ErrorKind::Retryable, message)
    }
}
