//! Files that are made from the code and committed, so that people can read them and reviews show
//! what a change does to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::say;
use crate::workspace::Workspace;

pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    for generated in GENERATED {
        let fresh = generated.make(workspace)?;
        for gone in generated.committed(workspace)?.keys().filter(|path| !fresh.contains_key(*path))
        {
            fs_err::remove_file(workspace.path(gone))?;
            say::progress(&format!("removed {gone}"));
        }
        for (path, text) in fresh {
            fs_err::write(workspace.path(&path), text)?;
            say::progress(&format!("wrote {path}"));
        }
    }
    Ok(())
}

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut stale = BTreeSet::new();
    for generated in GENERATED {
        let fresh = generated.make(workspace)?;
        let committed = generated.committed(workspace)?;
        let paths = fresh.keys().chain(committed.keys());
        stale.extend(paths.filter(|path| fresh.get(*path) != committed.get(*path)).cloned());
    }
    if !stale.is_empty() {
        let stale = Vec::from_iter(stale).join(", ");
        bail!("not fresh: {stale}; run `cargo xtask gen` and commit the result");
    }
    Ok(())
}

struct Generated {
    output: Output,
    /// The package and its example that makes the output.
    package: &'static str,
    example: &'static str,
}

enum Output {
    /// One file, which the example prints.
    File(&'static str),
    /// All files in a directory, which the example gets as its argument.
    Directory(&'static str),
}

/// Texts by their paths in the workspace.
type Files = BTreeMap<String, String>;

impl Generated {
    fn make(&self, workspace: &Workspace) -> Result<Files> {
        let run = ["run", "--quiet", "--package", self.package, "--example", self.example, "--"];
        match self.output {
            Output::File(path) => Ok(Files::from([(path.to_owned(), workspace.read_cargo(&run)?)])),
            Output::Directory(path) => {
                let directory = tempfile::tempdir()?;
                let argument = directory.path().to_str().context("a directory named in UTF-8")?;
                workspace.read_cargo(&[&run[..], &[argument]].concat())?;
                files_of(path, directory.path())
            }
        }
    }

    fn committed(&self, workspace: &Workspace) -> Result<Files> {
        match self.output {
            Output::File(path) => Ok(fs_err::read_to_string(workspace.path(path))
                .into_iter()
                .map(|text| (path.to_owned(), text))
                .collect()),
            Output::Directory(path) => files_of(path, &workspace.path(path)),
        }
    }
}

fn files_of(path: &str, directory: &Path) -> Result<Files> {
    fs_err::read_dir(directory)?
        .map(|entry| {
            let entry = entry?;
            let name = entry.file_name();
            let text = fs_err::read_to_string(entry.path())?;
            Ok((format!("{path}/{}", name.to_string_lossy()), text))
        })
        .collect()
}

const GENERATED: &[Generated] = &[
    Generated {
        output: Output::File("docs/reference/commands.md"),
        package: "ichor",
        example: "reference",
    },
    Generated {
        output: Output::File("docs/reference/ichor.schema.json"),
        package: "plan",
        example: "schema",
    },
    Generated {
        output: Output::Directory("crates/talos-api/src/generated"),
        package: "talos-api",
        example: "generate",
    },
];
