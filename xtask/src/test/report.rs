//! What `cargo xtask test` has done: a row for each part, with its seconds.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::output;

/// The rows so far. Each has the time since the one before it, so that they add up to the whole run.
pub(super) struct Report {
    begun: Instant,
    /// The end of the last row.
    last: Instant,
    rows: Vec<Row>,
}

impl Report {
    pub(super) fn start() -> Self {
        let now = Instant::now();
        Self { begun: now, last: now, rows: Vec::new() }
    }

    /// Runs a part and says so.
    pub(super) fn run(&mut self, name: &str, part: impl FnOnce() -> Result<()>) -> Result<()> {
        output::progress(&format!("── {name}"));
        let result = part().with_context(|| format!("{name} failed"));
        self.add(name, if result.is_ok() { Outcome::Ran } else { Outcome::Failed });
        result
    }

    /// Gets what a part needs. That is a row only where it took a while: mostly it is there already.
    pub(super) fn prepare(&mut self, name: &str, get: impl FnOnce() -> Result<()>) -> Result<()> {
        get()?;
        if self.last.elapsed() >= Duration::from_secs(1) {
            self.add(name, Outcome::Ran);
        }
        Ok(())
    }

    /// Gets what the run cannot go on without: as [`Self::prepare`], and a failure is a row too.
    pub(super) fn require(&mut self, name: &str, get: impl FnOnce() -> Result<()>) -> Result<()> {
        let result = self.prepare(name, get);
        if result.is_err() {
            self.add(name, Outcome::Failed);
        }
        result
    }

    /// Says that a part cannot run, with the time that it took to find that out.
    pub(super) fn skip(&mut self, name: &str, reason: &anyhow::Error) {
        output::progress(&format!("── {name}\nskipped: {reason:#}"));
        self.add(name, Outcome::Skipped(format!("{reason:#}")));
    }

    pub(super) fn has_skipped(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.outcome, Outcome::Skipped(_)))
    }

    pub(super) fn table(&self) -> String {
        table(&self.rows, self.begun.elapsed())
    }

    fn add(&mut self, name: &str, outcome: Outcome) {
        let now = Instant::now();
        self.rows.push(Row { name: name.to_owned(), took: now - self.last, outcome });
        self.last = now;
    }
}

struct Row {
    name: String,
    took: Duration,
    outcome: Outcome,
}

enum Outcome {
    Ran,
    Skipped(String),
    Failed,
}

fn table(rows: &[Row], total: Duration) -> String {
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default().max("total".len());
    let line =
        |name: &str, seconds: &str, result: &str| format!("{name:<width$} {seconds:>8}  {result}");
    let seconds = |took: Duration| format!("{:.0}", took.as_secs_f64());
    let mut lines = vec![line("part", "seconds", "result")];
    let (mut ran, mut skipped, mut failed) = (0, 0, 0);
    for Row { name, took, outcome } in rows {
        let result = match outcome {
            Outcome::Ran => {
                ran += 1;
                "ran".to_owned()
            }
            Outcome::Skipped(reason) => {
                skipped += 1;
                format!("skipped: {}", beginning(reason))
            }
            Outcome::Failed => {
                failed += 1;
                "failed".to_owned()
            }
        };
        lines.push(line(name, &seconds(*took), &result));
    }
    let sums = format!("{ran} ran, {skipped} skipped, {failed} failed");
    lines.push(line("total", &seconds(total), &sums));
    lines.join("\n")
}

/// As much of a reason as fits into a line; all of it was shown when the part was skipped.
fn beginning(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default();
    let short: String = line.chars().take(80).collect();
    if short == reason { short } else { short + " ..." }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_part_and_a_total() {
        let row = |name: &str, seconds, outcome| Row {
            name: name.to_owned(),
            took: Duration::from_millis(seconds),
            outcome,
        };
        let rows = [
            row("fmt", 900, Outcome::Ran),
            row("peers for bytes", 1_234_000, Outcome::Ran),
            row("peers", 2_000, Outcome::Skipped("`go build` failed:\nno such module".to_owned())),
            row("talos", 61_400, Outcome::Failed),
        ];
        let expected = "\
part             seconds  result
fmt                    1  ran
peers for bytes     1234  ran
peers                  2  skipped: `go build` failed: ...
talos                 61  failed
total               1299  2 ran, 1 skipped, 1 failed";
        assert_eq!(beginning("Talos nodes need root"), "Talos nodes need root");
        assert_eq!(beginning(&"ä".repeat(200)), "ä".repeat(80) + " ...");
        assert_eq!(table(&rows, Duration::from_millis(1_298_600)), expected);
    }

    #[test]
    fn a_failure_is_a_row_and_an_error_that_names_the_part() {
        let mut report = Report::start();
        report.run("fmt", || Ok(())).expect("a part that works");
        report.prepare("tools", || Ok(())).expect("nothing to do");
        let error = report.run("clippy", || Err(anyhow!("a lint"))).expect_err("a failure");
        assert_eq!(format!("{error:#}"), "clippy failed: a lint");
        assert!(!report.has_skipped());
        report.skip("talos", &anyhow!("no root"));
        assert!(report.has_skipped());
        report.require("tools", || Err(anyhow!("no network"))).expect_err("a failure");
        let names: Vec<_> = report.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["fmt", "clippy", "talos", "tools"]);
    }
}
