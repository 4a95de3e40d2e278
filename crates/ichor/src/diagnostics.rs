//! Diagnostics as the error of a command.

use std::borrow::Cow;
use std::fmt;

use plan::ErrorKind;
use talos_config::{Coded, Diagnostic, FileLocation, code_table};

code_table! {
    pub(crate) CODES;
    DIRECTORY_AMBIGUOUS = "directory.ambiguous";
    DIRECTORY_MISSING = "directory.missing";
    EXTENSION = "schematic.extension";
    EXTENSIONS_UNKNOWN = "schematic.unknown-release";
    INSTALLER_UNREGISTERED = "schematic.unregistered";
    SECRETS_AMBIGUOUS = "secrets.ambiguous";
    SECRETS_MISSING = "secrets.missing";
    SOPS_PROGRAM = "sops.program";
    TALCONFIG_WARNING = "talconfig.warning";
    TALOSCONFIG_FOREIGN = "talosconfig.foreign";
}

/// Everything that is wrong with what a command was given; at least one. Those that are not the command's own have the
/// codes of their crates.
#[derive(Debug)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    pub(crate) fn new(list: Vec<Diagnostic>) -> Self {
        Self(list)
    }

    pub(crate) fn list(&self) -> &[Diagnostic] {
        &self.0
    }

    pub(crate) fn into_list(self) -> Vec<Diagnostic> {
        self.0
    }
}

impl std::error::Error for Diagnostics {}

/// The hint of a single diagnostic is its own, those of several stand beside them.
impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n  ")?;
            }
            f.write_str(&located(diagnostic))?;
            if let Some(hint) = diagnostic.hint.as_ref().filter(|_| self.0.len() > 1) {
                write!(f, " ({hint})")?;
            }
        }
        Ok(())
    }
}

impl Coded for Diagnostics {
    const CODES: &'static [&'static str] = CODES;

    fn code(&self) -> &'static str {
        self.0.first().map_or("", |first| first.code)
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Permanent
    }

    fn hint(&self) -> Option<Cow<'_, str>> {
        match self.0.as_slice() {
            [one] => one.hint.as_deref().map(Cow::from),
            _ => None,
        }
    }
}

/// Returns an error with a code, a message that says everything, and the hint of its origin.
pub(crate) fn coded(error: &impl Coded, message: impl Into<String>) -> Diagnostic {
    let hint = error.hint().map(Cow::into_owned);
    Diagnostic { hint, ..Diagnostic::error(error.code(), message) }
}

/// Returns `file:line:column: message`, with as much of it as is known.
pub(crate) fn located(diagnostic: &Diagnostic) -> String {
    let Diagnostic { location, message, .. } = diagnostic;
    let location = location.as_ref().map_or_else(String::new, |location| format!("{location}: "));
    format!("{location}{}", message.trim_end())
}

/// Returns the location of a file as a whole.
pub(crate) fn file(path: &std::path::Path) -> FileLocation {
    FileLocation::file(path.display().to_string())
}
