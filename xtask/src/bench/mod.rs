//! `cargo xtask bench`: Ichor and its peer, alternately, in one run, on the same input.
//!
//! Machines are noisy, so a figure means something only beside its peer's from the same minutes.
//! Figures are reported and never asserted.

mod cases;
mod create;
mod sample;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde::Serialize;

use crate::workspace::Workspace;
use crate::{output, peers};

pub(crate) use sample::measure;

use cases::{CASES, Case, LIBRARY_CASES, LibraryCase};
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
    let names = || {
        let library = LIBRARY_CASES.iter().map(|case| (case.name, case.about));
        let cases = CASES.iter().map(|case| (case.name, case.about)).chain(library);
        cases.chain([(create::NAME, create::ABOUT)])
    };
    if args.list {
        for (name, about) in names() {
            output::data(&format!("{name:<16} {about}"));
        }
        return Ok(());
    }
    if let Some(name) = args.cases.iter().find(|wanted| names().all(|(name, _)| name != **wanted)) {
        bail!("no case is called {name:?}; `cargo xtask bench --list` shows what there is");
    }
    let wanted = |name: &str| args.cases.is_empty() || args.cases.iter().any(|case| case == name);
    let ichor = build(workspace)?;
    output::data(HEAD);
    let mut results = Vec::new();
    for case in CASES.iter().filter(|case| wanted(case.name)) {
        let result = compare(case, &ichor, args.rounds)?;
        output::data(&result.table());
        results.push(serde_json::to_value(result)?);
    }
    for case in LIBRARY_CASES.iter().filter(|case| wanted(case.name)) {
        results.push(measure_library(workspace, case)?);
    }
    if args.cases.iter().any(|case| case == create::NAME) {
        let result = create::run(&ichor)?;
        output::data(&result.table());
        results.push(serde_json::to_value(result)?);
    }
    if let Some(path) = &args.json {
        fs_err::write(path, serde_json::to_string_pretty(&results)? + "\n")?;
    }
    Ok(())
}

/// Runs the example that measures a library and shows what it found.
fn measure_library(workspace: &Workspace, case: &LibraryCase) -> Result<serde_json::Value> {
    let directory = tempfile::tempdir()?;
    (case.prepare)(directory.path())?;
    let files: Vec<String> =
        case.files.iter().map(|file| directory.path().join(file).display().to_string()).collect();
    let mut arguments = vec![
        "run",
        "--quiet",
        "--release",
        "--package",
        case.package,
        "--example",
        case.example,
        "--",
    ];
    arguments.extend(files.iter().map(String::as_str));
    let figures: serde_json::Value = serde_json::from_str(&workspace.read_cargo(&arguments)?)?;
    output::data(&library_table(case.name, case.package, &figures));
    Ok(serde_json::json!({ "case": case.name, "library": case.package, "figures": figures }))
}

/// The figures of a library: those of the case itself in one line, then every other one. Times are in milliseconds.
fn library_table(case: &str, package: &str, figures: &serde_json::Value) -> String {
    let milliseconds = |figure: &serde_json::Value| figure.as_f64().unwrap_or(f64::NAN) / 1000.0;
    let [median, lower, upper] = MAIN.map(|key| milliseconds(&figures[key]));
    let main = format!("{case:<16} {package:<18} {median:>9.3} {lower:>9.3}–{upper:<9.3}");
    let mut lines = vec![main];
    let others = figures.as_object().into_iter().flatten();
    for (name, figure) in others.filter(|(name, _)| !MAIN.contains(&name.as_str())) {
        lines.push(match name.strip_suffix("_us") {
            Some(name) => format!("{:<16}   {name} {:.3} ms", "", milliseconds(figure)),
            None => format!("{:<16}   {name} {figure}", ""),
        });
    }
    lines.join("\n")
}

/// Builds the program as it ships and gives its path.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    workspace.run_cargo(&["build", "--quiet", "--release", "--package", "ichor"])?;
    let metadata = workspace.metadata()?;
    let target = metadata["target_directory"].as_str().unwrap_or("target");
    Ok(Path::new(target).join("release/ichor"))
}

fn compare(case: &Case, ichor: &Path, rounds: u32) -> Result<Comparison> {
    peers::ensure(&[case.peer])?;
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
        let memory = if theirs.peak_mb > 0.0 {
            format!(" {:>6.1}× memory", theirs.peak_mb / ours.peak_mb)
        } else {
            String::new()
        };
        let ratios = format!("{:>6.1}× time{memory}", theirs.median_ms / ours.median_ms);
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

/// The figures that every case of a library has.
const MAIN: [&str; 3] = ["median_us", "lower_quartile_us", "upper_quartile_us"];

const HEAD: &str =
    "case             program            median ms   middle half ms    peak MB  ours is better by";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::library_table;

    #[test]
    fn library_table_shows_every_figure() {
        let figures = json!({
            "lower_quartile_us": 900,
            "median_us": 1000,
            "open_us": 1_234_567,
            "records": 100_000,
            "upper_quartile_us": 1100,
            "verify_us": 250,
        });
        assert_eq!(
            library_table("journal-library", "engine", &figures),
            "journal-library  engine                 1.000     0.900–1.100    \n\
             \x20                  open 1234.567 ms\n\
             \x20                  records 100000\n\
             \x20                  verify 0.250 ms"
        );
    }

    #[test]
    fn library_table_marks_a_figure_that_is_missing() {
        let table = library_table("patch-library", "talos-config", &json!({ "median_us": 7 }));
        assert_eq!(table, "patch-library    talos-config           0.007       NaN–NaN      ");
    }
}
