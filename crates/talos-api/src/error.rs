//! Errors of a call to one machine.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::time::Duration;

use rustls::{AlertDescription, CertificateError};
use talos_config::{Coded, ErrorKind, codes};
use tonic::{Code, ConnectError, Status, TimeoutExpired};

use crate::limits::Bound;

/// A call to one machine that failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{node}: {reason}")]
pub struct NodeError {
    /// The machine.
    pub node: String,
    /// The reason.
    pub reason: CallError,
}

/// Its codes are those of its reasons.
impl Coded for NodeError {
    const CODES: &'static [&'static str] = &[];

    fn code(&self) -> &'static str {
        self.reason.code()
    }

    fn kind(&self) -> ErrorKind {
        self.reason.kind()
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        self.reason.hint()
    }
}

/// The reason why a call failed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CallError {
    /// Nothing answered, or what answered went away.
    #[error("unreachable ({0})")]
    Unreachable(Disconnect),
    /// The machine is not one of the cluster's, or does not take us for one of its clients.
    #[error("not trusted: {0}")]
    Untrusted(String),
    /// Without credentials: the machine has a configuration, and wants them.
    #[error("not trusted: it demands a client certificate")]
    CredentialsRequired,
    /// The key of the machine has none of the fingerprints that were named.
    #[error("not trusted: its key has another fingerprint")]
    OtherFingerprint,
    /// A certificate of the right authority, for other addresses than the one that was called.
    #[error("its certificate is signed by this cluster's CA, but not for this address")]
    OtherAddress,
    /// A certificate of the right authority that has expired or is not valid yet, by our clock or by the machine's.
    #[error("{0}: do the clocks agree?")]
    CertificateTime(String),
    /// There was no answer in time.
    #[error("{0}")]
    TimedOut(Timeout),
    /// Our role may not do that.
    #[error("not allowed: {0}")]
    Denied(String),
    /// The machine does not know this call: its release is older, or its kind or mode has no use for it.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The machine is in no state for it.
    #[error("refused: {0}")]
    Refused(String),
    /// The thing does not exist.
    #[error("not found: {0}")]
    NotFound(String),
    /// It is there already.
    #[error("already exists: {0}")]
    AlreadyExists(String),
    /// The answer is larger than any that we take.
    #[error("the answer is too large: {0}")]
    TooLarge(String),
    /// The answer goes on beyond the [`Limits`](crate::Limits) of what is collected.
    #[error("the answer is longer than {0}")]
    Endless(String),
    /// A file or an archive goes on beyond the [`Bounds`](crate::Bounds) of its reader.
    #[error("the data is longer than {0}")]
    OverLimit(Bound),
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
        /// The message of the machine.
        message: String,
    },
}

