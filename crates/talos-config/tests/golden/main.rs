//! Level `golden`: what we read, write and patch against the files and the programs of Talos itself.

mod cases;
mod documents;
mod expressions;
mod generation;
mod later;
mod mutations;
mod output;
mod patches;
mod tables;
mod talosctl;
mod validation;
mod verdicts;

use std::path::PathBuf;

use testkit::peers;

/// The module whose test data we read where it lies.
fn machinery() -> PathBuf {
    peers::module("talos-1.14.1", "github.com/siderolabs/talos/pkg/machinery")
}

/// Where two texts begin to differ.
fn first_difference(ours: &str, theirs: &str) -> String {
    let at = ours.lines().zip(theirs.lines()).position(|(ours, theirs)| ours != theirs);
    let at = at.unwrap_or_else(|| ours.lines().count().min(theirs.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(end)").to_owned();
    format!("  line {}\n  ours    {}\n  theirs  {}", at + 1, line(ours), line(theirs))
}
