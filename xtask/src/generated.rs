//! Files that are made from the code and committed, so that people can read them and reviews show
//! what a change does to them.

use anyhow::{Result, bail};

use crate::say;
use crate::workspace::Workspace;

pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    for generated in GENERATED {
        let fresh = generated.make(workspace)?;
        fs_err::write(workspace.path(generated.path), fresh)?;
        say::progress(&format!("wrote {}", generated.path));
    }
    Ok(())
}

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut stale = Vec::new();
    for generated in GENERATED {
        let committed = fs_err::read_to_string(workspace.path(generated.path)).unwrap_or_default();
        if committed != generated.make(workspace)? {
            stale.push(generated.path);
        }
    }
    if !stale.is_empty() {
        bail!("not fresh: {}; run `cargo xtask gen` and commit the result", stale.join(", "));
    }
    Ok(())
}

struct Generated {
    path: &'static str,
    /// The package and its example that prints the file.
    package: &'static str,
    example: &'static str,
}

impl Generated {
    fn make(&self, workspace: &Workspace) -> Result<String> {
        workspace.read_cargo(&[
            "run",
            "--quiet",
            "--package",
            self.package,
            "--example",
            self.example,
        ])
    }
}

const GENERATED: &[Generated] =
    &[Generated { path: "docs/reference/commands.md", package: "ichor", example: "reference" }];
