//! Why a call to a machine failed, told for that machine.

use std::time::Duration;

use tonic::{Code, Status};

/// A call to one machine that failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{node}: {reason}")]
pub struct NodeError {
    /// Which machine.
    pub node: String,
    /// Why.
    pub reason: Reason,
}

/// Why a call failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Reason {
    /// Nothing answered, or what answered went away.
    #[error("cannot be reached: {0}")]
    Unreachable(String),
    /// The machine is not one of the cluster's, or does not take us for one of its clients.
    #[error("no trust: {0}")]
    Untrusted(String),
    /// There was no answer in time.
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// Our role may not do that.
    #[error("not allowed: {0}")]
    Denied(String),
    /// The machine does not know this call: its release is older, or its kind or mode has no use for it.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The machine is in no state for it.
    #[error("refused: {0}")]
    Refused(String),
    /// There is no such thing.
    #[error("not found: {0}")]
    NotFound(String),
    /// It is there already.
    #[error("already there: {0}")]
    AlreadyThere(String),
    /// The answer is larger than any that we take.
    #[error("the answer is too large: {0}")]
    TooLarge(String),
    /// The answer is none that we know.
    #[error("the answer cannot be read: {0}")]
    Unreadable(String),
    /// The machine does not accept what it was given.
    #[error("not accepted: {0}")]
    Invalid(String),
    /// Something else.
    #[error("{code:?}: {message}")]
    Other {
        /// As gRPC names it.
        code: Code,
        /// What the machine said.
        message: String,
    },
}

impl Reason {
    /// What a status of gRPC means. `deadline` is what the call was given.
    pub(crate) fn new(status: &Status, deadline: Duration) -> Self {
        let message = message(status);
        if let Some(problem) = distrust(status) {
            return Self::Untrusted(problem);
        }
        // On a connection that stands already only the text of an alert comes through.
        if message.contains("received fatal alert") {
            return Self::Untrusted(message);
        }
        match status.code() {
            Code::Unavailable => Self::Unreachable(message),
            // The connection broke, whatever was said on it.
            Code::Unknown if BROKEN.iter().any(|text| status.message().starts_with(text)) => {
                Self::Unreachable(message)
            }
            Code::DeadlineExceeded => Self::TimedOut(deadline),
            Code::Cancelled if status.message() == "Timeout expired" => Self::TimedOut(deadline),
            // What was asked for cannot be read on a machine of that release, whoever asks.
            Code::PermissionDenied if message.ends_with("is not supported") => {
                Self::Unsupported(message)
            }
            Code::PermissionDenied | Code::Unauthenticated => Self::Denied(message),
            Code::OutOfRange if message.contains("message length too large") => {
                Self::TooLarge(message)
            }
            Code::Internal if message.contains("decode Protobuf") => Self::Unreadable(message),
            Code::Unimplemented => Self::Unsupported(message),
            Code::FailedPrecondition => Self::Refused(message),
            Code::NotFound => Self::NotFound(message),
            Code::AlreadyExists => Self::AlreadyThere(message),
            Code::InvalidArgument => Self::Invalid(message),
            Code::Unknown => Self::told(message),
            code => Self::Other { code, message },
        }
    }

    /// Every code, each with an entry in the reference of errors.
    pub const CODES: &[&str] = &[
        "machine.already-there",
        "machine.denied",
        "machine.failed",
        "machine.invalid",
        "machine.not-found",
        "machine.refused",
        "machine.timed-out",
        "machine.too-large",
        "machine.unreachable",
        "machine.unreadable",
        "machine.unsupported",
        "machine.untrusted",
    ];

