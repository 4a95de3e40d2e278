//! `cargo xtask fuzz`: the place for fuzzing. What it finds is kept in `fuzz/corpus/` and replayed by
//! the tests of the crate that it was found in.

use anyhow::{Result, bail};

use crate::workspace::Workspace;
use crate::{say, tools};

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
            say::data(target);
        }
        return Ok(());
    };
    if !targets.contains(target) {
        bail!("no fuzz target is called {target:?}; there is: {}", targets.join(", "));
    }
    tools::install(&tools::FUZZ)?;
    let time = format!("-max_total_time={}", args.minutes * 60);
    workspace.run_cargo(&["+nightly", "fuzz", "run", target, "--", &time])
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
