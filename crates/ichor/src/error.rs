//! Errors of the command itself, with code, exit status and hint.

use std::io;
use std::path::PathBuf;

use engine::journal::JournalError;
use talos_api::{Bound, CallError, ConnectError, NodeError};

use crate::ExitStatus;
use crate::commands::{NodeActionError, RefusalReport};

/// Reasons why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line does not say anything we know.
    #[error("{message}")]
    Usage {
        /// The problem.
        message: String,
        /// The advice.
        hint: String,
    },
    /// A file cannot be read.
    #[error("cannot read the input")]
    Input(#[source] io::Error),
    /// A file holds something else than text.
    #[error("{place}: not UTF-8 text")]
    NotText {
        /// The file and the line.
        place: String,
    },
    /// Configuration or a patch is wrong.
    #[error("{message}")]
    Config {
        /// The problem, with its location.
        message: String,
        /// The advice.
        hint: Option<String>,
        /// The code.
        code: &'static str,
    },
    /// Configuration that is well-formed, but cannot work.
    #[error("{}: not valid for {mode} mode: {}", .files.join(", "), count(*.errors))]
    Invalid {
        /// The files.
        files: Vec<String>,
        /// Number of errors that were printed.
        errors: usize,
        /// The mode that was checked.
        mode: &'static str,
    },
    /// Secrets that a cluster cannot be made of.
    #[error("{file}: {}", .problems.join("\n  "))]
    Secrets {
        /// The file.
        file: String,
        /// Everything that is wrong with them.
        problems: Vec<String>,
        /// The file is machine configuration, which holds secrets too.
        is_config: bool,
    },
    /// A file cannot be decrypted or encrypted.
    #[error("{message}")]
    Sops {
        /// The problem, with its location.
        message: String,
        /// The advice.
        hint: Option<String>,
        /// The code.
        code: &'static str,
    },
    /// The description of a cluster, or a plan, is wrong.
    #[error("{message}")]
    Spec {
        /// The problem, with its location.
        message: String,
        /// The advice.
        hint: Option<String>,
        /// The code.
        code: &'static str,
    },
    /// A cluster's directory that another user has put above the working directory.
    #[error("{} belongs to user {owner}, and is above the working directory", path.display())]
    Owner {
        /// The file or directory.
        path: PathBuf,
        /// The number of the user.
        owner: u32,
    },
    /// A file is below the home directory, and nothing says which one that is.
    #[error("HOME is not set, and {what} is kept below it")]
    NoHome {
        /// The file.
        what: &'static str,
        /// The setting that names another place.
        hint: &'static str,
    },
    /// The engine ended before its time.
    #[error(transparent)]
    Engine(#[from] engine::Error),
    /// The safety rules refuse a plan.
    #[error(transparent)]
    Refused(RefusalReport),
    /// No usable endpoint or credentials.
    #[error("cannot connect to the machines")]
    Connect(#[from] ConnectError),
    /// A machine did not do what it was asked.
    #[error(transparent)]
    Machine(#[from] NodeError),
    /// Something was not done to a machine, or not to its end.
    #[error(transparent)]
    NodeAction(#[from] NodeActionError),
    /// The image factory did not do what it was asked.
    #[error("cannot {attempt}: {reason}")]
    Factory {
        /// The attempted request.
        attempt: String,
        /// The reason, with the URL.
        reason: String,
    },
    /// A machine has no disk to install to, or no link by which it is known.
    #[error("{machine}: {problem}")]
    NoEntry {
        /// The machine.
        machine: String,
        /// The missing part.
        problem: String,
        /// The advice.
        hint: &'static str,
    },
    /// Confirmation is required, and stdin is not a terminal.
    #[error("{0}: confirmation is required, and stdin is not a terminal")]
    Unasked(String),
    /// Ctrl-C at a confirmation.
    #[error("interrupted: nothing was done")]
    Interrupted,
    /// A confirmation was declined.
    #[error("{0}: not done")]
    Declined(String),
    /// The audit log cannot be written, so the action is not started.
    #[error("cannot write the audit log")]
    Audit(#[source] io::Error),
    /// The audit log is not what was written.
    #[error("the audit log was changed: its chain is broken at line {0}")]
    AuditChanged(usize),
    /// A certificate cannot be signed with the secrets.
    #[error("cannot use a key, a certificate or a request")]
    Pki(#[from] talos_config::pki::PkiError),
    /// The system gave no randomness or no key.
    #[error("cannot generate secrets: {0}")]
    NoSecrets(String),
    /// A file that would be written is there already.
    #[error("{} exists", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
        /// The advice.
        hint: &'static str,
    },
    /// A result would be written where no file can be.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// Two results would be written to one file.
    #[error("two results would be written to {}", .0.display())]
    SameFile(PathBuf),
    /// The output cannot be written.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

impl From<engine::PortError> for Error {
    fn from(error: engine::PortError) -> Self {
        Self::Engine(error.into())
    }
}

impl Error {
    /// Every code of the command itself, each with an entry in `docs/reference/errors.md`.
    pub const CODES: &[&str] = &[
        "audit.changed",
        "audit.write-failed",
        "config.invalid",
        "confirm.declined",
        "confirm.unasked",
        "directory.ambiguous",
        "directory.missing",
        "directory.owner",
        "factory.unanswered",
        "home.unset",
        "input.not-text",
        "input.unreadable",
        "machine.no-entry",
        "secrets.ambiguous",
        "secrets.incomplete",
        "secrets.missing",
        "secrets.not-made",
        "secrets.unusable",
        "sops.program",
        "output.exists",
        "output.not-a-file",
        "output.same-file",
        "output.write-failed",
        "schematic.extension",
        "talosconfig.foreign",
        "talosconfig.unusable",
        "usage",
    ];

    /// The name of this kind of error, for scripts, metrics and the reference.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Usage { .. } => "usage",
            Self::Input(_) => "input.unreadable",
            Self::NotText { .. } => "input.not-text",
            Self::Config { code, .. } | Self::Sops { code, .. } => code,
            Self::Invalid { .. } => "config.invalid",
            Self::Secrets { .. } => "secrets.incomplete",
            Self::Spec { code, .. } => code,
            Self::Owner { .. } => "directory.owner",
            Self::NoHome { .. } => "home.unset",
            Self::Engine(error) => error.code(),
            Self::Refused(refused) => refused.code(),
            Self::Connect(_) => "talosconfig.unusable",
            Self::Machine(error) => error.reason.code(),
            Self::NodeAction(failure) => failure.code(),
            Self::Factory { .. } => "factory.unanswered",
            Self::NoEntry { .. } => "machine.no-entry",
            Self::Interrupted => "interrupted",
            Self::Unasked(_) => "confirm.unasked",
            Self::Declined(_) => "confirm.declined",
            Self::Audit(_) => "audit.write-failed",
            Self::AuditChanged(_) => "audit.changed",
            Self::Pki(_) => "secrets.unusable",
            Self::NoSecrets(_) => "secrets.not-made",
            Self::Exists { .. } => "output.exists",
            Self::NotAFile(_) => "output.not-a-file",
            Self::SameFile(_) => "output.same-file",
            Self::Output(_) => "output.write-failed",
        }
    }

    /// The status that the program ends with.
    pub fn status(&self) -> ExitStatus {
        match self {
            // The reader has closed the pipe, as in `ichor … | head`: not a failure.
            Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe => ExitStatus::Done,
            Self::Engine(error) => match error {
                engine::Error::Refused(_) => ExitStatus::Refused,
                engine::Error::Render(_) | engine::Error::Approval(_) => ExitStatus::BadInput,
                // What the vault of a directory holds is input.
                engine::Error::Port(error) if is_of_vault(error) => ExitStatus::BadInput,
                engine::Error::Port(error) if error.code.starts_with("provider.") => {
                    ExitStatus::BadInput
                }
                engine::Error::Journal(_) | engine::Error::Port(_) => ExitStatus::Failed,
            },
            Self::Machine(error) => match error.reason {
                CallError::Unreachable(_) => ExitStatus::Unreachable,
                CallError::TimedOut(_) | CallError::OverLimit(Bound::Time(_)) => {
                    ExitStatus::TimedOut
                }
                CallError::Invalid(_) => ExitStatus::BadInput,
                _ => ExitStatus::Failed,
            },
            Self::Refused(_) => ExitStatus::Refused,
            Self::NodeAction(failure) => failure.status(),
            Self::Interrupted => ExitStatus::Interrupted,
            Self::Output(_)
            | Self::NoSecrets(_)
            | Self::Declined(_)
            | Self::Audit(_)
            | Self::AuditChanged(_)
            | Self::Factory { .. }
            | Self::NoEntry { .. } => ExitStatus::Failed,
            Self::Usage { .. }
            | Self::Input(_)
            | Self::NotText { .. }
            | Self::Config { .. }
            | Self::Invalid { .. }
            | Self::Secrets { .. }
            | Self::Sops { .. }
            | Self::Spec { .. }
            | Self::Owner { .. }
            | Self::NoHome { .. }
            | Self::Connect(_)
            | Self::Unasked(_)
            | Self::Pki(_)
            | Self::Exists { .. }
            | Self::NotAFile(_)
            | Self::SameFile(_) => ExitStatus::BadInput,
        }
    }

    /// Converts this error into a `PortError` of the engine.
    pub(crate) fn port_error(&self) -> engine::PortError {
        let (code, message) = (self.code(), with_causes(self));
        engine::PortError::new(code, plan::ErrorKind::NeedsPerson, message)
    }

    /// Returns advice for the user.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. } => Some(hint),
            Self::Config { hint, .. } | Self::Sops { hint, .. } => hint.as_deref(),
            Self::Exists { hint, .. } | Self::NoHome { hint, .. } => Some(hint),
            Self::Spec { hint, .. } => hint.as_deref(),
            Self::Owner { .. } => Some(
                "its files decide which machines are called with which credentials: if you trust that user, pass \
                 the directory with -C, or change to it",
            ),
            Self::Engine(engine::Error::Refused(refusal)) => {
                refusal.findings.first().map(|finding| finding.hint.as_str())
            }
            Self::Engine(engine::Error::Journal(error)) => Some(match error {
                JournalError::Busy(_) => "wait until it is done: `ichor status --watch` shows it",
                JournalError::Damaged(_) => DAMAGED,
                JournalError::Format { .. } => {
                    "use the release of Ichor that wrote it; `journal.damaged` in docs/reference/errors.md says what is \
                     lost without the journal"
                }
                JournalError::Io(_) => UNWRITTEN,
            }),
            Self::Engine(engine::Error::Port(error)) if is_of_vault(error) => Some(
                "the secrets of the cluster are needed; set SOPS_AGE_KEY_FILE to the key that decrypts \
                 encrypted ones",
            ),
            Self::Engine(engine::Error::Port(error)) => match error.code {
                "provider.unknown" => Some(
                    "set `provider: metal` and an address for each machine in ichor.yaml, then `ichor plan`",
                ),
                "provider.credentials" => Some("set these credentials; `ichor plan` checks them"),
                _ => None,
            },
            Self::Engine(_) => None,
            Self::Refused(refused) => Some(refused.hint()),
            Self::Machine(error) => error.reason.hint(),
            Self::NodeAction(failure) => Some(failure.hint()),
            Self::Connect(ConnectError::NoEndpoint) => Some("pass an endpoint with -e"),
            Self::Connect(_) => Some("`ichor config info` shows the talosconfig"),
            Self::Factory { .. } => Some(
                "pass another factory with --factory, or its certificate authority with SSL_CERT_FILE",
            ),
            Self::NoEntry { hint, .. } => Some(hint),
            Self::Unasked(_) => Some("pass --yes to skip the confirmation"),
            Self::Audit(_) => Some(UNWRITTEN),
            Self::AuditChanged(_) => {
                Some("compare the file with a copy; lines from there on cannot be trusted")
            }
            Self::NotAFile(_) => {
                Some("write several results to a directory, a single one to a file")
            }
            Self::SameFile(_) => Some("pass files with different names"),
            Self::Secrets { is_config: true, .. } => Some(
                "this is machine configuration: `ichor gen secrets --from-controlplane-config FILE` takes the \
                 secrets out of it",
            ),
            Self::Secrets { .. } => {
                Some("`ichor gen secrets` generates a complete set for a new cluster")
            }
            Self::Input(_)
            | Self::NotText { .. }
            | Self::Invalid { .. }
            | Self::Pki(_)
            | Self::NoSecrets(_)
            | Self::Interrupted
            | Self::Declined(_)
            | Self::Output(_) => None,
        }
    }
}

const UNWRITTEN: &str =
    "nothing is done without a record: free disk space or grant access, then retry";

/// Names the rules that refuse by what is in the journal, and do not refuse without it.
const DAMAGED: &str = "restore .ichor from a copy. Without its journal it is unknown that etcd was bootstrapped (bootstrap.again), \
                       which installation a machine was (identity.node, identity.maintenance, identity.gone) and what was \
                       interrupted: confirm with `ichor etcd members` that there is one etcd, and that every address is \
                       the machine that is meant, before you move .ichor/journal away. Machines that got their \
                       configuration before etcd began then need --override create.configured";

fn is_of_vault(error: &engine::PortError) -> bool {
    error.code.starts_with("sops.") || error.code.starts_with("vault.")
}

/// An error with everything that caused it.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn count(errors: usize) -> String {
    if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") }
}

#[cfg(test)]
mod tests {
    use super::{CallError, Error, NodeActionError};

    #[test]
    fn every_code_has_its_entry_in_the_reference() {
        let reference = include_str!("../../../docs/reference/errors.md");
        let codes = Error::CODES
            .iter()
            .chain(NodeActionError::CODES)
            .chain(talos_config::Error::CODES)
            .chain(talos_config::Validation::CODES)
            .chain(sops::Error::CODES)
            .chain(CallError::CODES)
            .chain(engine::PortError::CODES)
            .chain(engine::journal::JournalError::CODES)
            .chain(talconfig::Error::CODES)
            .chain(talconfig::cluster_template::CODES);
        for code in codes.copied().chain(talconfig::lint::codes()) {
            assert!(reference.contains(&format!("\n## `{code}`\n")), "no entry for {code}");
        }
    }
}
