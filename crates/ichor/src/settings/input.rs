//! What commands read, and where they write.

use std::path::{Path, PathBuf};

use crate::Error;

/// Text that a command reads.
pub(crate) enum Input {
    File(PathBuf),
    /// A patch that has the form of a file's name.
    FileOrText(PathBuf),
    Stdin,
    /// Given on the command line itself.
    Inline(String),
}

impl Input {
    pub(crate) fn file(path: &Path) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path.to_owned()) }
    }

    /// Several files, among them stdin at most once.
    pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<Self>, Error> {
        if paths.iter().filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(Error::Usage {
                message: "stdin can be read only once".to_owned(),
                hint: "give `-` once".to_owned(),
            });
        }
        Ok(paths.iter().map(|path| Self::file(path)).collect())
    }

    /// Distinguishes patches from file names as talosctl does: a file name has no space and no bracket.
    pub(crate) fn patch(argument: String) -> Self {
        if let Some(path) = argument.strip_prefix('@') {
            return Self::File(path.into());
        }
        if argument.contains([' ', '\n']) || argument.starts_with(['[', '{']) {
            return Self::Inline(argument);
        }
        Self::FileOrText(argument.into())
    }
}

/// Destination of files that a command writes.
#[derive(Debug)]
pub(crate) enum Target {
    Stdout,
    Path { path: PathBuf, overwrite: bool },
}

impl Target {
    pub(super) fn new(path: Option<PathBuf>, overwrite: bool) -> Self {
        match path {
            Some(path) if path.as_os_str() != "-" => Self::Path { path, overwrite },
            _ => Self::Stdout,
        }
    }
}
