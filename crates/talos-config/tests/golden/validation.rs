//! Validation, beside what the real talosctl says about the same configuration.

use std::sync::atomic::{AtomicUsize, Ordering};

use talos_config::Mode;
use testkit::recording;

use crate::mutations::{Mutation, Seedling};
use crate::output::Written;
use crate::verdicts::{Manner, Verdict, Words};

/// Every rule by name, against what talosctl said when the table was recorded: covers the rules where
/// there are no programs.
#[test]
fn named_cases_are_judged_as_recorded() {
    let table = rows();
    let mut wrong = Vec::new();
    for row in &table {
        let ours = Verdict::ours(&row.config(), row.manner);
        if row.record(&ours) != row.recorded {
            let ours = row.record(&ours).join("\n");
            wrong.push(format!(
                "{}\nours\n{ours}\nrecorded\n{}",
                row.line,
                row.recorded.join("\n")
            ));
        }
    }
    report(&wrong, table.len());
}

/// The same cases with the program itself. `ICHOR_RECORD=1` writes what it says into the table.
#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn named_cases_are_judged_as_talosctl_does() {
    let table = rows();
    let judged = in_parallel(&table, |row| {
        let config = row.config();
        (Verdict::theirs(&config, row.manner), Verdict::ours(&config, row.manner), config)
    });
    if recording() {
        let records = table.iter().zip(&judged).map(|(row, (theirs, ..))| row.record(theirs));
        fs_err::write(TABLE_FILE, with_records(records.collect())).expect("the table");
        return;
    }
    let mut wrong = Vec::new();
    for (row, (theirs, ours, config)) in table.iter().zip(&judged) {
        if row.record(theirs) != row.recorded {
            let theirs = row.record(theirs).join("\n");
            let line = &row.line;
            wrong.push(format!("{line}\nthe record is stale (ICHOR_RECORD=1): now\n{theirs}"));
        }
        if !ours.agrees(theirs, row.words) {
            wrong.push(format!("{}\n{}", row.line, difference(ours, theirs, config)));
        }
    }
    report(&wrong, table.len());
}

/// Seeded configurations, right and wrong, beside what the program says about them.
#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn seeded_configurations_are_judged_as_talosctl_does() {
    let seedlings = seedlings();
    let seeds: Vec<u64> = testkit::seeds(CASES).collect();
    let found = AtomicUsize::new(0);
    let outcomes = in_parallel(&seeds, |seed| {
        // Ten are enough to see what is wrong, and a fixer does not want to wait for more.
        if found.load(Ordering::Relaxed) >= 10 {
            return None;
        }
        let Mutation { config, manner } = Mutation::new(*seed, &seedlings);
        let config = config.text();
        let (ours, theirs) = (Verdict::ours(&config, manner), Verdict::theirs(&config, manner));
        let problem = (!ours.agrees(&theirs, theirs.words())).then(|| {
            found.fetch_add(1, Ordering::Relaxed);
            let again = format!("seed {seed} (ICHOR_SEED={seed} ICHOR_CASES=1) {manner:?}");
            format!("{again}\n{}", difference(&ours, &theirs, &config))
        });
        Some((theirs, problem))
    });
    let (verdicts, problems): (Vec<_>, Vec<_>) = outcomes.into_iter().flatten().unzip();
    report(&problems.into_iter().flatten().collect::<Vec<_>>(), verdicts.len());
    let share = |wanted: fn(&Verdict) -> bool| {
        verdicts.iter().filter(|verdict| wanted(verdict)).count() * 100 / verdicts.len()
    };
    let valid = share(|verdict| matches!(verdict, Verdict::Judged { valid: true, .. }));
    let refused = share(|verdict| *verdict == Verdict::Refused);
    assert!(
        verdicts.len() < 500 || (20..50).contains(&valid) && refused < 15,
        "{valid} % valid, {refused} % not read: the cases show too little"
    );
}

/// The changes of a case mean something only where the configuration was fine before them.
#[test]
#[ignore = "level golden: needs talosctl (cargo xtask test)"]
fn the_bases_are_valid_in_every_mode() {
    let mut wrong = Vec::new();
    for base in BASES {
        for mode in MODES {
            let config = Written::base(base).text();
            let manner = Manner { mode, strict: true };
            let (ours, theirs) = (Verdict::ours(&config, manner), Verdict::theirs(&config, manner));
            let valid = Verdict::Judged { valid: true, said: String::new() };
            if ours != valid || theirs != valid {
                wrong.push(format!("{base} {mode}\n{}", difference(&ours, &theirs, &config)));
            }
        }
    }
    report(&wrong, BASES.len() * MODES.len());
}

