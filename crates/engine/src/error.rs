//! What can go wrong in a pass, and what can be done about it.

use domain::ErrorKind;
use plan::{ApprovalError, Refusal, RenderError};

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
    Port(#[from] PortError),
}

impl Error {
    /// The stable identifier of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Render(error) => error.code(),
            Self::Refused(refusal) => refusal.code(),
            Self::Approval(error) => error.code(),
            Self::Journal(error) => error.code(),
            Self::Port(error) => error.code,
        }
    }

    /// What can be done about it.
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

/// Why a port could not do what it was asked. It holds no secret.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct PortError {
    /// The stable identifier of this kind of error.
    pub code: &'static str,
    /// What can be done about it.
    pub kind: ErrorKind,
    /// What was attempted and what happened.
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

    /// An error of a call that was certainly not carried out.
    pub fn new(code: &'static str, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { code, kind, message: message.into(), may_have_happened: false }
    }

    pub(crate) fn precondition(message: impl Into<String>) -> Self {
        Self::new("engine.precondition", ErrorKind::Retryable, message)
    }
}