impl Coded for CallError {
    codes! {
        Self::AlreadyExists(_) => "machine.already-there", Permanent;
        Self::CertificateTime(_) => "machine.certificate-time", NeedsPerson;
        Self::Denied(_) => "machine.denied", NeedsPerson;
        Self::Endless(_) => "machine.endless", Permanent;
        Self::Other { .. } => "machine.failed", Permanent;
        Self::Invalid(_) => "machine.invalid", Permanent;
        Self::NotFound(_) => "machine.not-found", Permanent;
        Self::OverLimit(_) => "machine.over-limit", Permanent;
        // Too early, or something else is under way.
        Self::Refused(_) => "machine.refused", Retryable;
        Self::TimedOut(_) => "machine.timed-out", Retryable;
        Self::TooLarge(_) => "machine.too-large", Permanent;
        Self::Unreachable(_) => "machine.unreachable", Retryable;
        Self::Unreadable(_) => "machine.unreadable", Permanent;
        Self::Unsupported(_) => "machine.unsupported", Permanent;
        Self::CredentialsRequired
            | Self::OtherAddress
            | Self::OtherFingerprint
            | Self::Untrusted(_) => "machine.untrusted", NeedsPerson;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Unreachable(_) => {
                "check that the machine is running and that its address is right"
            }
            Self::Untrusted(_) => {
                "a machine without configuration is reached with --insecure; otherwise the \
                 talosconfig is another cluster's"
            }
            Self::CredentialsRequired => {
                "the machine has a configuration already: call it with credentials, without --insecure"
            }
            Self::OtherFingerprint => {
                "compare it with the console of the machine: another machine may have its address"
            }
            Self::OtherAddress => {
                "add the address to `machine.certSANs`, or call the machine at another address"
            }
            Self::CertificateTime(_) => "`ichor certs` shows until when certificates are valid",
            Self::Endless(_) => {
                "check that it is a machine of yours; for a slow one use a longer --deadline"
            }
            Self::OverLimit(Bound::Bytes(_)) => {
                "if the file is that large, use a larger --max-size"
            }
            Self::OverLimit(Bound::Time(_)) => {
                "check that it is a machine of yours; --timeout waits longer"
            }
            Self::TimedOut(_) => {
                "check that the machine is on; --deadline waits longer; etcd answers only once it is bootstrapped"
            }
            Self::NotFound(message) if message.ends_with("was not registered") => {
                "`ichor logs` without a name shows the logs that there are"
            }
            Self::Denied(_) => "use a talosconfig with more roles",
            Self::NotFound(message) if message.starts_with("no resources are called") => {
                "`ichor get rd` shows which types there are"
            }
            Self::Refused(message) if message.contains("container mode") => {
                "the machine runs as a container: its container runtime starts, stops and upgrades it"
            }
            Self::Refused(message) if message.ends_with("operation via API") => {
                "of Talos' own services only the kubelet can be started and restarted, and those of extensions"
            }
            Self::Invalid(message) if message.contains("immediate mode") => {
                "the machine has to reboot for it: --mode auto does that now, --mode staged waits for its next reboot"
            }
            Self::Unsupported(message) if message.contains("control plane nodes") => {
                "call a control plane: -n takes its address"
            }
            Self::Unsupported(_) => {
                "another release of Talos may have it: `ichor version` shows what the machine runs"
            }
            _ => return None,
        }))
    }
}

impl CallError {
    /// Maps a status of gRPC. `deadline` is that of the call.
    pub(crate) fn new(status: &Status, deadline: Duration) -> Self {
        let message = message(status);
        // What the connection says has a cause, what the machine says has none.
        if status.source().is_some() {
            return Self::of_connection(status, message, deadline);
        }
        match status.code() {
            // The endpoint could not pass the call on: what would carry it out does not listen.
            Code::Unavailable if message.contains("Error while dialing") => {
                Self::Unreachable(Disconnect { message, stage: Stage::Connected })
            }
            Code::Unavailable => Self::disconnected(message),
            Code::DeadlineExceeded => Self::timed_out(deadline, Stage::Sent),
            // What was asked for cannot be read on a machine of that release, with any role.
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
            Code::AlreadyExists => Self::AlreadyExists(message),
            Code::InvalidArgument => Self::Invalid(message),
            Code::Unknown => Self::told(message),
            code => Self::Other { code, message },
        }
    }

    fn of_connection(status: &Status, message: String, deadline: Duration) -> Self {
        // Begins to count when the connection takes the request.
        if find::<TimeoutExpired>(status).is_some() {
            return Self::timed_out(deadline, Stage::Sent);
        }
        let tls = tls_error(status).or_else(|| alert(&message));
        if let Some(distrust) = tls.as_ref().and_then(distrust) {
            return distrust;
        }
        let stage = match find::<ConnectError>(status) {
            Some(_) => Stage::Connecting,
            None => Stage::Sent,
        };
        let message = connection_failure(status, tls.as_ref()).unwrap_or(message);
        Self::Unreachable(Disconnect { message, stage })
    }

    /// Returns a connection that was lost when the call was under way.
    pub(crate) fn disconnected(message: String) -> Self {
        Self::Unreachable(Disconnect { message, stage: Stage::Sent })
    }

    pub(crate) fn timed_out(deadline: Duration, stage: Stage) -> Self {
        Self::TimedOut(Timeout { deadline, stage })
    }

    /// Maps a message of a machine that came without a code.
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

