//! What was meant: the command line together with the environment, resolved once.
//!
//! Commands take settings and never look at arguments or environment themselves.

use std::path::{Path, PathBuf};

use talos_config::yaml::Dialect;

use crate::args::{Args, Command, Output, Release};

/// One command with everything that it needs to know.
#[derive(Debug)]
pub(crate) enum Settings {
    Patch { files: Vec<Input>, patches: Vec<Input>, target: Target, dialect: Dialect },
    Diff { before: Input, after: Input, output: Output },
    Explain { path: String, file: Input, patches: Vec<Input>, output: Output },
    Version { output: Output },
    Completions { shell: clap_complete::Shell },
}

/// Text that a command reads.
#[derive(Debug)]
pub(crate) enum Input {
    File(PathBuf),
    Stdin,
    /// Given on the command line itself.
    Inline(String),
}

/// Where a command writes files.
#[derive(Debug)]
pub(crate) enum Target {
    Stdout,
    Path { path: PathBuf, overwrite: bool },
}

impl Settings {
    pub(crate) fn resolve(args: Args) -> Self {
        match args.command {
            Command::Patch { files, patches, output, force, dialect } => Self::Patch {
                files: files.iter().map(|file| Input::file(file)).collect(),
                patches: patches.patches.into_iter().map(Input::patch).collect(),
                target: output
                    .map_or(Target::Stdout, |path| Target::Path { path, overwrite: force }),
                dialect: match dialect {
                    Release::V1_14 => Dialect::V1_14,
                    Release::V1_13 => Dialect::V1_13,
                    Release::V1_12 => Dialect::V1_12,
                },
            },
            Command::Diff { before, after, shown } => Self::Diff {
                before: Input::file(&before),
                after: Input::file(&after),
                output: shown.output,
            },
            Command::Explain { path, file, patches, shown } => Self::Explain {
                path,
                file: Input::file(&file),
                patches: patches.patches.into_iter().map(Input::patch).collect(),
                output: shown.output,
            },
            Command::Version { shown } => Self::Version { output: shown.output },
            Command::Completions { shell } => Self::Completions { shell },
        }
    }
}

impl Input {
    fn file(path: &Path) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path.to_owned()) }
    }

    /// Patches are told from file names as talosctl does it: a name has no space and no bracket.
    fn patch(argument: String) -> Self {
        if let Some(path) = argument.strip_prefix('@') {
            return Self::File(path.into());
        }
        if argument.contains([' ', '\n']) || argument.starts_with(['[', '{']) {
            return Self::Inline(argument);
        }
        Self::File(argument.into())
    }
}
