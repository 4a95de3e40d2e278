//! One run of one program: its time and its peak memory.
//!
//! The kernel reports the peak of *all* children that a process has waited for, so each run gets a
//! process of its own that waits for nothing else. What the kernel counts includes that process's own
//! few megabytes before it becomes the program; nothing smaller can be seen.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};

use crate::output;

#[derive(Deserialize, Serialize)]
pub(super) struct Sample {
    pub(super) nanoseconds: u64,
    pub(super) peak_kib: u64,
}

/// Runs a program in a directory, through a process of this program that measures it.
pub(super) fn take(directory: &Path, command: &[OsString]) -> Result<Sample> {
    let output = Command::new(std::env::current_exe()?)
        .args(["measure", "--"])
        .args(command)
        .current_dir(directory)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        bail!("could not measure {command:?}");
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The measuring process: runs the program, prints a [`Sample`].
pub(crate) fn measure(command: &[OsString]) -> Result<()> {
    let (program, arguments) = command.split_first().context("a program to measure")?;
    let begun = Instant::now();
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let nanoseconds = u64::try_from(begun.elapsed().as_nanos())?;
    if !status.success() {
        bail!("{} ended with {status}", program.display());
    }
    let peak_kib = u64::try_from(getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss())?;
    output::data(&serde_json::to_string(&Sample { nanoseconds, peak_kib })?);
    Ok(())
}