#[test]
fn modes_are_told_apart_to_the_letter() {
    assert!(MODES.iter().all(|mode| Mode::parse(mode).is_some()));
    assert!(
        ["", "Metal", "METAL", "foo", "metalagent"].iter().all(|mode| Mode::parse(mode).is_none())
    );
}

/// What both say, and about what.
fn difference(ours: &Verdict, theirs: &Verdict, config: &str) -> String {
    format!("--- ours\n{ours}--- theirs\n{theirs}--- configuration\n{config}")
}

fn report(wrong: &[String], count: usize) {
    let shown = wrong.iter().take(10).cloned().collect::<Vec<_>>().join("\n\n");
    assert!(wrong.is_empty(), "{} of {count} differ\n{shown}", wrong.len());
}

/// Runs work for all items on all cores, and gives the results in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(index)
        {
            done.push((index, work(item)));
        }
        done
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// A named case.
struct Row {
    /// As it stands in the table.
    line: &'static str,
    base: &'static str,
    manner: Manner,
    words: Words,
    changes: Vec<&'static str>,
    /// The lines that begin with an arrow.
    recorded: Vec<String>,
}

impl Row {
    fn parse(line: &'static str) -> Self {
        let mut parts = line.split(" | ");
        let mut head = parts.next().expect("a head").split(' ');
        let base = head.next().expect("a base");
        let mut row = Self {
            line,
            base,
            manner: Manner { mode: "metal", strict: false },
            words: Words::OfTalos,
            changes: parts.collect(),
            recorded: Vec::new(),
        };
        for word in head {
            match (word, MODES.iter().find(|mode| **mode == word)) {
                (_, Some(mode)) => row.manner.mode = mode,
                ("strict", None) => row.manner.strict = true,
                ("~", None) => row.words = Words::OfGo,
                _ => panic!("{word:?} in {line}"),
            }
        }
        row
    }

    /// The base after the changes.
    fn config(&self) -> String {
        let mut config = Written::base(self.base);
        config.change_all(&self.changes);
        config.text()
    }

    /// How a verdict is recorded.
    fn record(&self, verdict: &Verdict) -> Vec<String> {
        let lines = match verdict {
            Verdict::Refused => vec!["refused"],
            Verdict::Judged { valid, .. } if self.words == Words::OfGo => {
                vec![if *valid { "valid" } else { "invalid" }]
            }
            Verdict::Judged { valid, said } => {
                // Warnings have a line each; the rest is one text.
                let mut rest = said.as_str();
                let mut lines = Vec::new();
                while let Some((line, behind)) =
                    rest.split_once('\n').filter(|(line, _)| line.starts_with("WARNING: "))
                {
                    lines.push(line);
                    rest = behind;
                }
                lines.push(if *valid { "valid" } else { rest });
                lines
            }
        };
        let escaped = |line: &str| line.replace('\n', "⏎").replace('\t', "⇥");
        lines.into_iter().map(|line| format!("=> {}", escaped(line))).collect()
    }
}

fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with("=> ") {
            rows.last_mut().expect("a case in front of it").recorded.push(line.to_owned());
        } else {
            rows.push(Row::parse(line));
        }
    }
    rows
}

/// The named cases that can be read.
pub(crate) fn seedlings() -> Vec<Seedling> {
    let readable = rows().into_iter().filter(|row| row.recorded != ["=> refused"]);
    let seedling = |row: Row| {
        let right = row.recorded == ["=> valid"];
        Seedling { base: row.base, changes: row.changes, right }
    };
    readable.map(seedling).collect()
}

/// The table with new records behind its cases.
fn with_records(records: Vec<Vec<String>>) -> String {
    let mut records = records.into_iter();
    let mut lines = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with("=> ")) {
        lines.push(line.to_owned());
        if !line.is_empty() && !line.starts_with('#') {
            lines.extend(records.next().expect("a record for each case"));
        }
    }
    lines.join("\n") + "\n"
}

const TABLE: &str = include_str!("../data/validations.txt");
const TABLE_FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/validations.txt");

/// About two minutes on two cores, and enough for nine rules in ten; 6,000 reach nearly all.
const CASES: u64 = 2_400;

const BASES: [&str; 4] = ["cp13", "w13", "cp14", "w14"];
const MODES: [&str; 4] = ["metal", "cloud", "container", "metal-agent"];
