//! What can go wrong in the command itself, with the code, the status and the hint a user gets.

use std::io;

use crate::ExitStatus;

/// Why a command did not end well.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line does not say anything we know.
    #[error("{message}")]
    Usage {
        /// What is wrong with it.
        message: String,
        /// What would be right.
        hint: String,
    },
    /// The reader of our output did not take it.
    #[error("cannot write the output")]
    Output(#[from] io::Error),
}

impl Error {
    /// Every code, each with an entry in `docs/reference/errors.md`.
    pub const CODES: &[&str] = &["output.write-failed", "usage"];

    /// The name of this kind of error, for scripts, metrics and the reference.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Usage { .. } => "usage",
            Self::Output(_) => "output.write-failed",
        }
    }

    /// The status that the program ends with.
    pub fn status(&self) -> ExitStatus {
        match self {
            Self::Usage { .. } => ExitStatus::BadInput,
            // Whoever reads us has seen enough, as in `ichor … | head`: nothing failed.
            Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe => ExitStatus::Done,
            Self::Output(_) => ExitStatus::Failed,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Usage { hint, .. } => Some(hint),
            Self::Output(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn every_code_has_its_entry_in_the_reference() {
        let reference = include_str!("../../../docs/reference/errors.md");
        for code in Error::CODES {
            assert!(reference.contains(&format!("\n## `{code}`\n")), "no entry for {code}");
        }
    }
}
