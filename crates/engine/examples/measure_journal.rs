//! Appending to a journal of 100,000 records (`cargo xtask bench`): as fast as to an empty one, and opened as fast. Prints JSON.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "measuring and printing is all it does"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use domain::Digest;
use engine::journal::{Entry, FileJournal, Journal};
use engine::live::{SystemClock, SystemEntropy};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    let journal = open(directory.path());
    let plan = Digest::of("a plan");
    let mut first = append(&journal, plan, TIMED).await;
    append(&journal, plan, RECORDS - 2 * TIMED).await;
    let mut times = append(&journal, plan, TIMED).await;
    first.sort_unstable();
    times.sort_unstable();
    let begun = Instant::now();
    open(directory.path()).ledger().await.expect("a ledger");
    let opened = begun.elapsed().as_micros();
    let begun = Instant::now();
    assert_eq!(journal.verify().await.expect("a journal"), RECORDS);
    let verified = begun.elapsed().as_micros();
    let quarter = |quarter: usize| times[(times.len() - 1) * quarter / 4];
    println!(
        r#"{{"median_us": {}, "lower_quartile_us": {}, "upper_quartile_us": {}, "records": {RECORDS}, "first_median_us": {}, "open_us": {opened}, "verify_us": {verified}, "files": {}}}"#,
        quarter(2),
        quarter(1),
        quarter(3),
        first[first.len() / 2],
        fs_err::read_dir(directory.path()).expect("files").count(),
    );
}

fn open(directory: &Path) -> FileJournal {
    FileJournal::new(directory, Arc::new(SystemClock), Arc::new(SystemEntropy))
}

/// How long each of so many took in microseconds.
async fn append(journal: &FileJournal, plan: Digest, count: usize) -> Vec<u128> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        journal.append(Entry::PlanEnded { plan, complete: true }).await.expect("a record");
        times.push(begun.elapsed().as_micros());
    }
    times
}

const RECORDS: usize = 100_000;
const TIMED: usize = 1_000;
