//! `cargo xtask soak`: the place for long runs of what `test` runs briefly.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::workspace::{Workspace, succeed};
use crate::{output, tools};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How long to go on; the round that is running then is finished
    #[arg(long, default_value_t = 60)]
    minutes: u64,

    /// Generated cases for each property and round
    #[arg(long, default_value_t = 100_000)]
    cases: u32,

    /// A nextest filter, as in `nextest run -E`; all pure tests when left out
    #[arg(default_value = "all()")]
    filter: String,
}

pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    tools::install(&[&tools::NEXTEST])?;
    let end = Instant::now() + Duration::from_secs(args.minutes * 60);
    // Another soak tries other cases; the seed of a round is shown, so that it can be tried again.
    let first = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut round = 0;
    while round == 0 || Instant::now() < end {
        round += 1;
        let seed = first + round;
        output::progress(&format!(
            "── round {round} (ICHOR_SEED={seed} ICHOR_CASES={})",
            args.cases
        ));
        let mut nextest = workspace.cargo(&[
            "nextest",
            "run",
            "--release",
            "--workspace",
            "--all-features",
            "-E",
            &args.filter,
        ]);
        nextest.env("ICHOR_CASES", args.cases.to_string()).env("ICHOR_SEED", seed.to_string());
        succeed(&mut nextest).with_context(|| {
            format!("round {round} failed; the seed above replays it: commit it as a test")
        })?;
    }
    output::progress(&format!("{round} rounds without a failure"));
    Ok(())
}
