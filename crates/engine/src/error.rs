//! Errors of a pass, and what can be done about them.

use std::borrow::Cow;

use domain::ErrorKind;
use plan::{ApprovalError, Refusal, RenderError};
use talos_config::{Coded, code_table, codes};

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

impl Coded for Error {
    codes! { from Self::Render, Self::Refused, Self::Approval, Self::Journal, Self::Port; }

    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Render(error) => error.hint(),
            Self::Refused(refusal) => refusal.hint(),
            Self::Approval(error) => error.hint(),
            Self::Journal(error) => error.hint(),
            Self::Port(error) => error.hint(),
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

code_table! {
    pub(crate) PORT_CODES;
    CANCELLED = "engine.cancelled";
    PRECONDITION = "engine.precondition";
    TIMED_OUT = "engine.timed-out";
    KUBERNETES_FAILED = "kubernetes.failed";
    KUBERNETES_UNREACHABLE = "kubernetes.unreachable";
    LEASE_HELD = "lease.held";
    LEASE_UNAVAILABLE = "lease.unavailable";
    IN_MAINTENANCE = "machine.in-maintenance";
    UNHEALTHY = "machine.unhealthy";
    PROVIDER_CREDENTIALS = "provider.credentials";
    PROVIDER_UNKNOWN = "provider.unknown";
    TALOSCONFIG_UNUSABLE = "talosconfig.unusable";
    VAULT_UNREADABLE = "vault.unreadable";
}

/// Errors of other types keep their own codes in a [`PortError`].
impl Coded for PortError {
    const CODES: &'static [&'static str] = PORT_CODES;

    fn code(&self) -> &'static str {
        self.code
    }

    fn kind(&self) -> ErrorKind {
        self.kind
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self.code {
            PROVIDER_UNKNOWN => {
                "set `provider: metal` and an address for each machine in ichor.yaml, then `ichor plan`"
            }
            PROVIDER_CREDENTIALS => "set these credentials; `ichor plan` checks them",
            VAULT_UNREADABLE => {
                "restore the file from a backup: these are the secrets of the cluster"
            }
            _ => return None,
        }))
    }
}

impl PortError {
    /// Returns an error of a call that was certainly not carried out.
    pub fn new(code: &'static str, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { code, kind, message: message.into(), may_have_happened: false }
    }

    pub(crate) fn precondition(message: impl Into<String>) -> Self {
        Self::new(PRECONDITION, ErrorKind::Retryable, message)
    }
}