    /// The name of this kind of failure.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AlreadyThere(_) => "machine.already-there",
            Self::Denied(_) => "machine.denied",
            Self::Other { .. } => "machine.failed",
            Self::Invalid(_) => "machine.invalid",
            Self::NotFound(_) => "machine.not-found",
            Self::Refused(_) => "machine.refused",
            Self::TimedOut(_) => "machine.timed-out",
            Self::TooLarge(_) => "machine.too-large",
            Self::Unreachable(_) => "machine.unreachable",
            Self::Unreadable(_) => "machine.unreadable",
            Self::Unsupported(_) => "machine.unsupported",
            Self::Untrusted(_) => "machine.untrusted",
        }
    }

    /// What a machine said where it gives no code for it.
    pub fn told(message: String) -> Self {
        let is_missing = message.ends_with("no such file or directory")
            || message.ends_with("was not registered")
            || message.starts_with("container ") && message.ends_with("not found")
            || message.starts_with("service ") && message.ends_with("not defined");
        if is_missing {
            return Self::NotFound(message);
        }
        if message.ends_with("operation via API") {
            return Self::Refused(message);
        }
        Self::Other { code: Code::Unknown, message }
    }

    /// What can be done about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Unreachable(_) => "is the machine running, and is the address right?",
            Self::Untrusted(_) => {
                "a machine without configuration is reached with --insecure; otherwise the \
                 talosconfig is another cluster's"
            }
            Self::TimedOut(_) => {
                "is the machine on? --deadline waits longer; etcd answers only once it is bootstrapped"
            }
            Self::NotFound(message) if message.ends_with("was not registered") => {
                "`ichor logs` without a name shows the logs that there are"
            }
            Self::Denied(_) => "a talosconfig with more roles can do it",
            Self::NotFound(message) if message.starts_with("no resources are called") => {
                "`ichor get rd` shows which types there are"
            }
            Self::Refused(message) if message.contains("container mode") => {
                "the machine runs as a container: whatever runs it starts, stops and upgrades it"
            }
            Self::Refused(message) if message.ends_with("operation via API") => {
                "of Talos' own services only the kubelet can be started and restarted, and those of extensions"
            }
            Self::Invalid(message) if message.contains("immediate mode") => {
                "the machine has to reboot for it: --mode auto does that now, --mode staged waits for its next reboot"
            }
            Self::Unsupported(message) if message.contains("control plane nodes") => {
                "ask a control plane: -n takes its address"
            }
            Self::Unsupported(_) => {
                "another release of Talos may have it: `ichor version` shows what the machine runs"
            }
            _ => return None,
        })
    }

    /// Whether it may be over in a while: the machine restarts, or the network is away.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::TimedOut(_) => true,
            // The API of a machine ends its calls when it restarts.
            Self::Other { code, .. } => {
                matches!(code, Code::Cancelled | Code::Aborted | Code::Unknown | Code::Internal)
            }
            _ => false,
        }
    }
}

/// What the machine or the connection said. A difference of configurations in it holds their secrets,
/// and is cut off.
fn message(status: &Status) -> String {
    let mut message = status.message().to_owned();
    for start in ["\ndiff:", "\nConfig diff:"] {
        if let Some(at) = message.find(start) {
            message.truncate(at);
            message.push_str(" (the difference is not shown: it holds secrets)");
        }
    }
    let mut source = std::error::Error::source(status);
    while let Some(cause) = source {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
        source = cause.source();
    }
    message
}

/// Whether the connection failed because one side did not trust the other.
fn distrust(status: &Status) -> Option<String> {
    let mut source = std::error::Error::source(status);
    while let Some(cause) = source {
        let tls = cause.downcast_ref::<rustls::Error>().or_else(|| {
            let inner = cause.downcast_ref::<std::io::Error>()?.get_ref()?;
            inner.downcast_ref::<rustls::Error>()
        });
        if let Some(problem) = tls {
            return Some(problem.to_string());
        }
        source = cause.source();
    }
    None
}

/// How the texts of connections that broke begin, before and within an answer.
const BROKEN: [&str; 2] = ["transport error", "error reading a body from connection"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_in_an_answer_is_not_repeated() {
        let said = "this config change can't be applied in immediate mode\ndiff: - key: hunter2";
        let reason =
            Reason::new(&Status::invalid_argument(said), Duration::from_secs(1)).to_string();
        assert!(reason.contains("immediate mode") && !reason.contains("hunter2"), "{reason}");
    }
}
