//! `cargo xtask bench`: Ichor and its peer, alternately, in one run, on the same input.
//!
//! Machines are noisy, so a figure means something only beside its peer's from the same minutes.
//! Figures are reported and never asserted.

mod cases;
mod sample;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::Serialize;

use crate::workspace::Workspace;
use crate::{peers, say};

pub(crate) use sample::measure;

use cases::{CASES, Case};
use sample::Sample;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Cases to run; all of them when none is named
    cases: Vec<String>,

    /// How often each side runs
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u32).range(3..))]
    rounds: u32,

    /// Also write the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Only show which cases there are
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(workspace: &Workspace, args: &Args) -> Result<()> {
    if args.list {
        for case in CASES {
            say::data(&format!("{:<16} {}", case.name, case.about));
        }
        return Ok(());
    }
    if let Some(name) = args.cases.iter().find(|name| CASES.iter().all(|case| case.name != **name))
    {
        bail!("no case is called {name:?}; `cargo xtask bench --list` shows what there is");
    }
    let ichor = build(workspace)?;
    let mut results = Vec::new();
    for case in CASES
        .iter()
        .filter(|case| args.cases.is_empty() || args.cases.iter().any(|name| name == case.name))
    {
        let result = compare(case, &ichor, args.rounds)?;
        if results.is_empty() {
            say::data(HEAD);
        }
        say::data(&result.table());
        results.push(result);
    }
    if let Some(path) = &args.json {
        fs_err::write(path, serde_json::to_string_pretty(&results)? + "\n")?;
    }
    Ok(())
}

/// Builds the program as it ships and gives its path.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    workspace.run_cargo(&["build", "--quiet", "--release", "--package", "ichor"])?;
    let metadata = workspace.metadata()?;
    let target = metadata["target_directory"].as_str().unwrap_or("target");
    Ok(Path::new(target).join("release/ichor"))
}

fn compare(case: &Case, ichor: &Path, rounds: u32) -> Result<Comparison> {
    peers::ensure([case.peer])?;
    let directory = tempfile::tempdir()?;
    let inputs = (case.prepare)(directory.path())?;
    let peer = testkit::peers::program(case.peer);
    let command = |program: &Path, arguments: &[OsString]| -> Vec<OsString> {
        [&[program.as_os_str().to_owned()], arguments].concat()
    };
    let ours = command(ichor, &inputs.ours);
    let theirs = command(&peer, &inputs.theirs);

    // The first pair warms the page cache for both and is thrown away.
    let mut our_samples = Vec::new();
    let mut their_samples = Vec::new();
    for round in 0..=rounds {
        let pair =
            (sample::take(directory.path(), &ours)?, sample::take(directory.path(), &theirs)?);
        if round > 0 {
            our_samples.push(pair.0);
            their_samples.push(pair.1);
        }
    }
    Ok(Comparison {
        case: case.name,
        peer: case.peer,
        rounds,
        ours: Figures::of(&our_samples),
        theirs: Figures::of(&their_samples),
    })
}

/// Both sides of one case.
#[derive(Serialize)]
struct Comparison {
    case: &'static str,
    peer: &'static str,
    rounds: u32,
    ours: Figures,
    theirs: Figures,
}

/// One side: the median and the middle half of the times, and the largest memory seen.
#[derive(Serialize)]
struct Figures {
    median_ms: f64,
    lower_quartile_ms: f64,
    upper_quartile_ms: f64,
    peak_mb: f64,
}

impl Comparison {
    fn table(&self) -> String {
        let Self { case, peer, ours, theirs, .. } = self;
        let row = |name: &str, figures: &Figures, ratios: &str| {
            format!(
                "{case:<16} {name:<18} {:>9.2} {:>9.2}–{:<9.2} {:>8.1} {ratios}",
                figures.median_ms,
                figures.lower_quartile_ms,
                figures.upper_quartile_ms,
                figures.peak_mb
            )
        };
        let ratios = format!(
            "{:>6.1}× time {:>6.1}× memory",
            theirs.median_ms / ours.median_ms,
            theirs.peak_mb / ours.peak_mb
        );
        format!("{}\n{}", row("ichor", ours, ""), row(peer, theirs, &ratios))
    }
}

impl Figures {
    fn of(samples: &[Sample]) -> Self {
        let mut times: Vec<u64> = samples.iter().map(|sample| sample.nanoseconds).collect();
        times.sort_unstable();
        #[expect(clippy::cast_precision_loss, reason = "figures for people, far below 2^52")]
        let milliseconds = |quarter: usize| times[(times.len() - 1) * quarter / 4] as f64 / 1e6;
        let peak = samples.iter().map(|sample| sample.peak_kib).max().unwrap_or_default();
        #[expect(clippy::cast_precision_loss, reason = "figures for people, far below 2^52")]
        let peak_mb = peak as f64 * 1024.0 / 1e6;
        Self {
            median_ms: milliseconds(2),
            lower_quartile_ms: milliseconds(1),
            upper_quartile_ms: milliseconds(3),
            peak_mb,
        }
    }
}

const HEAD: &str =
    "case             program            median ms   middle half ms    peak MB  ours is better by";