    /// Returns whether it may be over in a while: the machine restarts, or the network is away.
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

    /// Returns how far the call came.
    pub fn stage(&self) -> Stage {
        match self {
            Self::Unreachable(Disconnect { stage, .. }) | Self::TimedOut(Timeout { stage, .. }) => {
                *stage
            }
            Self::Untrusted(_)
            | Self::OtherAddress
            | Self::OtherFingerprint
            | Self::CertificateTime(_) => Stage::Connecting,
            Self::CredentialsRequired
            | Self::Denied(_)
            | Self::Unsupported(_)
            | Self::Refused(_)
            | Self::NotFound(_)
            | Self::AlreadyExists(_)
            | Self::Invalid(_) => Stage::Connected,
            // An answer, but none that says what was done before it.
            Self::TooLarge(_)
            | Self::Endless(_)
            | Self::OverLimit(_)
            | Self::Unreadable(_)
            | Self::Other { .. } => Stage::Sent,
        }
    }

    /// Returns whether the machine may have carried out the call although it failed.
    pub fn may_have_happened(&self) -> bool {
        self.stage() == Stage::Sent
    }

    /// Returns whether a TLS handshake with what listens at the address was completed. An endpoint's counts for the
    /// machines behind it.
    pub fn completed_handshake(&self) -> bool {
        self.stage() >= Stage::Connected
    }
}

/// The last stage that a call reached before it failed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Stage {
    /// No handshake was completed, and nothing of the call was sent.
    Connecting,
    /// A handshake was completed, and the call was not carried out.
    Connected,
    /// The call may have been sent, and nothing says that it was not carried out.
    Sent,
}

/// A connection that could not be made, or that was lost.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Disconnect {
    /// The message of the connection or the machine.
    pub message: String,
    /// The stage that the call reached.
    pub stage: Stage,
}

impl fmt::Display for Disconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A deadline that passed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Timeout {
    /// The deadline of the call.
    pub deadline: Duration,
    /// The stage that the call reached.
    pub stage: Stage,
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let awaited = match self.stage {
            Stage::Connecting => "connection",
            Stage::Connected | Stage::Sent => "answer",
        };
        write!(f, "no {awaited} within {} s", self.deadline.as_secs())
    }
}

/// Returns the message of the machine or the connection. A difference of configurations in it holds their secrets,
/// and is cut off.
fn message(status: &Status) -> String {
    let mut message = status.message().to_owned();
    for start in ["\ndiff:", "\nConfig diff:"] {
        if let Some(at) = message.find(start) {
            message.truncate(at);
            message.push_str(" (the difference is not shown: it holds secrets)");
        }
    }
    for cause in causes(status) {
        let text = cause.to_string();
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
    }
    message
}

/// Returns the first cause of that type.
fn find<E: Error + 'static>(status: &Status) -> Option<&E> {
    causes(status).find_map(|cause| cause.downcast_ref())
}

fn causes(status: &Status) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(status.source(), |&cause| cause.source())
}

fn tls_error(status: &Status) -> Option<rustls::Error> {
    causes(status).find_map(|cause| {
        // An error of I/O does not name what it is made of as its cause.
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let tls = inner.and_then(|inner| inner.downcast_ref());
        tls.or_else(|| cause.downcast_ref()).cloned()
    })
}

/// Returns the reason why a connection failed in the words of the field, without the layers that passed it on; `None`
/// where only they know.
fn connection_failure(status: &Status, tls: Option<&rustls::Error>) -> Option<String> {
    use std::io::ErrorKind;
    match tls {
        Some(rustls::Error::InvalidMessage(_)) => {
            return Some("what listens there does not speak TLS".to_owned());
        }
        Some(error) => return Some(format!("TLS: {error}")),
        None => {}
    }
    let kind = find::<std::io::Error>(status)?.kind();
    let text = match kind {
        ErrorKind::ConnectionRefused => "connection refused",
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => "connection reset",
        ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => "connection closed",
        ErrorKind::HostUnreachable => "no route to host",
        ErrorKind::NetworkUnreachable => "network unreachable",
        ErrorKind::TimedOut => "timed out",
        _ => return None,
    };
    Some(text.to_owned())
}

