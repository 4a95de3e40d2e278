//! What is measured. A case is one job that both programs do.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The program to compare with, by its name among the peers.
    pub(super) peer: &'static str,
    /// Puts the input into an empty directory, in which both then run.
    pub(super) prepare: fn(&Path) -> Result<Inputs>,
}

/// The arguments for either side.
pub(super) struct Inputs {
    pub(super) ours: Vec<OsString>,
    pub(super) theirs: Vec<OsString>,
}

pub(super) const CASES: &[Case] = &[Case {
    name: "version",
    about: "start, say the version, end: the floor under every other figure",
    peer: "talosctl-1.14.1",
    prepare: |_| {
        Ok(Inputs { ours: arguments("version"), theirs: arguments("version --client --short") })
    },
}];

fn arguments(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}
