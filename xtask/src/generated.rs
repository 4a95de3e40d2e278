//! Files that are made from the code and committed, so that people can read them and reviews show
//! what a change does to them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::output;
use crate::workspace::{Workspace, read};

pub(crate) fn write(workspace: &Workspace) -> Result<()> {
    let examples = build_examples(workspace)?;
    for generated in GENERATED {
        let fresh = generated.make(&examples)?;
        for gone in generated.committed(workspace)?.keys().filter(|path| !fresh.contains_key(*path))
        {
            fs_err::remove_file(workspace.path(gone))?;
            output::progress(&format!("removed {gone}"));
        }
        for (path, text) in fresh {
            fs_err::write(workspace.path(&path), text)?;
            output::progress(&format!("wrote {path}"));
        }
    }
    Ok(())
}

pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let examples = build_examples(workspace)?;
    let mut stale = BTreeSet::new();
    for generated in GENERATED {
        let fresh = generated.make(&examples)?;
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
    /// The example that makes the output.
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
    fn make(&self, examples: &Examples) -> Result<Files> {
        let program = examples
            .get(self.example)
            .with_context(|| format!("no crate has an example {:?}", self.example))?;
        let mut command = Command::new(program);
        match self.output {
            Output::File(path) => Ok(Files::from([(path.to_owned(), read(&mut command)?)])),
            Output::Directory(path) => {
                let directory = tempfile::tempdir()?;
                read(command.arg(directory.path()))?;
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

/// Programs of examples by their names.
type Examples = BTreeMap<String, PathBuf>;

/// Builds all examples that make something. All together and with what the tests are built with: each package alone has
/// fewer features of its dependencies, and they would be compiled once more for each of them.
fn build_examples(workspace: &Workspace) -> Result<Examples> {
    let mut arguments = vec!["build", "--quiet", "--workspace", "--all-features"];
    arguments.extend(GENERATED.iter().flat_map(|generated| ["--example", generated.example]));
    arguments.push("--message-format=json-render-diagnostics");
    let mut examples = Examples::new();
    for message in workspace.read_cargo(&arguments)?.lines() {
        let message: serde_json::Value = serde_json::from_str(message)?;
        let (target, executable) = (&message["target"], message["executable"].as_str());
        if let (Some(name), Some(executable)) = (target["name"].as_str(), executable) {
            examples.insert(name.to_owned(), executable.into());
        }
    }
    Ok(examples)
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
    Generated { output: Output::File("docs/reference/commands.md"), example: "reference" },
    Generated { output: Output::File("docs/reference/ichor.schema.json"), example: "schema" },
    Generated { output: Output::Directory("docs/reference/schemas"), example: "schemas" },
    Generated { output: Output::File("docs/reference/steps.md"), example: "steps" },
    Generated { output: Output::Directory("crates/talos-api/src/generated"), example: "generate" },
];
