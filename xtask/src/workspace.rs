//! The checkout that a command works on, and cargo in it.

use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    pub(crate) fn new(root: Option<PathBuf>) -> Self {
        Self { root: root.unwrap_or_else(|| package().join("..")) }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Cargo of the pinned toolchain, in this workspace.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// Runs cargo with its output shown.
    pub(crate) fn run_cargo(&self, arguments: &[&str]) -> Result<()> {
        succeed(&mut self.cargo(arguments))
    }

    /// Runs cargo and takes its stdout; stderr is shown.
    pub(crate) fn read_cargo(&self, arguments: &[&str]) -> Result<String> {
        read(&mut self.cargo(arguments))
    }

    /// What cargo knows about the workspace's own packages.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value> {
        let text =
            self.read_cargo(&["metadata", "--format-version", "1", "--all-features", "--quiet"])?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// The directory of this package. What cargo says when it runs the program comes first: with a target directory that two
/// checkouts share, the program may have been built in the other one.
pub(crate) fn package() -> PathBuf {
    let running = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let own = running.filter(|directory| directory.ends_with(env!("CARGO_PKG_NAME")));
    own.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into())
}

/// Runs a program to its end with its output shown; anything but success is an error.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| cannot_run(command))?;
    check(command, status)
}

/// Runs a program to its end and takes its stdout; stderr is shown. Anything but success is an error.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| cannot_run(command))?;
    check(command, output.status)?;
    Ok(String::from_utf8(output.stdout)?)
}

fn cannot_run(command: &Command) -> String {
    format!("cannot run {}", command.get_program().display())
}

fn check(command: &Command, status: ExitStatus) -> Result<()> {
    let program = command.get_program().display();
    if !status.success() {
        let arguments: Vec<_> =
            command.get_args().map(|argument| argument.to_string_lossy()).collect();
        bail!("`{program} {}` failed ({status})", arguments.join(" "));
    }
    Ok(())
}
