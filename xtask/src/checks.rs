//! What is checked before any test runs. Each check says what to do when it fails.

use anyhow::{Context, Result};

use crate::tools::{self, Tool};
use crate::workspace::Workspace;
use crate::{dependency_rules, generated};

/// One rule that a machine can look after.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) tool: Option<&'static Tool>,
    pub(crate) run: fn(&Workspace) -> Result<()>,
}

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "fmt", about: "every file is formatted", tool: None, run: formatted },
    Check {
        name: "clippy",
        about: "no lint speaks, no output outside the printer",
        tool: None,
        run: clippy,
    },
    Check {
        name: "deps",
        about: "crates use each other as the architecture says",
        tool: None,
        run: dependency_rules::check,
    },
    Check {
        name: "deny",
        about: "bans, licenses and sources of dependencies",
        tool: Some(&tools::DENY),
        run: deny,
    },
    Check {
        name: "generated",
        about: "generated files are fresh",
        tool: None,
        run: generated::check,
    },
];

fn formatted(workspace: &Workspace) -> Result<()> {
    workspace
        .run_cargo(&["fmt", "--all", "--check"])
        .context("some files are not formatted; run `cargo fmt --all`")
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let arguments = [
        "clippy",
        "--quiet",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ];
    workspace.run_cargo(&arguments).context(
        "mend what clippy names above; what is meant for stdout or stderr goes through the printer \
         (crates/ichor/src/printer.rs)",
    )
}

fn deny(workspace: &Workspace) -> Result<()> {
    // Advisories would need a database from outside; they are for the release, not for every change.
    let arguments =
        ["deny", "--log-level", "error", "--all-features", "check", "bans", "licenses", "sources"];
    workspace
        .run_cargo(&arguments)
        .context("a dependency breaks deny.toml; choose another, or change deny.toml with a reason")
}
