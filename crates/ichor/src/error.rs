//! Errors of the command itself, with code, exit status and hint.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;

use talos_api::{Bound, CallError, ConnectError, NodeError};
use talos_config::{Coded, Diagnostic, codes};

use crate::ExitStatus;
use crate::commands::{NodeActionError, RefusalReport};
use crate::diagnostics::Diagnostics;

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
    /// Configuration, a patch, a description of a cluster, a plan or an encrypted file is wrong.
    #[error(transparent)]
    Diagnosed(#[from] Diagnostics),
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

impl From<Diagnostic> for Error {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Diagnosed(Diagnostics::new(vec![diagnostic]))
    }
}

impl Coded for Error {
    codes! {
        from Self::Diagnosed, Self::Engine, Self::Machine, Self::NodeAction, Self::Refused;
        Self::Usage { .. } => "usage", Permanent;
        Self::Input(_) => "input.unreadable", Permanent;
        Self::NotText { .. } => "input.not-text", Permanent;
        Self::Invalid { .. } => "config.invalid", Permanent;
        Self::Secrets { .. } => "secrets.incomplete", Permanent;
        Self::Owner { .. } => "directory.owner", NeedsPerson;
        Self::NoHome { .. } => "home.unset", NeedsPerson;
        Self::Connect(_) => "talosconfig.unusable", NeedsPerson;
        Self::Factory { .. } => "factory.unanswered", Retryable;
        Self::NoEntry { .. } => "machine.no-entry", NeedsPerson;
        Self::Interrupted => "interrupted", NeedsPerson;
        Self::Unasked(_) => "confirm.unasked", NeedsPerson;
        Self::Declined(_) => "confirm.declined", NeedsPerson;
        Self::Audit(_) => "audit.write-failed", NeedsPerson;
        Self::AuditChanged(_) => "audit.changed", NeedsPerson;
        Self::Pki(_) => "secrets.unusable", Permanent;
        Self::NoSecrets(_) => "secrets.not-made", NeedsPerson;
        Self::Exists { .. } => "output.exists", NeedsPerson;
        Self::NotAFile(_) => "output.not-a-file", Permanent;
        Self::SameFile(_) => "output.same-file", Permanent;
        Self::Output(_) => "output.write-failed", NeedsPerson;
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Diagnosed(error) => return error.hint(),
            Self::Machine(error) => return error.hint(),
            Self::NodeAction(error) => return error.hint(),
            Self::Refused(refused) => return refused.hint(),
            Self::Engine(engine::Error::Port(error)) if error.code.starts_with("sops.") => {
                "the secrets of the cluster are needed; set SOPS_AGE_KEY_FILE to the key that decrypts encrypted ones"
            }
            Self::Engine(error) => return error.hint(),
            Self::Usage { hint, .. } => hint,
            Self::Exists { hint, .. } | Self::NoHome { hint, .. } | Self::NoEntry { hint, .. } => {
                hint
            }
            Self::Owner { .. } => {
                "its files decide which machines are called with which credentials: if you trust that user, pass \
                 the directory with -C, or change to it"
            }
            Self::Connect(ConnectError::NoEndpoint) => "pass an endpoint with -e",
            Self::Connect(_) => "`ichor config info` shows the talosconfig",
            Self::Factory { .. } => {
                "pass another factory with --factory, or its certificate authority with SSL_CERT_FILE"
            }
            Self::Unasked(_) => "pass --yes to skip the confirmation",
            Self::Audit(_) => UNWRITTEN,
            Self::AuditChanged(_) => {
                "compare the file with a copy; lines from there on cannot be trusted"
            }
            Self::NotAFile(_) => "write several results to a directory, a single one to a file",
            Self::SameFile(_) => "pass files with different names",
            Self::Secrets { is_config: true, .. } => {
                "this is machine configuration: `ichor gen secrets --from-controlplane-config FILE` takes the \
                 secrets out of it"
            }
            Self::Secrets { .. } => {
                "`ichor gen secrets` generates a complete set for a new cluster"
            }
            Self::Input(_)
            | Self::NotText { .. }
            | Self::Invalid { .. }
            | Self::Pki(_)
            | Self::NoSecrets(_)
            | Self::Interrupted
            | Self::Declined(_)
            | Self::Output(_) => return None,
        };
        Some(Cow::Borrowed(hint))
    }
}

impl Error {
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
            | Self::Diagnosed(_)
            | Self::Invalid { .. }
            | Self::Secrets { .. }
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
}

const UNWRITTEN: &str =
    "nothing is done without a record: free disk space or grant access, then retry";

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
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::diagnostics;

    /// The codes of all types of errors, with the names of the types.
    fn tables() -> Vec<(&'static str, &'static [&'static str])> {
        macro_rules! tables {
            ($($type:ty),+ $(,)?) => { vec![$((stringify!($type), <$type as Coded>::CODES)),+] };
        }
        tables![
            CallError,
            Diagnostics,
            Error,
            NodeActionError,
            NodeError,
            RefusalReport,
            engine::Error,
            engine::PortError,
            engine::journal::JournalError,
            plan::ApprovalError,
            plan::InventoryError,
            plan::LayerError,
            plan::NativeError,
            plan::PlanFileError,
            plan::Refusal,
            plan::RenderError,
            plan::SpecError,
            sops::Error,
            talconfig::Error,
            talconfig::LocatedError,
            talos_config::Error,
        ]
    }

    #[test]
    fn every_code_has_its_entry_in_the_reference_and_every_entry_a_code() {
        let reference = include_str!("../../../docs/reference/errors.md");
        let entries: BTreeSet<&str> = reference
            .lines()
            .filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'))
            .collect();
        let codes: BTreeSet<&str> = tables()
            .iter()
            .flat_map(|(_, codes)| codes.iter().copied())
            .chain(plan::Rule::ALL.iter().map(|rule| rule.name()))
            .chain(diagnostics::CODES.iter().copied())
            .chain(talos_config::Validation::CODES.into_iter().flatten().copied())
            .chain(talconfig::cluster_template::CODES.iter().copied())
            .chain(talconfig::lint::codes())
            .collect();
        let missing: Vec<_> = codes.difference(&entries).collect();
        let stale: Vec<_> = entries.difference(&codes).collect();
        assert!(missing.is_empty() && stale.is_empty(), "missing {missing:?}, stale {stale:?}");
    }

    /// A new type of error cannot be forgotten in the test above.
    #[test]
    fn every_type_with_a_code_is_compared_with_the_reference() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut types = BTreeSet::new();
        for member in fs_err::read_dir(crates).expect("the crates") {
            coded_types(&member.expect("a crate").path().join("src"), &mut types);
        }
        let tables = tables();
        let known: BTreeSet<&str> = tables
            .iter()
            .map(|(name, _)| name.rsplit("::").next().unwrap_or(name).trim())
            .collect();
        let types: BTreeSet<&str> = types.iter().map(String::as_str).collect();
        assert_eq!(types, known);
    }

    fn coded_types(folder: &Path, types: &mut BTreeSet<String>) {
        let Ok(entries) = fs_err::read_dir(folder) else { return };
        for path in entries.map(|entry| entry.expect("a file").path()).collect::<Vec<PathBuf>>() {
            if path.is_dir() {
                coded_types(&path, types);
            } else if path.extension().is_some_and(|suffix| suffix == "rs") {
                let text = fs_err::read_to_string(&path).expect("a text");
                let implemented = text.lines().filter_map(|line| {
                    line.trim().strip_prefix("impl Coded for ")?.strip_suffix(" {")
                });
                types.extend(implemented.map(str::to_owned));
            }
        }
    }
}
