//! The checkout that a command works on, and cargo in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    pub(crate) fn new(root: Option<PathBuf>) -> Self {
        let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Self { root: root.unwrap_or_else(own) }
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
        let mut command = self.cargo(arguments);
        let output = command.stderr(Stdio::inherit()).output().context("cannot run cargo")?;
        if !output.status.success() {
            bail!("`cargo {}` failed ({})", arguments.join(" "), output.status);
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    /// What cargo knows about the workspace's own packages.
    pub(crate) fn metadata(&self) -> Result<serde_json::Value> {
        let text =
            self.read_cargo(&["metadata", "--format-version", "1", "--all-features", "--quiet"])?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// Runs a program to its end with its output shown; anything but success is an error.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        let arguments: Vec<_> =
            command.get_args().map(|argument| argument.to_string_lossy()).collect();
        bail!("`{program} {}` failed ({status})", arguments.join(" "));
    }
    Ok(())
}