/// Returns the alert that ended a connection, by its text: no more of it comes through once the connection stands.
fn alert(message: &str) -> Option<rustls::Error> {
    let mut alerts = DISTRUST.into_iter().chain([AlertDescription::CertificateExpired]);
    alerts.find_map(|alert| {
        let error = rustls::Error::AlertReceived(alert);
        message.contains(&error.to_string()).then_some(error)
    })
}

/// Returns the reason why one side does not trust the other; none where TLS failed for another reason.
fn distrust(error: &rustls::Error) -> Option<CallError> {
    use CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
    match error {
        rustls::Error::InvalidCertificate(
            Expired | ExpiredContext { .. } | NotValidYet | NotValidYetContext { .. },
        ) => Some(CallError::CertificateTime("its certificate is not valid now".to_owned())),
        rustls::Error::AlertReceived(AlertDescription::CertificateExpired) => {
            Some(CallError::CertificateTime("it says that ours is not valid now".to_owned()))
        }
        // The chain is verified before the name.
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => Some(CallError::OtherAddress),
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => Some(
            CallError::Untrusted("its certificate is not signed by this cluster's CA".to_owned()),
        ),
        // Signed by itself, as in maintenance.
        rustls::Error::InvalidCertificate(CertificateError::Other(_)) => {
            Some(CallError::Untrusted(
                "its certificate is not one that this cluster's CA signs for machines".to_owned(),
            ))
        }
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            Some(CallError::CredentialsRequired)
        }
        // What else is wrong with a certificate whose key was named is not looked at.
        rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure) => {
            Some(CallError::OtherFingerprint)
        }
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => {
            Some(CallError::Untrusted(error.to_string()))
        }
        rustls::Error::AlertReceived(alert) if DISTRUST.contains(alert) => {
            Some(CallError::Untrusted(error.to_string()))
        }
        _ => None,
    }
}

/// The alerts of a machine that does not accept a client's certificate.
const DISTRUST: [AlertDescription; 8] = [
    AlertDescription::AccessDenied,
    AlertDescription::BadCertificate,
    AlertDescription::CertificateRequired,
    AlertDescription::CertificateRevoked,
    AlertDescription::CertificateUnknown,
    AlertDescription::DecryptError,
    AlertDescription::UnknownCA,
    AlertDescription::UnsupportedCertificate,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_in_an_answer_is_not_repeated() {
        let said = "this config change can't be applied in immediate mode\ndiff: - key: hunter2";
        let reason =
            CallError::new(&Status::invalid_argument(said), Duration::from_secs(1)).to_string();
        assert!(reason.contains("immediate mode") && !reason.contains("hunter2"), "{reason}");
    }

    #[test]
    fn a_call_may_have_happened_unless_something_says_that_it_did_not() {
        let told = |status: Status| CallError::new(&status, Duration::from_secs(1));
        for (reason, stage) in [
            (told(Status::failed_precondition("not yet")), Stage::Connected),
            (told(Status::already_exists("etcd")), Stage::Connected),
            (told(Status::permission_denied("no")), Stage::Connected),
            (told(Status::unavailable("Error while dialing: dial unix x")), Stage::Connected),
            (told(Status::unavailable("error reading from server: EOF")), Stage::Sent),
            (told(Status::deadline_exceeded("late")), Stage::Sent),
            (told(Status::cancelled("it restarts")), Stage::Sent),
            (told(Status::unknown("could not")), Stage::Sent),
        ] {
            assert_eq!(reason.stage(), stage, "{reason:?}");
            assert_eq!(reason.may_have_happened(), stage == Stage::Sent);
            assert!(reason.completed_handshake());
        }
    }

    #[test]
    fn a_machine_cannot_speak_for_the_connection() {
        let said = "received fatal alert: UnknownCA";
        let reason = CallError::new(&Status::unknown(said), Duration::from_secs(1));
        assert!(matches!(reason, CallError::Other { .. }), "{reason:?}");
    }
}
