//! `cargo xtask fuzz`: the place for fuzzing. A text that breaks something is put into `fuzz/corpus/` and
//! replayed by the tests of the crate that it broke.

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use crate::{output, tools};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The target to fuzz; without one, the targets are listed
    target: Option<String>,

    /// How long to go on
    #[arg(long, default_value_t = 10)]
    minutes: u64,
}

pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    let targets = targets(workspace)?;
    let Some(target) = &args.target else {
        for target in &targets {
            output::data(target);
        }
        return Ok(());
    };
    if !targets.contains(target) {
        bail!("no fuzz target is called {target:?}; there is: {}", targets.join(", "));
    }
    tools::install(&[&tools::FUZZ])?;
    let time = format!("-max_total_time={}", args.minutes * 60);
    // What is new goes to the first folder; the second is what the tests replay, and is kept by hand.
    let (found, corpus) = (format!("fuzz/found/{target}"), format!("fuzz/corpus/{target}"));
    fs_err::create_dir_all(workspace.path(&found))?;
    workspace.run_cargo(&["+nightly", "fuzz", "run", target, &found, &corpus, "--", &time])
}

fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.path("fuzz/fuzz_targets");
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut targets = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        targets.extend(entry?.path().file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    targets.sort();
    Ok(targets)
}
